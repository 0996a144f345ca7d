package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// outsideHubs is an Event Hubs namespace outside: its calls are trips.
type outsideHubs struct {
	trip
	hubs bindings.EventHubs
}

var _ bindings.EventHubs = outsideHubs{}

func (o outsideHubs) FullyQualifiedNamespace() string { return o.hubs.FullyQualifiedNamespace() }

func (o outsideHubs) SendEvents(ctx context.Context, hub string, opts *bindings.SendEventsOptions, events ...*bindings.Event) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.hubs.SendEvents(ctx, hub, opts, events...) })
}

func (o outsideHubs) Hub(ctx context.Context, name string) (*bindings.EventHubProperties, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*bindings.EventHubProperties, error) { return o.hubs.Hub(ctx, name) })
}

func (o outsideHubs) Partition(ctx context.Context, hub, partition string) (*bindings.EventPartition, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*bindings.EventPartition, error) {
		return o.hubs.Partition(ctx, hub, partition)
	})
}

func (o outsideHubs) ReadEvents(ctx context.Context, hub, group, partition string, from bindings.EventPosition, opts *bindings.EventReaderOptions) (bindings.EventReader, error) {
	if err := o.ask(ctx, func(ctx context.Context) error { _, err := o.hubs.Partition(ctx, hub, partition); return err }); err != nil {
		return nil, err
	}
	r, err := away(ctx, o.trip, func(ctx context.Context) (bindings.EventReader, error) {
		return o.hubs.ReadEvents(ctx, hub, group, partition, from, opts)
	})
	if err != nil {
		return nil, err
	}
	return outsideEvents{o.trip, r}, nil
}

// outsideEvents is a reader of a namespace outside.
type outsideEvents struct {
	trip
	r bindings.EventReader
}

func (o outsideEvents) Receive(ctx context.Context, n int, wait time.Duration) ([]*bindings.ReceivedEvent, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*bindings.ReceivedEvent, error) { return o.r.Receive(ctx, n, wait) })
}

func (o outsideEvents) Close(ctx context.Context) error { return last(ctx, o.trip, o.r.Close) }
