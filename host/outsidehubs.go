package host

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// outsideHubs is an Event Hubs namespace outside: its calls are trips.
type outsideHubs struct {
	trip
	hubs eventhubs.Namespace
}

var _ eventhubs.Namespace = outsideHubs{}

func (o outsideHubs) FullyQualifiedNamespace() string { return o.hubs.FullyQualifiedNamespace() }

func (o outsideHubs) SendEvents(ctx context.Context, hub string, opts *eventhubs.SendOptions, events ...*eventhubs.Event) error {
	return awayOnly(ctx, o.trip, func(ctx context.Context) error { return o.hubs.SendEvents(ctx, hub, opts, events...) })
}

func (o outsideHubs) Hub(ctx context.Context, name string) (*eventhubs.Properties, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*eventhubs.Properties, error) { return o.hubs.Hub(ctx, name) })
}

func (o outsideHubs) Partition(ctx context.Context, hub, partition string) (*eventhubs.Partition, error) {
	return away(ctx, o.trip, func(ctx context.Context) (*eventhubs.Partition, error) {
		return o.hubs.Partition(ctx, hub, partition)
	})
}

func (o outsideHubs) ReadEvents(ctx context.Context, hub, group, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (eventhubs.Reader, error) {
	if err := o.ask(ctx, func(ctx context.Context) error { _, err := o.hubs.Partition(ctx, hub, partition); return err }); err != nil {
		return nil, err
	}
	r, err := away(ctx, o.trip, func(ctx context.Context) (eventhubs.Reader, error) {
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
	r eventhubs.Reader
}

func (o outsideEvents) Receive(ctx context.Context, n int, wait time.Duration) ([]*eventhubs.ReceivedEvent, error) {
	return away(ctx, o.trip, func(ctx context.Context) ([]*eventhubs.ReceivedEvent, error) { return o.r.Receive(ctx, n, wait) })
}

func (o outsideEvents) Close(ctx context.Context) error { return last(ctx, o.trip, o.r.Close) }
