package host

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/listen"
)

// The emulator's account, and the ports at which everybody looks for it (docs:
// Connect to the emulator account using the shortcut).
const (
	devAccount      = "devstoreaccount1"
	devBlobAddress  = "127.0.0.1:10000"
	devQueueAddress = "127.0.0.1:10001"
)

// storageService is a service of a storage account, as connections name it.
type storageService string

const (
	blobService  storageService = "blob"
	queueService storageService = "queue"
)

// doors are where this host's embedded accounts are served.
type doors map[storageService]door

// door is where a service is served; empty when it is not.
type door struct {
	url     string // without an account
	address string // host:port of it, in the one spelling of address
}

// orNew returns the doors, for those who add one.
func (d doors) orNew() doors {
	if d == nil {
		return doors{}
	}
	return d
}

func doorAt(url string) door { return door{strings.TrimRight(url, "/"), addressOf(url)} }

// DoorsAt tells the host at which URLs its embedded accounts are served; empty
// for a service that is not. A connection string that names these addresses
// means an embedded account, as UseDevelopmentStorage=true does; one that names
// others does not, whatever the account: another emulator may be there. A host
// that is told nothing takes the emulator's usual ports, 10000 for blobs and
// 10001 for queues, for its own. Call it before Start.
func (h *Host) DoorsAt(blobURL, queueURL string) {
	h.doors = h.doors.orNew()
	h.doors[blobService], h.doors[queueService] = doorAt(blobURL), doorAt(queueURL)
}

// StorageOutside returns the setting by which the app's own storage
// (AzureWebJobsStorage) is an account outside this host, or the empty string. An
// app that does not run has none.
func (h *Host) StorageOutside() string {
	a := h.App()
	if a == nil || h.opts.Services != nil {
		return ""
	}
	conn, ok := a.Settings.Connection("Storage")
	if !ok {
		return ""
	}
	if _, ours := h.embedded(conn, queueService); ours {
		return ""
	}
	return conn.Setting
}

// AppStorage returns the embedded storage account that the app's own storage
// (AzureWebJobsStorage) means: what is put there its functions find. It is the
// first account, [Host.Storage], for an app that does not run, that names no
// storage, or whose storage is outside.
func (h *Host) AppStorage() *emulator.Storage {
	if a := h.App(); a != nil {
		if conn, ok := a.Settings.Connection("Storage"); ok {
			if account, ours := h.embedded(conn, queueService); ours {
				return account
			}
		}
	}
	return h.storage
}

// EmulatorStorage reports whether a setting's value means the storage of an
// emulator on this machine that has these ports: UseDevelopmentStorage=true, or an
// address with one of them, in a connection string or by itself. It is such storage
// that a host which serves these ports is meant to have.
func EmulatorStorage(value string, ports ...int) bool {
	parts := fields(app.Connection{Value: value})
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

// fields are the parts of a connection by name in lower case: of a connection
// string, or of the section of an identity-based connection.
func fields(conn app.Connection) map[string]string {
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
// machine, or the emulator's account at one of the host's own doors. A shared
// access signature has to be checked by the door that it is for.
func (d doors) isEmbedded(conn app.Connection, service storageService) bool {
	parts := fields(conn)
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		proxy := parts["developmentstorageproxyuri"]
		return proxy == "" || strings.HasPrefix(addressOf(proxy), "127.0.0.1:")
	}
	if parts["sharedaccesssignature"] != "" {
		return false
	}
	endpoint := endpointOf(parts, service)
	return endpoint != "" && accountOf(endpoint) == devAccount && addressOf(endpoint) == d.at(service)
}

// at is the address of the host's own door.
func (d doors) at(service storageService) string {
	if at, told := d[service]; told {
		return at.address
	}
	switch {
	case service == blobService:
		return devBlobAddress
	case service == serviceBusService:
		return devServiceBusAddress
	case service == eventGridService:
		return devEventGridAddress
	}
	return devQueueAddress
}

// endpointOf is the address of a service of the account that a connection names,
// without a slash at the end; empty when it names none.
func endpointOf(parts map[string]string, service storageService) string {
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
func (d doors) blobEndpoint(conn app.Connection) string {
	parts := fields(conn)
	if strings.EqualFold(parts["usedevelopmentstorage"], "true") {
		if !d.isEmbedded(conn, blobService) {
			return "http://" + devAccountHost(parts["developmentstorageproxyuri"]) + ":10000/" + devAccount
		}
		base := d[blobService].url
		if base == "" {
			base = "http://" + devBlobAddress
		}
		return base + "/" + devAccount
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

// isDevelopment reports whether an account's address is that of an emulator: an IP
// address or localhost, with the account in the path (source:
// BlobServiceClientExtensions.cs IsDevelopmentStorageAccount).
func isDevelopment(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return (err == nil || u.Hostname() == "localhost") && strings.Trim(u.Path, "/") != ""
}
