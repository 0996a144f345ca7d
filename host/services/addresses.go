package services

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/listen"
)

// The ports at which everybody looks for the services of an emulator (docs: Connect to
// the emulator account using the shortcut).
const (
	DevBlobAddress       = "127.0.0.1:10000"
	devQueueAddress      = "127.0.0.1:10001"
	devTableAddress      = "127.0.0.1:10002"
	devServiceBusAddress = "127.0.0.1:5672"
	DevEventGridAddress  = "127.0.0.1:60101"
)

// service is a service with an address of its own.
type service string

// The services; connections name the services of a storage account so.
const (
	blobService       service = "blob"
	queueService      service = "queue"
	tableService      service = "table"
	serviceBusService service = "servicebus"
	eventGridService  service = "eventgrid"
)

// servers are where the embedded services are served; nil: unknown.
type servers map[service]server

// server is where a service is served; empty when it is not.
type server struct {
	url     string // without an account
	address string // host:port of it, in the one spelling of address
}

func serverAt(url string) server { return server{strings.TrimRight(url, "/"), addressOf(url)} }

// EmulatorStorage reports whether a setting's value means the storage of an
// emulator on this machine that has these ports: UseDevelopmentStorage=true, or an
// address with one of them, in a connection string or by itself. It is such storage
// that a host which serves these ports is meant to have.
func EmulatorStorage(value string, ports ...int) bool {
	parts := Fields(appsettings.Connection{Value: value})
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		return true
	}
	for _, endpoint := range append(slices.Collect(maps.Values(parts)), value) {
		host, port, _ := strings.Cut(addressOf(endpoint), ":")
		if host == "127.0.0.1" && slices.ContainsFunc(ports, func(p int) bool { return strconv.Itoa(p) == port }) {
			return true
		}
	}
	return false
}

// address is a loopback address in one spelling, or any other as it is written.
func address(host, port string) string {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() || listen.Loopback(host) {
		host = "127.0.0.1"
	}
	return host + ":" + port
}

func addressOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return address(u.Hostname(), port)
}

// accountOf is the account in the address of an emulator's service: the first
// part of its path, or of its name.
func accountOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	if account, _, _ := strings.Cut(strings.Trim(u.Path, "/"), "/"); account != "" {
		return account
	}
	account, _, _ := strings.Cut(u.Hostname(), ".")
	return account
}

// Fields are the parts of a connection by name in lower case: of a connection
// string, or of the section of an identity-based connection.
func Fields(conn appsettings.Connection) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(conn.Value, ";") {
		if key, value, ok := strings.Cut(part, "="); ok {
			parts[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	for name, value := range conn.Section {
		parts[strings.ToLower(name)] = value
	}
	return parts
}

// isEmbedded reports whether a connection means the embedded account, for one of
// its services: UseDevelopmentStorage=true, unless its proxy is on another
// machine, or the emulator's account at one of the host's own servers. A shared
// access signature has to be checked by the server that it is for.
func (d servers) isEmbedded(conn appsettings.Connection, service service) bool {
	parts := Fields(conn)
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		proxy := parts["developmentstorageproxyuri"]
		return proxy == "" || strings.HasPrefix(addressOf(proxy), "127.0.0.1:")
	}
	if parts["sharedaccesssignature"] != "" {
		return false
	}
	endpoint := endpointOf(parts, service)
	return endpoint != "" && accountOf(endpoint) == FirstAccount && addressOf(endpoint) == d.at(service)
}

// at is the address of the host's own server.
func (d servers) at(service service) string {
	if at, told := d[service]; told {
		return at.address
	}
	switch service {
	case blobService:
		return DevBlobAddress
	case tableService:
		return devTableAddress
	case serviceBusService:
		return devServiceBusAddress
	case eventGridService:
		return DevEventGridAddress
	}
	return devQueueAddress
}

// endpointOf is the address of a service of the account that a connection names,
// without a slash at the end; empty when it names none.
func endpointOf(parts map[string]string, service service) string {
	for _, name := range []string{string(service) + "endpoint", string(service) + "serviceuri", "serviceuri"} {
		if parts[name] != "" {
			return strings.TrimRight(parts[name], "/")
		}
	}
	account := parts["accountname"]
	if account == "" {
		return ""
	}
	protocol, suffix := parts["defaultendpointsprotocol"], parts["endpointsuffix"]
	if protocol == "" {
		protocol = "https"
	}
	if suffix == "" {
		suffix = "core.windows.net"
	}
	return protocol + "://" + account + "." + string(service) + "." + suffix
}

// blobEndpoint is the address of a connection's blob service, as handlers see it
// in the metadata "Uri".
func (d servers) blobEndpoint(conn appsettings.Connection) string {
	parts := Fields(conn)
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		if !d.isEmbedded(conn, blobService) {
			return "http://" + devAccountHost(parts["developmentstorageproxyuri"]) + ":10000/" + FirstAccount
		}
		base := d[blobService].url
		if base == "" {
			base = "http://" + DevBlobAddress
		}
		return base + "/" + FirstAccount
	}
	return endpointOf(parts, blobService)
}

// devAccountHost is the machine of a proxy before development storage.
func devAccountHost(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil || u.Hostname() == "" {
		return "127.0.0.1"
	}
	if strings.Contains(u.Hostname(), ":") {
		return "[" + u.Hostname() + "]"
	}
	return u.Hostname()
}

// IsDevelopment reports whether an account's address is an emulator's: an
// IP address or localhost, with the account in the path (source:
// BlobServiceClientExtensions.cs IsDevelopmentStorageAccount).
func IsDevelopment(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return (err == nil || u.Hostname() == "localhost") && strings.Trim(u.Path, "/") != ""
}
