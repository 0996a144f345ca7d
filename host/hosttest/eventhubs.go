package hosttest

import (
	"context"
	"errors"

	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
)

// hubCalls are the calls of a Host about Event Hubs.
type hubCalls struct{ h *Host }

// EventHubConnection is the connection string of the embedded Event Hubs namespace,
// as the kit gives it to the app in AzureWebJobsEventHub. It is the same as for
// Service Bus.
const EventHubConnection = ServiceBusConnection

// CreateEventHub makes a hub of the embedded Event Hubs namespace. Hubs that functions
// and host.json name exist already, with their consumer groups.
func (k hubCalls) CreateEventHub(hub eventhubs.Hub) {
	k.h.tb.Helper()
	var err error
	k.h.do("create event hub "+hub.Name, func() { err = k.h.Services().EventHubs().CreateHub(context.Background(), hub) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: create event hub %q: %v", hub.Name, err)
	}
}

// SendEvents sends events with these bodies to a hub, together to one partition: by
// the key, or with an empty key the next in turn. Deliveries that they start run
// before SendEvents returns; time does not move. Hubs that functions name are
// there; others are made with CreateEventHub.
func (k hubCalls) SendEvents(hub, key string, bodies ...string) {
	k.h.tb.Helper()
	if len(bodies) == 0 {
		k.h.tb.Fatalf("hosttest: send to event hub %q: no event is given", hub)
	}
	opts := &eventhubsapi.SendOptions{}
	if key != "" {
		opts.PartitionKey = &key
	}
	events := make([]*eventhubsapi.Event, len(bodies))
	for i, body := range bodies {
		events[i] = &eventhubsapi.Event{Body: []byte(body)}
	}
	var err error
	k.h.do("send to "+hub, func() { err = k.h.Services().EventHubs().SendEvents(context.Background(), hub, opts, events...) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: send to event hub %q: %v%s", hub, err, orMeant(hub, k.h.EventHubs()))
	}
}

// Checkpoint returns the sequence number of the last event before the checkpoint of a
// partition, for a consumer group; -1 without a checkpoint. A hub, group or partition that
// there is not ends the test.
func (k hubCalls) Checkpoint(hub, group, partition string) int64 {
	k.h.tb.Helper()
	hub, group = partitionThere(k.h, hub, group, partition)
	sequence := int64(-1)
	var err error
	k.h.do("look at a checkpoint", func() {
		c, readErr := hubskind.Checkpoint(context.Background(), k.h.Env(), k.h.ran(), hub, group, partition)
		switch {
		case errors.Is(readErr, bindings.ErrNotFound):
		case readErr != nil:
			err = readErr
		case c != nil:
			sequence = c.SequenceNumber
		}
	})
	if err != nil {
		k.h.tb.Fatalf("hosttest: checkpoint of partition %q of %q: %v", partition, hub, err)
	}
	return sequence
}

// EventHubs returns the names of the event hubs.
func (k hubCalls) EventHubs() []string {
	k.h.tb.Helper()
	return list(k.h, "event hubs", func(ctx context.Context) (names []string, err error) {
		hubs, err := k.h.Services().EventHubs().Hubs(ctx)
		for _, hub := range hubs {
			names = append(names, hub.Name)
		}
		return names, err
	})
}
