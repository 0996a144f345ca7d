package services

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/listen"
)

// Backends are the services that connections of triggers and bindings lead to.
type Backends interface {
	// Queues returns the queue account of a connection. The same connection
	// gives the same account. It does no I/O.
	Queues(conn appsettings.Connection) (queue.Account, error)

	// Blobs returns the blob account of a connection, as Queues does.
	Blobs(conn appsettings.Connection) (blob.Account, error)

	// Tables returns the table account of a connection, as Queues does.
	Tables(conn appsettings.Connection) (table.Account, error)

	// ServiceBus returns the Service Bus namespace of a connection, as Queues
	// does.
	ServiceBus(conn appsettings.Connection) (servicebus.Namespace, error)

	// EventHubs returns the Event Hubs namespace of a connection, as Queues does.
	EventHubs(conn appsettings.Connection) (eventhubs.Namespace, error)
}

// ConnectionOptions are the options of one host.
type ConnectionOptions struct {
	// Instead takes the place of the embedded services and of services
	// outside this host. Nil: nothing does.
	Instead Backends

	// Outside serves connections that do not mean the embedded services. Nil:
	// nobody does.
	Outside Outside

	// Wire ends pending calls to services outside this host.
	Wire context.Context

	// Journal is told of outages of accounts outside this host, and Back when one
	// is over.
	Journal *journal.Journal
	Back    func()
}

// Connections say, for one host, where each connection leads: to an
// embedded service or to one outside this host. The methods that tell it an
// address are called before anything else; all others may be called
// concurrently. It implements [Backends].
type Connections struct {
	embedded *Embedded
	clk      clock.Clock
	opts     ConnectionOptions

	servers            servers
	gridAlsoAt         []string // further addresses of Event Grid
	developmentStorage string   // of handlers; empty: as it is
	accountStrings     map[string]string

	mu     sync.Mutex
	opened map[openedService]any // of services outside
	reach  map[string]*reach     // by setting
}

type openedService struct{ name, setting string }

// NewConnections returns the connections of a host that has the embedded services.
func NewConnections(clk clock.Clock, embedded *Embedded, opts *ConnectionOptions) *Connections {
	return &Connections{embedded: embedded, clk: clk, opts: *opts, opened: map[openedService]any{}, reach: map[string]*reach{}}
}

func (c *Connections) at(s service, at server) {
	if c.servers == nil {
		c.servers = servers{}
	}
	c.servers[s] = at
}

// StorageAt tells at which URLs the embedded storage accounts are served; empty for
// a service that is not. A connection string that names these addresses means an
// embedded account, as UseDevelopmentStorage=true does; one that names others does
// not, for any account: another emulator may be there. Without it the emulator's
// usual ports are taken, 10000 for blobs and 10001 for queues.
func (c *Connections) StorageAt(blobURL, queueURL string) {
	c.at(blobService, serverAt(blobURL))
	c.at(queueService, serverAt(queueURL))
}

// TablesAt is StorageAt for tables, whose usual port is 10002.
func (c *Connections) TablesAt(url string) { c.at(tableService, serverAt(url)) }

// ServiceBusAt tells at which address, as in sb://127.0.0.1:5672, the embedded namespaces
// of Service Bus and Event Hubs are served; empty when they are not. A connection string
// of an emulator means them when its endpoint names this machine and no port, wherever the
// server is, or the server's own port; with another port it is another emulator. Handler
// processes, whose clients go through the server, are given its port where a setting names
// none. Without it the emulator's usual port is taken, 5672.
func (c *Connections) ServiceBusAt(address string) {
	c.at(serviceBusService, server{address, serviceBusAddress(address)})
}

// EventGridAt tells at which URL, as in http://127.0.0.1:60101, the embedded Event
// Grid is served; empty when it is not. An output binding whose endpoint is there
// publishes to the embedded topic, and so does one whose endpoint is at one of the
// other URLs. Settings name those for a server whose port was not known before.
// Without it port 60101 is taken.
func (c *Connections) EventGridAt(url string, others ...string) {
	c.at(eventGridService, serverAt(url))
	for _, other := range others {
		c.gridAlsoAt = append(c.gridAlsoAt, addressOf(other))
	}
	c.embedded.grid.ServedAt(strings.TrimRight(url, "/"))
}

