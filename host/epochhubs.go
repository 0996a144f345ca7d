package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// pastHubs is an Event Hubs namespace outside: its calls are trips.
type pastHubs struct {
	trip
	hubs eventhubs.Namespace
}

var _ eventhubs.Namespace = pastHubs{}

func (o pastHubs) FullyQualifiedNamespace() string { return o.hubs.FullyQualifiedNamespace() }

func (o pastHubs) SendEvents(ctx context.Context, hub string, opts *eventhubs.SendOptions, events ...*eventhubs.Event) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.hubs.SendEvents(ctx, hub, opts, events...) })
}

func (o pastHubs) Hub(ctx context.Context, name string) (*eventhubs.Properties, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*eventhubs.Properties, error) { return o.hubs.Hub(ctx, name) })
}

func (o pastHubs) Partition(ctx context.Context, hub, partition string) (*eventhubs.Partition, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*eventhubs.Partition, error) {
		return o.hubs.Partition(ctx, hub, partition)
	})
}

func (o pastHubs) ReadEvents(ctx context.Context, hub, group, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (eventhubs.Reader, error) {
	r, err := away(ctx, o.trip, func(ctx context.Context) (eventhubs.Reader, error) {
		return o.hubs.ReadEvents(ctx, hub, group, partition, from, opts)
	})
	if err != nil {
		return nil, err
	}
	return pastEvents{o.trip, r}, nil
}

// pastEvents is a reader of a namespace outside.
type pastEvents struct {
	trip
	r eventhubs.Reader
}

func (o pastEvents) Receive(ctx context.Context, n int, wait time.Duration) ([]*eventhubs.ReceivedEvent, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*eventhubs.ReceivedEvent, error) { return o.r.Receive(ctx, n, wait) })
}

func (o pastEvents) Close(ctx context.Context) error { return last(ctx, o.trip, o.r.Close) }
