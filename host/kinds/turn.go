package kinds

import (
	"sync/atomic"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// Turn is one run of a function's listener, in one epoch of the embedded services. The
// listener reaches a service by the method of the turn, which notes whether the end of
// the epoch concerns it.
type Turn struct {
	*Function
	Epoch *epoch.Epoch
	Again bool           // it follows another in the same generation
	Held  *hostlock.Held // what the listener runs under; nil: nothing
	Uses  atomic.Bool    // embedded services; set while the listener is made
}

func reach[A any](t *Turn, a A, in func(*epoch.Epoch, A) (A, bool)) A {
	a, ours := in(t.Epoch, a)
	if ours {
		t.Uses.Store(true)
	}
	return a
}

// QueuesIn returns a queue account as the turn's listener reaches it.
func (t *Turn) QueuesIn(a queue.Account) queue.Account { return reach(t, a, t.Embedded.QueuesIn) }

// BlobsIn is QueuesIn for blobs.
func (t *Turn) BlobsIn(a blob.Account) blob.Account { return reach(t, a, t.Embedded.BlobsIn) }

// Container holds the host's locks and the status of timers.
func (t *Turn) Container() (blob.Container, error) {
	blobs, err := t.Locks().Blobs()
	if err != nil {
		return nil, err
	}
	return t.BlobsIn(blobs).Container(hostlock.Container), nil
}

// ServiceBusIn is QueuesIn for a Service Bus namespace.
func (t *Turn) ServiceBusIn(ns servicebus.Namespace) servicebus.Namespace {
	return reach(t, ns, t.Embedded.ServiceBusIn)
}

// EventHubsIn is QueuesIn for an Event Hubs namespace.
func (t *Turn) EventHubsIn(hubs eventhubs.Namespace) eventhubs.Namespace {
	return reach(t, hubs, t.Embedded.EventHubsIn)
}

// HubIn is QueuesIn for a task hub of Durable Functions, by its name.
func (t *Turn) HubIn(name string) durable.Hub {
	t.Uses.Store(true)
	return t.Embedded.DurableIn(t.Epoch, name)
}

// CosmosIn is QueuesIn for a Cosmos DB account.
func (t *Turn) CosmosIn(account cosmos.Account) cosmos.Account {
	return reach(t, account, t.Embedded.CosmosIn)
}
