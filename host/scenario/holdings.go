package scenario

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	hubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/schemas"
)

// blobNames are the blobs of a container: their number, or the name of each, which may be a
// regular expression between slashes.
type blobNames struct {
	count  int // -1: the list counts
	list   []string
	absent bool // there is no such container
}

func (b *blobNames) UnmarshalJSON(raw []byte) error {
	if raw[0] == '{' { // exists: false
		b.absent = true
		return nil
	}
	return countOrList(raw, &b.count, &b.list)
}

func (b *blobNames) holds(got []string) bool {
	if b.count >= 0 {
		return len(got) == b.count
	}
	return slices.EqualFunc(b.list, got, func(want, name string) bool {
		if !isExpression(want) {
			return want == name
		}
		e, err := regexp.Compile(want[1 : len(want)-1])
		return err == nil && e.MatchString(name)
	})
}

func (b *blobNames) want() string {
	if b.count >= 0 {
		return fmt.Sprint(b.count)
	}
	return showList(b.list)
}

func (r inspection) blobs(at string, e *expect) {
	for _, path := range slices.Sorted(maps.Keys(e.Blobs)) {
		want := body{e.Blobs[path]}
		container, _, _ := strings.Cut(path, "/")
		if !r.known(schemas.JoinPath(schemas.JoinPath(at, "blobs"), path), aContainer, container, false) {
			continue
		}
		got, ok := r.h.Download(path)
		where := schemas.JoinPath(schemas.JoinPath(at, "blobs"), path)
		switch none := string(want.raw) == "null"; {
		case none && ok:
			r.mismatch(where, fmt.Sprintf("there is a blob %q", path), "none", quote(got), r.all)
		case !none && !ok:
			r.mismatch(where, fmt.Sprintf("there is no blob %q", path), quote(want.text()), "none", r.all)
		case !none && !want.matches(got):
			r.mismatch(where, fmt.Sprintf("blob %q has another content", path), quote(want.text()), quote(got), nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Containers)) {
		path, want := schemas.JoinPath(schemas.JoinPath(at, "containers"), name), e.Containers[name]
		if r.missing(path, aContainer, name, want.absent) {
			continue
		}
		if got := r.h.Blobs(name); !want.holds(got) {
			r.mismatch(path, fmt.Sprintf("container %q holds other blobs", name), want.want(), showList(got), r.all)
		}
	}
}

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
