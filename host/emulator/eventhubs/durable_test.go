package eventhubs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func openDurable(t testing.TB, clk clock.Clock, dir string) *eventhubs.Namespace {
	t.Helper()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ns, err := eventhubs.Open(clk, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// These survive the process: hubs, events with all their fields, the numbers of
// partitions whose events have gone, and a reset.
func TestDurable(t *testing.T) {
	t.Parallel()
	dir, key, ctx := t.TempDir(), "k", context.Background()
	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	clk := newVirtual()
	open := func() (ns *eventhubs.Namespace) {
		ns, err := eventhubs.Open(clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ns
	}
	ns := open()
	sent := []*eventhubsapi.Event{
		{Body: []byte("a"), MessageID: "m", CorrelationID: "c", ContentType: "x/y", Properties: map[string]any{"n": int32(1), "t": start, "g": bindings.GUID{1}}},
		{},
		{Body: []byte("w"), Wire: &messaging.Wire{Body: []byte("body"), Properties: []byte("p"), Annotations: []byte("a")}},
		{Body: []byte("at the end"), Wire: &messaging.Wire{Body: []byte("a section with a body at the end")}},
		{Wire: &messaging.Wire{Body: []byte("b")}},
	}
	var want, got []*eventhubsapi.ReceivedEvent
	read := func(ns *eventhubs.Namespace, to *[]*eventhubsapi.ReceivedEvent) {
		clk.Do("read", func() {
			r, err := ns.ReadEvents(ctx, "single", "$Default", "0", eventhubsapi.Position{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			*to, err = r.Receive(ctx, 10, 0)
			if err != nil {
				t.Error(err)
			}
		})
	}
	clk.Do("send", func() {
		create(t, ns)
		if err := ns.SendEvents(ctx, "single", &eventhubsapi.SendOptions{PartitionKey: &key}, sent...); err != nil {
			t.Fatal(err)
		}
	})
	read(ns, &want)
	read(open(), &got)
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(sent) {
		t.Errorf("after opening again (-want +got):\n%s", diff)
	}
	if last, err := eventhubs.Keys.LastTime(db); err != nil || !last.Equal(clk.Now()) {
		t.Errorf("last time %v, %v", last, err)
	}
	clk.Advance(25 * time.Hour)
	read(ns, &got)
	ns = open()
	clk.Do("look", func() {
		p, err := ns.Partition(ctx, "single", "0")
		if err != nil || !p.Empty || p.LastSequence != int64(len(sent))-1 || p.LastOffset != want[len(sent)-1].Offset {
			t.Errorf("a partition whose events have gone: %+v, %v", p, err)
		}
		if err := ns.Reset(); err != nil {
			t.Error(err)
		}
	})
	if ns = open(); ns.Has("single") {
		t.Error("a hub is there after a reset")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// A reader goes on when another state is loaded: behind its last event, or where the log
// ends now. It ends if its hub or consumer group is gone.
func TestReadersOutliveLoad(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	b := &bench{T: t, clk: newVirtual()}
	if b.ns, err = eventhubs.Open(b.clk, db, nil); err != nil {
		t.Fatal(err)
	}
	b.do(func(ctx context.Context) error {
		return b.ns.CreateHub(ctx, eventhubs.Hub{Name: "hub", Partitions: 1})
	})
	b.send("a", "b")
	var archive bytes.Buffer
	if err := db.Save(&archive); err != nil {
		t.Fatal(err)
	}
	b.send("c", "d")
	readers := map[string]eventhubsapi.Reader{}
	b.do(func(ctx context.Context) error {
		if err := b.ns.CreateConsumerGroup(ctx, "hub", "late"); err != nil {
			return err
		}
		for name, n := range map[string]int{"one": 1, "all": 4, "late": 1} {
			group := "$Default"
			if name == "late" {
				group = name
			}
			r, err := b.ns.ReadEvents(ctx, "hub", group, "0", eventhubsapi.Position{}, nil)
			if err != nil {
				return err
			}
			list, err := r.Receive(ctx, n, 0)
			if err != nil || len(list) != n {
				t.Fatalf("%d events, %v", len(list), err)
			}
			readers[name] = r
		}
		return nil
	})
	if err := db.Load(&archive); err != nil {
		t.Fatal(err)
	}
	b.send("e", "f")
	b.do(func(ctx context.Context) error {
		for name, want := range map[string][]string{"one": {"b1", "e2", "f3"}, "all": {"e2", "f3"}} {
			list, err := readers[name].Receive(ctx, 10, 0)
			var got []string
			for _, e := range list {
				got = append(got, fmt.Sprint(string(e.Body), e.SequenceNumber))
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("reader %s: %v, events (-want +got):\n%s", name, err, diff)
			}
		}
		if _, err := readers["late"].Receive(ctx, 1, 0); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("a reader whose group is gone: %v", err)
		}
		return nil
	})
}

// Unreadable data is reported, with its place.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"hubh", "hubn", "hube"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			db, err := store.OpenMemory(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			ns, err := eventhubs.Open(clock.System(), db, nil)
			if err != nil {
				t.Fatal(err)
			}
			create(t, ns)
			if err := ns.SendEvents(context.Background(), "single", nil, &eventhubsapi.Event{}); err != nil {
				t.Fatal(err)
			}
			batch, err := db.NewBatch()
			if err != nil {
				t.Fatal(err)
			}
			v, err := db.View()
			if err != nil {
				t.Fatal(err)
			}
			err = v.Scan([]byte(kind+"single"), store.PrefixEnd([]byte(kind+"single")), func(key, _ []byte) error {
				batch.Set(append([]byte(nil), key...), []byte("?"))
				return nil
			})
			if err := errors.Join(err, v.Close(), db.Apply(batch)); err != nil {
				t.Fatal(err)
			}
			_, err = eventhubs.Open(clock.System(), db, nil)
			if _, ok := errors.AsType[*store.CorruptError](err); !ok || !strings.Contains(err.Error(), "single") {
				t.Errorf("open: %v", err)
			}
		})
	}
}
