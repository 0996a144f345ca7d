package scenario

import (
	"context"
	"maps"
	"slices"
	"strings"

	hubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
)

// events compares the events that hubs hold, by hub or hub/partition: those of a hub in the
// order in which they came.
func (r inspection) events(at string, want map[string]bodies) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		one := map[string]bodies{name: want[name]}
		if strings.Contains(name, "/") {
			r.messages(at, "partition", aPartition, one, r.eventBodies)
		} else {
			r.messages(at, "event hub", aHub, one, r.eventBodies)
		}
	}
}

// eventBodies are the bodies of the events of a hub, or of hub/partition.
func (r inspection) eventBodies(name string) []string {
	hub, partition, one := strings.Cut(name, "/")
	ids := []string{partition}
	if !one {
		ids = r.partitions(hub)
	}
	var events []*hubsapi.ReceivedEvent
	for _, id := range ids {
		var kept []*hubsapi.ReceivedEvent
		var err error
		r.h.Act("look at a partition", func(ctx context.Context) { kept, err = r.h.Services().EventHubs().Kept(ctx, hub, id) })
		if err != nil {
			r.Fatalf("%v", err)
		}
		events = append(events, kept...)
	}
	slices.SortStableFunc(events, func(a, b *hubsapi.ReceivedEvent) int { return a.EnqueuedTime.Compare(b.EnqueuedTime) })
	bodies := []string{}
	for _, e := range events {
		bodies = append(bodies, string(e.Body))
	}
	return bodies
}
