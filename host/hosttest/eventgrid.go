package hosttest

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// gridCalls are the calls of a Host about Event Grid.
type gridCalls struct{ h *Host }

// PublishEvents publishes what a client would send to a topic of the embedded Event
// Grid: a JSON array of events in the topic's schema or, of CloudEvents, a single
// one. Deliveries that it starts run before PublishEvents returns; time does not
// move.
func (k gridCalls) PublishEvents(topic, events string) {
	k.h.tb.Helper()
	t, err := k.h.Services().EventGrid().Topic(topic)
	var list []*eventgrid.Event
	if err == nil {
		list, err = eventgrid.ParseEvents([]byte(events), t.InputSchema)
	}
	if err == nil && len(list) == 0 {
		err = errors.New("no event is given")
	}
	if err == nil {
		k.h.do("publish to "+topic, func() { err = k.h.Services().EventGrid().Publish(context.Background(), topic, list...) })
	}
	if err != nil {
		k.h.tb.Fatalf("hosttest: publish to topic %q: %v%s", topic, err, orMeant(topic, topicNames(k.h)))
	}
}
