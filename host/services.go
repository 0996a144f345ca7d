package host

import (
	"errors"
	"fmt"
	"sync"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
)

// Services are the backends of triggers and bindings: the embedded ones, or
// the cloud's (bindings/azure).
type Services interface {
	// Queues returns the queue account of a connection. The same connection
	// gives the same account. It does no I/O.
	Queues(conn app.Connection) (queue.Account, error)

	// Blobs returns the blob account of a connection, as Queues does.
	Blobs(conn app.Connection) (blob.Account, error)

	// ServiceBus returns the Service Bus namespace of a connection, as Queues
	// does.
	ServiceBus(conn app.Connection) (servicebus.Namespace, error)

	// EventHubs returns the Event Hubs namespace of a connection, as Queues does.
	EventHubs(conn app.Connection) (eventhubs.Namespace, error)
}

// services decide, for each connection and service, between the embedded account
// and those outside.
type services struct {
	host    *Host
	outside Outside // nil: none

	mu     sync.Mutex
	opened map[openedService]any // of services outside
}

type openedService struct{ name, setting string }

func (s *services) Queues(conn app.Connection) (queue.Account, error) {
	if account, ok := s.host.embedded(conn, queueService); ok {
		return account, nil
	}
	if s.outside == nil {
		return nil, errOutside(conn)
	}
	return opened(s, "queues", conn, s.outside.Queues)
}

func (s *services) Blobs(conn app.Connection) (blob.Account, error) {
	if account, ok := s.host.embedded(conn, blobService); ok {
		return account, nil
	}
	if s.outside == nil {
		return nil, errOutside(conn)
	}
	return opened(s, "blobs", conn, s.outside.Blobs)
}

// errNoOutside is why a host without Options.Outside does not serve a connection.
var errNoOutside = errors.New("this host serves the embedded one only")

func errOutside(conn app.Connection) error {
	return fmt.Errorf("connection %q names an account outside, and %w: use UseDevelopmentStorage=true", conn.Setting, errNoOutside)
}

// errBusOutside is errOutside for Service Bus and Event Hubs.
func errBusOutside(conn app.Connection) error {
	return fmt.Errorf("connection %q names no namespace of this host, and %w: use Endpoint=sb://localhost;UseDevelopmentEmulator=true with a key", conn.Setting, errNoOutside)
}
