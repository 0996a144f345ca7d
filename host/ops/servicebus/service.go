// Package servicebus has the operations on the embedded Service Bus namespace.
package servicebus

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	servicebuskind "github.com/redeliver/redeliver/host/kinds/servicebus"
	"github.com/redeliver/redeliver/host/ops"
)

// Service is Service Bus.
var Service = &ops.Service{ // read only
	Name: "servicebus", Path: "servicebus", Noun: "entity", Scene: ops.Scene{Entity: "serviceBus", Kind: "Service Bus entity", Spelled: spelled},
	Needs: "servicebus", Outside: outside,
	Refuse: ops.MessagingRefusal(`"redeliver ls servicebus" lists the entities; "redeliver create servicebus NAME" makes a queue`),
	List:   func(ctx context.Context, e *ops.Env) (any, error) { return entities(ctx, e) },
	Listings: []ops.Listing{{
		Name: "servicebus", Columns: []string{"SERVICE BUS ENTITY", "ACTIVE", "SCHEDULED", "DEFERRED", "DEAD-LETTER", "TRANSFER DEAD-LETTER"}, Numbers: 5, Quiet: true,
		Rows: ops.Rows(rows), Names: ops.Names((*BusEntity).Queues),
	}},
	Entities: paths, Bound: bound, Within: within, Due: due, Faults: operations,
	Each: each, Again: again, Release: release, Bury: bury, Redrive: redrive,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{
		ops.Of(ListEntities{}), ops.Of(CreateEntity{}), ops.Of(DeleteEntity{}), ops.Of(SendBusMessage{}),
		ops.Of(PeekEntity{}), ops.Of(PurgeEntity{}), ops.Of(RedriveEntity{}), ops.Of(ExpireLocks{}),
		ops.Of(DeadLetterMessages{}), ops.Of(CancelMessages{}),
	}
}

func outside(e *ops.Env) (setting, what, short string) {
	return servicebuskind.Outside(e.Host.Connections(), e.Host.App()), "a Service Bus namespace", "namespace"
}

func paths(ctx context.Context, e *ops.Env) (paths []string, err error) {
	list, err := entities(ctx, e)
	for i := range list {
		paths = append(paths, list[i].Path)
	}
	return paths, err
}

var bound = map[string]func(*app.Binding) []string{"serviceBus": boundPaths, "serviceBusTrigger": boundPaths} // read only

func boundPaths(b *app.Binding) []string {
	topic := b.String("topicName")
	return []string{b.String("queueName"), topic, topic + "/Subscriptions/" + b.String("subscriptionName")}
}

// within is the entity of a path that names one of its sub-queues.
func within(path string) string {
	entity, _, _ := strings.Cut(path, "/$")
	return entity
}