// DevelopmentStorage says what handler processes are given where a setting is
// UseDevelopmentStorage=true: a connection string of the first account, for a host
// that serves it elsewhere than SDKs look for it. Empty: the setting as it is.
func (c *Connections) DevelopmentStorage(connection string) { c.developmentStorage = connection }

// AccountStrings tells the connection string of each storage account that is served, for
// the handlers of connections that are based on an identity: see [Connections.Environment].
func (c *Connections) AccountStrings(byName map[string]string) { c.accountStrings = byName }

// Setting is the value of a setting as a handler process is given it.
func (c *Connections) Setting(value string) string {
	short := strings.EqualFold(strings.TrimRight(strings.TrimSpace(value), ";"), "UseDevelopmentStorage=true")
	if short && c.developmentStorage != "" {
		return c.developmentStorage
	}
	return c.servers.busSetting(value)
}

// Instead reports whether others than the embedded services stand behind connections.
func (c *Connections) Instead() bool { return c.opts.Instead != nil }

// Queues implements [Backends].
func (c *Connections) Queues(conn appsettings.Connection) (queue.Account, error) {
	if c.opts.Instead != nil {
		return c.opts.Instead.Queues(conn)
	}
	if account, ok := c.storage(conn, queueService); ok {
		return account, nil
	}
	if c.opts.Outside == nil {
		return nil, errOutside(conn)
	}
	return opened(c, "queues", conn, c.opts.Outside.Queues)
}

// Blobs implements [Backends].
func (c *Connections) Blobs(conn appsettings.Connection) (blob.Account, error) {
	if c.opts.Instead != nil {
		return c.opts.Instead.Blobs(conn)
	}
	if account, ok := c.storage(conn, blobService); ok {
		return account, nil
	}
	if c.opts.Outside == nil {
		return nil, errOutside(conn)
	}
	return opened(c, "blobs", conn, c.opts.Outside.Blobs)
}

// Tables implements [Backends].
func (c *Connections) Tables(conn appsettings.Connection) (table.Account, error) {
	if c.opts.Instead != nil {
		return c.opts.Instead.Tables(conn)
	}
	if account, ok := c.storage(conn, tableService); ok {
		return account, nil
	}
	if c.opts.Outside == nil {
		return nil, errOutside(conn)
	}
	return opened(c, "tables", conn, c.opts.Outside.Tables)
}

// ServiceBus implements [Backends].
func (c *Connections) ServiceBus(conn appsettings.Connection) (servicebus.Namespace, error) {
	if c.opts.Instead != nil {
		return c.opts.Instead.ServiceBus(conn)
	}
	if c.IsEmbeddedNamespace(conn) {
		return c.embedded.bus, nil
	}
	if c.opts.Outside == nil {
		return nil, errBusOutside(conn)
	}
	return opened(c, "service bus", conn, c.opts.Outside.ServiceBus)
}

// EventHubs implements [Backends]: the embedded namespace has the same address as
// Service Bus.
func (c *Connections) EventHubs(conn appsettings.Connection) (eventhubs.Namespace, error) {
	if c.opts.Instead != nil {
		return c.opts.Instead.EventHubs(conn)
	}
	if c.IsEmbeddedNamespace(conn) {
		return c.embedded.hubs, nil
	}
	if c.opts.Outside == nil {
		return nil, errBusOutside(conn)
	}
	return opened(c, "event hubs", conn, c.opts.Outside.EventHubs)
}

// Cosmos returns the account of a connection: the embedded one, there is no other.
func (c *Connections) Cosmos(settings *appsettings.Settings, setting string) (cosmos.Account, error) {
	if err := CheckCosmos(settings, setting); err != nil {
		return nil, err
	}
	return c.embedded.documents, nil
}

// CheckCosmos refuses connections that do not mean the embedded Cosmos DB account.
func CheckCosmos(settings *appsettings.Settings, setting string) error {
	conn, ok := settings.Connection(setting)
	if !ok {
		return fmt.Errorf("no setting holds the connection %q", setting)
	}
	endpoint := Fields(conn)["accountendpoint"]
	if endpoint == "" {
		return fmt.Errorf("connection %q names no AccountEndpoint", conn.Setting)
	}
	if !onLoopback(endpoint) {
		return fmt.Errorf("connection %q names the Cosmos DB account %q: only the embedded change feed is served, as AccountEndpoint=https://localhost:8081/", conn.Setting, endpoint)
	}
	return nil
}

