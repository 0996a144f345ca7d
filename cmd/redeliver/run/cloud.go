package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/services"
)

// Cloud serves the connections to accounts outside this host: in Azure, in Azurite,
// or in another host. It implements host.Outside.
type Cloud struct {
	transport *http.Transport
	first     func(setting string) // is told the first connection that is used

	used atomic.Bool

	mu        sync.Mutex
	connected []connected
}

var _ services.Outside = (*Cloud)(nil)

// connected is an account that keeps connections.
type connected interface {
	Close(ctx context.Context) error
}

// Limits of a request. With the SDK's three repetitions, each after a pause,
// they bound every call; only a body that comes slowly may take longer.
const (
	dialTimeout   = 10 * time.Second
	answerTimeout = time.Minute
	idleTimeout   = 90 * time.Second

	// connectionsKept is how many connections to one service are kept for later
	// requests: as many as a function has messages in work, and more.
	connectionsKept = 128
)

// NewCloud returns services that have not sent anything yet. first may be nil.
func NewCloud(first func(setting string)) *Cloud {
	return &Cloud{first: first, transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: answerTimeout,
		MaxIdleConnsPerHost: connectionsKept, IdleConnTimeout: idleTimeout,
	}}
}

// Queues implements host.Outside.
func (c *Cloud) Queues(conn appsettings.Connection, call services.Call) (queue.Account, error) {
	return open(c, conn, call, azure.NewQueueAccount, azure.NewQueueAccountWithIdentity)
}

// Blobs implements host.Outside.
func (c *Cloud) Blobs(conn appsettings.Connection, call services.Call) (blob.Account, error) {
	return open(c, conn, call, azure.NewBlobAccount, azure.NewBlobAccountWithIdentity)
}

// Tables implements host.Outside.
func (c *Cloud) Tables(conn appsettings.Connection, call services.Call) (table.Account, error) {
	return open(c, conn, call, azure.NewTableAccount, azure.NewTableAccountWithIdentity)
}

// ServiceBus implements host.Outside.
func (c *Cloud) ServiceBus(conn appsettings.Connection, call services.Call) (servicebus.Namespace, error) {
	return open(c, conn, call, azure.NewServiceBus, azure.NewServiceBusWithIdentity)
}

// EventHubs implements host.Outside.
func (c *Cloud) EventHubs(conn appsettings.Connection, call services.Call) (eventhubs.Namespace, error) {
	return open(c, conn, call, azure.NewEventHubs, azure.NewEventHubsWithIdentity)
}

// open makes the account of a connection by its connection string or its identity.
func open[A any](c *Cloud, conn appsettings.Connection, call services.Call,
	byString func(string, *azure.Options) (A, error), byIdentity func(*azure.Identity, *azure.Options) (A, error),
) (account A, err error) {
	opts := &azure.Options{HTTPClient: &http.Client{Transport: c.transport}, Call: call}
	if conn.Value != "" {
		account, err = byString(conn.Value, opts)
	} else {
		var id *azure.Identity
		if id, err = azure.ParseIdentity(conn.Section); err == nil {
			account, err = byIdentity(id, opts)
		}
	}
	if err != nil {
		return account, err
	}
	if connected, ok := any(account).(connected); ok {
		c.mu.Lock()
		c.connected = append(c.connected, connected)
		c.mu.Unlock()
	}
	if !c.used.Swap(true) && c.first != nil {
		c.first(conn.Setting)
	}
	return account, nil
}

// Close lets go of the connections.
func (c *Cloud) Close() {
	c.transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, account := range c.connected {
		_ = account.Close(ctx) // a namespace that does not answer loses the connection anyway
	}
}

// instance is the name of the host in its locks: the name of its data folder, which
// one process at a time can have, else a new one.
func (s *session) instance() string {
	if s.store == nil {
		return uuid.NewString()
	}
	machine, _ := os.Hostname() // an empty name is as good as any
	sum := sha256.Sum256([]byte(machine + "\n" + s.store.Dir()))
	id, _ := uuid.NewRandomFromReader(bytes.NewReader(sum[:])) // there is enough to read
	return id.String()
}
