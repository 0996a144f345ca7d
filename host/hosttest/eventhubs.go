package hosttest

import (
	"context"
	"errors"

	hubskind "github.com/redeliver/redeliver/host/kinds/eventhubs"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
)

// EventHubConnection is the connection string of the embedded Event Hubs namespace,
// as the kit gives it to the app in AzureWebJobsEventHub. It is the same as for
// Service Bus.
const EventHubConnection = ServiceBusConnection

// CreateEventHub makes a hub of the embedded Event Hubs namespace. Hubs that functions
// and host.json name exist already, with their consumer groups.
func (h *Host) CreateEventHub(hub eventhubs.Hub) {
	h.tb.Helper()
	var err error
	h.do("create event hub "+hub.Name, func() { err = h.Services().EventHubs().CreateHub(context.Background(), hub) })
	if err != nil {
		h.tb.Fatalf("hosttest: create event hub %q: %v", hub.Name, err)
	}
}

// SendEvents sends events with these bodies to a hub, together to one partition: by
// the key, or with an empty key the next in turn. Deliveries that they start run
// before SendEvents returns; time does not move. Hubs that functions name are
// there; others are made with CreateEventHub.
func (h *Host) SendEvents(hub, key string, bodies ...string) {
	h.tb.Helper()
	if len(bodies) == 0 {
		h.tb.Fatalf("hosttest: send to event hub %q: no event is given", hub)
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
	h.do("send to "+hub, func() { err = h.Services().EventHubs().SendEvents(context.Background(), hub, opts, events...) })
	if err != nil {
		h.tb.Fatalf("hosttest: send to event hub %q: %v%s", hub, err, orMeant(hub, h.EventHubs()))
	}
}

// Checkpoint returns the sequence number of the last event before the checkpoint of a
// partition, for a consumer group; -1 without a checkpoint. A hub, group or partition that
// there is not ends the test.
func (h *Host) Checkpoint(hub, group, partition string) int64 {
	h.tb.Helper()
	hub, group = partitionThere(h, hub, group, partition)
	sequence := int64(-1)
	var err error
	h.do("look at a checkpoint", func() {
		c, readErr := hubskind.Checkpoint(context.Background(), h.Env(), h.ran(), hub, group, partition)
		switch {
		case errors.Is(readErr, bindings.ErrNotFound):
		case readErr != nil:
			err = readErr
		case c != nil:
			sequence = c.SequenceNumber
		}
	})
	if err != nil {
		h.tb.Fatalf("hosttest: checkpoint of partition %q of %q: %v", partition, hub, err)
	}
	return sequence
}