// onLoopback reports whether an address is on this machine.
func onLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && listen.Loopback(u.Hostname())
}

// ErrNoOutside is the reason of a host that reaches no services outside itself.
var ErrNoOutside = errors.New("this host serves the embedded one only")

func errOutside(conn appsettings.Connection) error {
	return fmt.Errorf("connection %q names an account outside this host, and %w: use UseDevelopmentStorage=true", conn.Setting, ErrNoOutside)
}

// errBusOutside is errOutside for Service Bus and Event Hubs.
func errBusOutside(conn appsettings.Connection) error {
	return fmt.Errorf("connection %q names no namespace of this host, and %w: use Endpoint=sb://localhost;UseDevelopmentEmulator=true with a key", conn.Setting, ErrNoOutside)
}

// storage returns the embedded account that a connection means for one of its
// services, if it means one.
func (c *Connections) storage(conn appsettings.Connection, of service) (account *storage.Storage, ok bool) {
	if c.servers.isEmbedded(conn, of) {
		return c.embedded.Storage(), true
	}
	if name := c.namedAccount(conn, of); name != "" {
		return c.embedded.accounts[name], true
	}
	parts := Fields(conn)
	endpoint := endpointOf(parts, of)
	if endpoint == "" || parts["sharedaccesssignature"] != "" || addressOf(endpoint) != c.servers.at(of) {
		return nil, false
	}
	account, ok = c.embedded.accounts[accountOf(endpoint)]
	return account, ok
}

// StorageOf returns the embedded storage account that a connection means for its queues,
// and false for a connection that leads elsewhere.
func (c *Connections) StorageOf(conn appsettings.Connection) (*storage.Storage, bool) {
	if c.opts.Instead != nil {
		return nil, false
	}
	return c.storage(conn, queueService)
}

// IsEmbeddedNamespace reports whether a connection means the embedded namespace of
// Service Bus and Event Hubs.
func (c *Connections) IsEmbeddedNamespace(conn appsettings.Connection) bool {
	return c.opts.Instead == nil && c.servers.isEmbeddedBus(conn)
}

// Ours reports whether a connection means an embedded storage account, for its blobs, and
// whether that is served.
func (c *Connections) Ours(conn appsettings.Connection) (ours, served bool) {
	if c.opts.Instead != nil {
		return false, true
	}
	_, ours = c.storage(conn, blobService)
	return ours, c.servers[blobService].url != ""
}

// BlobEndpoint is the address of a connection's blob service, as handlers see it in the
// metadata "Uri".
func (c *Connections) BlobEndpoint(conn appsettings.Connection) string {
	if name := c.namedAccount(conn, blobService); name != "" && c.opts.Instead == nil {
		return c.BlobURL() + "/" + name
	}
	return c.servers.blobEndpoint(conn)
}

// BlobURL is where the blobs of embedded accounts are served, or would be.
func (c *Connections) BlobURL() string {
	if base := c.servers[blobService].url; base != "" {
		return base
	}
	return "http://" + DevBlobAddress
}

// GridTopic is the topic that an output binding publishes to: its endpoint is the
// address of the embedded Event Grid, and the topic the first part of its path.
func (c *Connections) GridTopic(setting, endpoint string) (topic string, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("setting %q: %q is not the URL of an Event Grid topic", setting, endpoint)
	}
	if at := addressOf(endpoint); at != c.servers.at(eventGridService) && !slices.Contains(c.gridAlsoAt, at) {
		return "", fmt.Errorf("setting %q names a topic outside this host, and the host publishes to its own Event Grid only, %s", setting, c.gridPlace())
	}
	topic, _, _ = strings.Cut(strings.Trim(u.Path, "/"), "/")
	if topic == "" {
		return "", fmt.Errorf("setting %q: %q names no topic: use http://%s/{topic}/api/events", setting, endpoint, u.Host)
	}
	return topic, nil
}

// gridPlace says where this host's topics are, for errors about other
// addresses.
func (c *Connections) gridPlace() string {
	base := "http://" + DevEventGridAddress
	if told, ok := c.servers[eventGridService]; ok {
		base = told.url
	}
	if base == "" {
		return "which is not served"
	}
	return "at " + base + "/{topic}/api/events"
}
