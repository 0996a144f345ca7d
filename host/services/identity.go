package services

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// identityParts are the settings of an identity-based connection, by what stands behind
// its name, in lower case.
var identityParts = []string{ // read only
	"serviceuri", "blobserviceuri", "queueserviceuri", "tableserviceuri", "accountname", fullyQualified,
	"credential", "clientid", "clientsecret", "tenantid", "managedidentityclientid", "managedidentityresourceid", "managedidentityobjectid",
}

const fullyQualified = "fullyqualifiednamespace"

// namedAccount is the embedded account that an identity-based connection means for one of
// its services by the name alone; empty when it names an address, or an account elsewhere.
func (c *Connections) namedAccount(conn appsettings.Connection, of service) string {
	if conn.Value != "" || c.embedded == nil {
		return ""
	}
	parts := Fields(conn)
	name := strings.ToLower(parts["accountname"])
	if c.embedded.accounts[name] == nil || parts[string(of)+"serviceuri"] != "" || parts["serviceuri"] != "" {
		return ""
	}
	return name
}

// IdentityConnection reports whether a setting is the part of an identity-based connection
// that names one of these storage accounts, or a namespace of an emulator at the usual port
// of this machine: places that this host may be meant to serve.
func IdentityConnection(name, value string, accounts []string) (storage, bus bool) {
	_, part := identityPart(name)
	switch part {
	case "accountname":
		storage = slices.Contains(accounts, strings.ToLower(value))
	case fullyQualified:
		bus = serviceBusAddress("sb://"+value) == devServiceBusAddress
	}
	return storage, bus
}

// identityPart splits the name of a setting of an identity-based connection; part is in
// lower case, and empty for any other setting.
func identityPart(name string) (connection, part string) {
	for _, separator := range []string{"__", ":"} {
		if i := strings.LastIndex(name, separator); i > 0 {
			if part := strings.ToLower(name[i+len(separator):]); slices.Contains(identityParts, part) {
				return name[:i], part
			}
		}
	}
	return "", ""
}

// An Adopted is an identity-based connection whose place this host serves.
type Adopted struct {
	Name  string   // of the connection
	Parts []string // the settings that give it, as they are named
}

// Environment is the environment of a handler process, "NAME=value": each value as
// [Connections.Setting] gives it. Libraries in the process would ask for a managed identity
// where a connection is based on one, and a machine has none to give. So the settings of
// such a connection to a storage account or a namespace that this host serves become the
// plain name with a connection string, and adopted tells of them (spec workers-dotnet-java
// 4.2). Those of any other place stay as they are.
func (c *Connections) Environment(entries []string) (env []string, adopted []Adopted) {
	groups := identityGroups(entries)
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		if !ok {
			env = append(env, entry)
			continue
		}
		connection, _ := identityPart(name)
		g := groups[folded(connection)]
		if connection == "" || g.plain {
			env = append(env, name+"="+c.Setting(value))
			continue
		}
		if !g.asked {
			g.asked = true
			g.text = c.stringOf(appsettings.Connection{Setting: connection, Section: g.section})
			if g.text != "" {
				env = append(env, connection+"="+g.text)
				adopted = append(adopted, Adopted{connection, g.names})
			}
		}
		if g.text == "" {
			env = append(env, name+"="+c.Setting(value))
		}
	}
	return env, adopted
}

// identityGroup is an identity-based connection in an environment.
type identityGroup struct {
	names   []string
	section map[string]string
	plain   bool // a setting has the name itself, which goes first
	asked   bool
	text    string // the connection string; empty: it is left as it is
}

// identityGroups finds the identity-based connections, by folded name.
func identityGroups(entries []string) map[string]*identityGroup {
	groups := map[string]*identityGroup{}
	values := map[string]bool{}
	for _, entry := range entries {
		name, value, _ := strings.Cut(entry, "=")
		values[folded(name)] = value != ""
		connection, part := identityPart(name)
		if connection == "" {
			continue
		}
		g := groups[folded(connection)]
		if g == nil {
			g = &identityGroup{section: map[string]string{}}
			groups[folded(connection)] = g
		}
		g.section[part] = strings.TrimSpace(value)
		g.names = append(g.names, name)
	}
	for name, g := range groups {
		g.plain = values[name]
	}
	return groups
}

// folded is the name of a setting in one spelling.
func folded(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "__", ":")) }

// stringOf is the connection string of the place that an identity-based connection names;
// empty when this host does not serve it.
func (c *Connections) stringOf(conn appsettings.Connection) string {
	if c.opts.Instead != nil {
		return ""
	}
	if conn.Section[fullyQualified] != "" {
		at := c.servers[serviceBusService].address
		if at == "" || !c.servers.isEmbeddedBus(conn) {
			return ""
		}
		return "Endpoint=sb://" + at + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	}
	account := c.servedAccount(conn)
	text := c.accountStrings[account]
	if table := conn.Section["tableserviceuri"]; text != "" && table != "" && !c.serves("tableserviceuri", table, tableService) {
		if accountOf(table) != account || !onLoopback(table) {
			return "" // half of the connection leads elsewhere
		}
		text = strings.TrimRight(text, ";") + ";TableEndpoint=" + table + ";"
	}
	return text
}

// servedAccount is the embedded account to which all addresses of an identity-based
// connection lead, or its name alone; empty when one of them does not, or is not served.
func (c *Connections) servedAccount(conn appsettings.Connection) (account string) {
	addresses := 0
	for part, services := range map[string][]service{
		"blobserviceuri": {blobService}, "queueserviceuri": {queueService}, "tableserviceuri": {tableService},
		"serviceuri": {blobService, queueService, tableService},
	} {
		uri := conn.Section[part]
		if uri == "" {
			continue
		}
		ours := slices.ContainsFunc(services, func(of service) bool { return c.serves(part, uri, of) })
		if !ours && part == "tableserviceuri" {
			continue // tables may be another emulator's
		}
		addresses++
		if !ours || account != "" && account != accountOf(uri) {
			return ""
		}
		account = accountOf(uri)
	}
	if addresses == 0 {
		return c.namedAccount(conn, blobService)
	}
	return account
}

// serves reports whether a part of an identity-based connection is the address of a service
// of an embedded account that is served.
func (c *Connections) serves(part, uri string, of service) bool {
	_, embedded := c.storage(appsettings.Connection{Section: map[string]string{part: uri}}, of)
	return embedded && c.servers[of].url != ""
}
