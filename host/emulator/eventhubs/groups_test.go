package eventhubs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// open opens a reader for a group and closes it again.
func (b *bench) open(group string) (err error) {
	b.clk.Do("open", func() {
		var r eventhubsapi.Reader
		if r, err = b.ns.ReadEvents(context.Background(), "hub", group, "0", eventhubsapi.Position{}, nil); err == nil {
			err = r.Close(context.Background())
		}
	})
	return err
}

func (b *bench) createGroup(group string) (err error) {
	b.clk.Do("create", func() { err = b.ns.CreateConsumerGroup(context.Background(), "HUB", group) })
	return err
}

// An unknown group is not found; $Default is always there.
func TestConsumerGroups(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", ConsumerGroups: []string{"Audit", "$default", "AUDIT"}})
	for group, want := range map[string]error{
		"$Default": nil, "$DEFAULT": nil, "audit": nil, "other": bindings.ErrNotFound, "": bindings.ErrInvalidArgument,
	} {
		if err := b.open(group); !errors.Is(err, want) {
			t.Errorf("read for group %q: %v, want %v", group, err, want)
		}
	}
	if err := b.createGroup("other"); err != nil {
		t.Fatal(err)
	}
	if err := b.open("OTHER"); err != nil {
		t.Errorf("read for a group that was made: %v", err)
	}
	b.do(func(ctx context.Context) error {
		list, err := b.ns.Hubs(ctx)
		if diff := cmp.Diff([]string{"Audit", "other"}, list[0].ConsumerGroups); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		return err
	})
}

// Texts that cannot be the name of a group or a hub.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", ConsumerGroups: []string{"there"}})
	long := strings.Repeat("g", 50)
	for name, want := range map[string]error{
		"a": nil, "a.b-c_9": nil, long: nil,
		"There": bindings.ErrAlreadyExists, "$Default": bindings.ErrAlreadyExists,
		long + "g": bindings.ErrInvalidArgument, "": bindings.ErrInvalidArgument, "a/b": bindings.ErrInvalidArgument, "a b": bindings.ErrInvalidArgument,
		"-a": bindings.ErrInvalidArgument, "a.": bindings.ErrInvalidArgument, "$a": bindings.ErrInvalidArgument, "ä": bindings.ErrInvalidArgument,
		"a\x00b": bindings.ErrInvalidArgument, "a\n": bindings.ErrInvalidArgument,
	} {
		if err := b.createGroup(name); !errors.Is(err, want) {
			t.Errorf("create group %q: %v, want %v", name, err, want)
		}
		if !errors.Is(want, bindings.ErrInvalidArgument) || name == long+"g" {
			continue
		}
		for _, hub := range []eventhubs.Hub{{Name: name}, {Name: "x", ConsumerGroups: []string{name}}} {
			b.clk.Do("create", func() {
				if err := b.ns.CreateHub(context.Background(), hub); !errors.Is(err, bindings.ErrInvalidArgument) {
					t.Errorf("create %+v: %v", hub, err)
				}
			})
		}
	}
	b.do(func(ctx context.Context) error {
		if err := b.ns.CreateConsumerGroup(ctx, "nowhere", "g"); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("group of no hub: %v", err)
		}
		many := make([]string, eventhubs.MaxConsumerGroups-1)
		for i := range many {
			many[i] = fmt.Sprint("g", i)
		}
		if err := b.ns.CreateHub(ctx, eventhubs.Hub{Name: "full", ConsumerGroups: many}); err != nil {
			t.Errorf("as many groups as there may be: %v", err)
		}
		if err := b.ns.CreateConsumerGroup(ctx, "full", "more"); !errors.Is(err, messaging.ErrQuotaExceeded) {
			t.Errorf("one group more: %v", err)
		}
		if err := b.ns.CreateHub(ctx, eventhubs.Hub{Name: "over", ConsumerGroups: append(many, "more")}); !errors.Is(err, bindings.ErrOutOfRange) {
			t.Errorf("a hub with one group more: %v", err)
		}
		return nil
	})
}

// Groups outlive the process, the first ones and later ones.
func TestGroupsAreDurable(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b := &bench{T: t, clk: newVirtual()}
	for round := range 2 {
		if b.ns, err = eventhubs.Open(b.clk, db, nil); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			b.do(func(ctx context.Context) error {
				return b.ns.CreateHub(ctx, eventhubs.Hub{Name: "hub", ConsumerGroups: []string{"first"}})
			})
			if err := b.createGroup("second"); err != nil {
				t.Fatal(err)
			}
		}
		b.do(func(ctx context.Context) error {
			list, err := b.ns.Hubs(ctx)
			if len(list) != 1 || !slices.Equal(list[0].ConsumerGroups, []string{"first", "second"}) {
				t.Errorf("round %d: hubs %+v", round, list)
			}
			return err
		})
	}
}

// Where hubs are made on use, groups are.
func TestGroupsOnUse(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "other"})
	b.ns.AutoCreate(true)
	for _, group := range []string{"g", "$Default", "h"} { // the first one with its hub
		if err := b.open(group); err != nil {
			t.Errorf("group %q: %v", group, err)
		}
	}
	b.ns.AutoCreate(false)
	if err := b.open("i"); !errors.Is(err, bindings.ErrNotFound) {
		t.Errorf("a group that nobody made: %v", err)
	}
}
