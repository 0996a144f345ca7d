package services

import (
	"github.com/redeliver/redeliver/bindings/blob"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// embeddedStorage returns an account as the embedded one that it is, and whether it is.
func (e *Embedded) embeddedStorage(account any) (own *storage.Storage, ok bool) {
	own, ok = account.(*storage.Storage)
	return own, ok && e.accounts[e.NameOf(own)] == own
}

// QueuesIn returns a queue account as a listener of an epoch reaches it, and whether
// it is an embedded one; another is returned as it is.
func (e *Embedded) QueuesIn(in *epoch.Epoch, a queue.Account) (queue.Account, bool) {
	if own, ok := e.embeddedStorage(a); ok {
		return own.In(in), true
	}
	return a, false
}

// BlobsIn is QueuesIn for blobs.
func (e *Embedded) BlobsIn(in *epoch.Epoch, a blob.Account) (blob.Account, bool) {
	if own, ok := e.embeddedStorage(a); ok {
		return own.In(in), true
	}
	return a, false
}

// ServiceBusIn is QueuesIn for a Service Bus namespace.
func (e *Embedded) ServiceBusIn(in *epoch.Epoch, ns servicebusapi.Namespace) (servicebusapi.Namespace, bool) {
	if ns == servicebusapi.Namespace(e.bus) {
		return e.bus.In(in), true
	}
	return ns, false
}

// EventHubsIn is QueuesIn for an Event Hubs namespace.
func (e *Embedded) EventHubsIn(in *epoch.Epoch, hubs eventhubsapi.Namespace) (eventhubsapi.Namespace, bool) {
	if hubs == eventhubsapi.Namespace(e.hubs) {
		return e.hubs.In(in), true
	}
	return hubs, false
}

// CosmosIn is QueuesIn for a Cosmos DB account.
func (e *Embedded) CosmosIn(in *epoch.Epoch, account cosmosapi.Account) (cosmosapi.Account, bool) {
	if account == cosmosapi.Account(e.documents) {
		return e.documents.In(in), true
	}
	return account, false
}

// DurableIn returns a task hub as a listener of an epoch reaches it.
func (e *Embedded) DurableIn(in *epoch.Epoch, hub string) *durable.Hub {
	return e.engine.Hub(hub).In(in)
}
