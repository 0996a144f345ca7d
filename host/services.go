package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
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
	outside Services // nil: none
}

func (s *services) Queues(conn app.Connection) (queue.Account, error) {
	if account, ok := s.host.embedded(conn, queueService); ok {
		return account, nil
	}
	if s.outside == nil {
		return nil, errOutside(conn)
	}
	account, err := s.outside.Queues(conn)
	if err != nil {
		return nil, fmt.Errorf("connection %q: %w", conn.Setting, err)
	}
	return outsideQueues{s.host.trip("queues", conn), account}, nil
}

func (s *services) Blobs(conn app.Connection) (blob.Account, error) {
	if account, ok := s.host.embedded(conn, blobService); ok {
		return account, nil
	}
	if s.outside == nil {
		return nil, errOutside(conn)
	}
	account, err := s.outside.Blobs(conn)
	if err != nil {
		return nil, fmt.Errorf("connection %q: %w", conn.Setting, err)
	}
	return outsideBlobs{s.host.trip("blobs", conn), account}, nil
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

// trip is the way of a call to a service outside: without the clock's baton, for
// as long as it takes in real time. With an epoch it is the way of a listener's call
// to an embedded service.
type trip struct {
	epoch   *epoch // nil: outside
	clk     clock.Clock
	name    string // in diagnostics
	service string
	wire    context.Context // for calls that nothing else ends
	reach   *reach          // is told what comes of calls; nil: nobody is
}

func (h *Host) trip(service string, conn app.Connection) trip {
	return trip{clk: h.clk, name: service + " of " + conn.Setting, service: service, wire: h.wire, reach: h.reach(conn.Setting)}
}

// unheard is the trip of a call that succeeds whether the service is reached or not.
func (t trip) unheard() trip {
	t.reach = nil
	return t
}

// away makes a call to a service outside.
func away[T any](ctx context.Context, t trip, f func(ctx context.Context) (T, error)) (v T, err error) {
	if t.epoch != nil {
		return during(ctx, t.epoch, f)
	}
	if ctx.Done() == nil {
		ctx = t.wire
	}
	begun := t.clk.Now()
	t.clk.Outside(ctx, t.name, func() { v, err = f(ctx) })
	t.reach.note(ctx, t.service, begun, err)
	return v, err
}

// last is away for calls that end the use of something: they are made also when an
// epoch is over, and succeed whether the service is reached or not.
func last(ctx context.Context, t trip, f func(ctx context.Context) error) error {
	if t.epoch != nil {
		return f(ctx)
	}
	return awayOnly(ctx, t.unheard(), f)
}

// ask makes a call that is answered at once, if the service was not reached lately: one
// that waits does not say that the service is there again.
func (t trip) ask(ctx context.Context, f func(ctx context.Context) error) error {
	if !t.reach.isLost(t.service) {
		return nil
	}
	if err := awayOnly(ctx, t, f); errors.Is(err, bindings.ErrUnreachable) || ctx.Err() != nil {
		return err
	}
	return nil
}

// awayOnly is away for calls that return an error only.
func awayOnly(ctx context.Context, t trip, f func(ctx context.Context) error) error {
	_, err := away(ctx, t, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}
