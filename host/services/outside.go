package services

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app/appsettings"
)

// Outside opens accounts outside this host, in the cloud or on any other server.
// Opening does no I/O. The accounts make each call to their service by call.
//
// Such accounts wake no listener (queue.Waker, blob.Waker): messages are
// found by polling, blobs by scanning (storage.md E-7).
type Outside interface {
	Queues(conn appsettings.Connection, call Call) (queue.Account, error)
	Blobs(conn appsettings.Connection, call Call) (blob.Account, error)
	Tables(conn appsettings.Connection, call Call) (table.Account, error)
	ServiceBus(conn appsettings.Connection, call Call) (servicebus.Namespace, error)
	EventHubs(conn appsettings.Connection, call Call) (eventhubs.Namespace, error)
}

// A Call makes a call to a service outside this host: it runs f once, with ctx or
// a context that ends sooner, without the clock's baton, for as long as it takes
// in real time. It returns f's error, from which it learns whether the service is
// reached: bindings.ErrUnreachable says no, messaging.ErrClosed that it was not
// asked.
type Call = func(ctx context.Context, f func(ctx context.Context) error) error

// opened returns the account of a service outside, opened when it is asked for first.
func opened[A any](c *Connections, service string, conn appsettings.Connection, open func(conn appsettings.Connection, call Call) (A, error)) (A, error) {
	key := openedService{service, conn.Setting} // settings are read once
	c.mu.Lock()
	defer c.mu.Unlock()
	if account, ok := c.opened[key].(A); ok {
		return account, nil
	}
	account, err := open(conn, c.caller(service, conn))
	if err != nil {
		return account, fmt.Errorf("connection %q: %w", conn.Setting, err)
	}
	c.opened[key] = account
	return account, nil
}

// caller returns what makes the calls to a service of an account outside. The lock is held.
func (c *Connections) caller(service string, conn appsettings.Connection) Call {
	name, reach := service+" of "+conn.Setting, c.reachLocked(conn.Setting)
	return func(ctx context.Context, f func(ctx context.Context) error) (err error) {
		if ctx.Done() == nil {
			ctx = wired{c.opts.Wire, ctx} // nothing else ends it
		}
		begun := c.clk.Now()
		c.clk.Outside(ctx, name, func() { err = f(ctx) })
		reach.note(ctx, service, begun, err)
		return err
	}
}

// wired is a context that ends with the wire and says what the caller's says: the
// headers of a request travel in it.
type wired struct {
	context.Context
	caller context.Context
}

func (w wired) Value(key any) any {
	if v := w.Context.Value(key); v != nil {
		return v // package context, and the clock, ask for the end
	}
	return w.caller.Value(key)
}
