package eventhubs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/journal"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

func newVirtual() *clock.Virtual {
	return clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
}

// create makes the hubs of the suite.
func create(t testing.TB, ns *eventhubs.Namespace) {
	t.Helper()
	for _, h := range []eventhubs.Hub{{Name: "orders"}, {Name: "single", Partitions: 1}} {
		if err := ns.CreateHub(context.Background(), h); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("Virtual", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunEventHubs(t, func(t *testing.T) *bindingtest.EventHubsBackend {
			clk := newVirtual()
			ns := eventhubs.New(clk, nil)
			clk.Do("create", func() { create(t, ns) })
			return &bindingtest.EventHubsBackend{Namespace: ns, Do: func(f func()) {
				done := false
				clk.Do("test", func() {
					clock.NewGroup(clk, 0).Go("test", func() {
						defer func() { done = true }()
						f()
					})
				})
				clk.Until(func() bool { return done }, time.Hour)
			}}
		})
	})
	t.Run("Durable", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunEventHubs(t, func(t *testing.T) *bindingtest.EventHubsBackend {
			ns := openDurable(t, clock.System(), t.TempDir())
			create(t, ns)
			return &bindingtest.EventHubsBackend{Namespace: ns}
		})
	})
}

// Keys and partitions of the JavaScript client's test, taken from the service's own
// implementation (mapPartitionKeyToId.spec.ts).
func TestPartitionKeyHash(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key     string
		n, want int
	}{
		{"alphabet", 3, 0}, {"alphabet", 11, 4}, {"TheBestParitionEver", 4, 2}, {"TheWorstParitionEver", 15, 1}, {"", 4, 0},
	} {
		if got := eventhubs.PartitionOf(test.key, test.n); got != test.want {
			t.Errorf("key %q of %d partitions: %d, want %d", test.key, test.n, got, test.want)
		}
	}
}

// bench is a namespace on a virtual clock.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	ns      *eventhubs.Namespace
	records []journal.Record
}

func newBench(t *testing.T, hub eventhubs.Hub) *bench {
	b := &bench{T: t, clk: newVirtual()}
	b.ns = eventhubs.New(b.clk, &eventhubs.Options{
		Record: func(r journal.Record) { b.records = append(b.records, r) },
	})
	b.do(func(ctx context.Context) error { return b.ns.CreateHub(ctx, hub) })
	return b
}

func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	var err error
	b.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) send(bodies ...string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		for _, body := range bodies {
			if err := b.ns.SendEvents(ctx, "hub", nil, &eventhubsapi.Event{Body: []byte(body), MessageID: body}); err != nil {
				return err
			}
		}
		return nil
	})
}

// all reads what a partition holds.
func (b *bench) all(from eventhubsapi.Position) (bodies []string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		r, err := b.ns.ReadEvents(ctx, "hub", "$default", "0", from, nil)
		if err != nil {
			return err
		}
		list, err := r.Receive(ctx, 100, 0)
		for _, e := range list {
			bodies = append(bodies, string(e.Body))
		}
		return errors.Join(err, r.Close(ctx))
	})
	return bodies
}

// Events go when the hub has kept them long enough; numbers go on.
func TestRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", Partitions: 1, Retention: time.Hour})
	b.send("a")
	b.clk.Advance(40 * time.Minute)
	b.send("b")
	b.clk.Advance(20 * time.Minute)
	if diff := cmp.Diff([]string{"b"}, b.all(eventhubsapi.Position{})); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	b.clk.Advance(time.Hour)
	b.do(func(ctx context.Context) error {
		p, err := b.ns.Partition(ctx, "hub", "0")
		if err == nil && (!p.Empty || p.BeginningSequence != 2 || p.LastSequence != 1 || p.LastOffset == "-1") {
			t.Errorf("a partition whose events have gone: %+v", p)
		}
		return err
	})
	b.send("c")
	if diff := cmp.Diff([]string{"c"}, b.all(eventhubsapi.Position{Offset: "0"})); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// Where a reader may begin: up to the end, not behind it.
func TestPositionsAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", Partitions: 1})
	number := func(n int64) *int64 { return &n }
	test := func(name string, from eventhubsapi.Position, want error) {
		t.Helper()
		b.do(func(ctx context.Context) error {
			r, err := b.ns.ReadEvents(ctx, "hub", "$Default", "0", from, nil)
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
			if err != nil {
				return nil
			}
			list, err := r.Receive(ctx, 10, 0)
			if len(list) > 0 {
				t.Errorf("%s: %d events", name, len(list))
			}
			return errors.Join(err, r.Close(ctx))
		})
	}
	test("behind -1 of nothing", eventhubsapi.Position{SequenceNumber: number(-1)}, nil)
	test("from 0 of nothing", eventhubsapi.Position{SequenceNumber: number(0), Inclusive: true}, nil)
	test("behind 0 of nothing", eventhubsapi.Position{SequenceNumber: number(0)}, bindings.ErrInvalidArgument)
	test("offset 0 of nothing", eventhubsapi.Position{Offset: "0"}, nil)
	test("offset 1 of nothing", eventhubsapi.Position{Offset: "1"}, bindings.ErrInvalidArgument)
	b.send("a", "b")
	offset := b.partition().LastOffset
	test("behind the last", eventhubsapi.Position{SequenceNumber: number(1)}, nil)
	test("from the next", eventhubsapi.Position{SequenceNumber: number(2), Inclusive: true}, nil)
	test("behind the next", eventhubsapi.Position{SequenceNumber: number(2)}, bindings.ErrInvalidArgument)
	test("behind the last offset", eventhubsapi.Position{Offset: offset}, nil)
	test("a larger offset", eventhubsapi.Position{Offset: offset + "0"}, bindings.ErrInvalidArgument)
	test("a time to come", eventhubsapi.Position{EnqueuedTime: start.Add(time.Hour)}, nil)
	b.clk.Advance(25 * time.Hour) // the events have gone, their numbers not
	test("behind the last that has gone", eventhubsapi.Position{SequenceNumber: number(1)}, nil)
	test("behind one that has gone", eventhubsapi.Position{SequenceNumber: number(0)}, nil)
	test("an offset that has gone", eventhubsapi.Position{Offset: "0"}, nil)
	test("more than ever was", eventhubsapi.Position{SequenceNumber: number(2)}, bindings.ErrInvalidArgument)
}

// TestTimesInMilliseconds: clients tell times in milliseconds, and behind the one of the
// last event there must not be this event again (spec messaging 3.13; azeventhubs v2.0.2:
// TestConsumerClient_StartPositions).
func TestTimesInMilliseconds(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", Partitions: 1})
	b.clk.Advance(1234567 * time.Nanosecond)
	b.send("a")
	last := b.partition().LastEnqueued
	if want := start.Add(time.Millisecond); !last.Equal(want) {
		t.Errorf("last enqueued at %v, want %v", last, want)
	}
	b.clk.Advance(time.Second)
	b.send("b")
	if diff := cmp.Diff([]string{"b"}, b.all(eventhubsapi.Position{EnqueuedTime: time.UnixMilli(last.UnixMilli())})); diff != "" {
		t.Errorf("behind the time of the last (-want +got):\n%s", diff)
	}
}

// partition returns the properties of the first partition.
func (b *bench) partition() (p *eventhubsapi.Partition) {
	b.Helper()
	b.do(func(ctx context.Context) (err error) {
		p, err = b.ns.Partition(ctx, "hub", "0")
		return err
	})
	return p
}

// A reader that waits has an event when it comes; waiting without end moves no time,
// and a wait with an end does.
func TestReceiveWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", Partitions: 1})
	var got []string
	group := clock.NewGroup(b.clk, 0)
	ctx, cancel := b.clk.WithCancel(context.Background())
	b.do(func(context.Context) error {
		r, err := b.ns.ReadEvents(ctx, "hub", "$Default", "0", eventhubsapi.Position{}, nil)
		if err != nil {
			return err
		}
		group.Go("reader", func() {
			for {
				list, err := r.Receive(ctx, 10, messaging.Forever)
				if err != nil {
					return
				}
				for _, e := range list {
					got = append(got, string(e.Body)+" "+b.clk.Now().Sub(start).String())
				}
			}
		})
		return nil
	})
	if moved := b.clk.Run(time.Hour); moved != 0 {
		t.Errorf("waiting without end moved time by %v", moved)
	}
	b.clk.Advance(time.Minute)
	b.send("a")
	if diff := cmp.Diff([]string{"a 1m0s"}, got); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	b.do(func(context.Context) error {
		r, err := b.ns.ReadEvents(ctx, "hub", "$Default", "0", eventhubsapi.Position{Latest: true}, nil)
		if err != nil {
			return err
		}
		group.Go("patient reader", func() {
			if list, err := r.Receive(ctx, 10, time.Second); len(list) > 0 || err != nil {
				t.Errorf("%d events, %v", len(list), err)
			}
		})
		return nil
	})
	if moved := b.clk.Run(time.Hour); moved != time.Second {
		t.Errorf("waiting for a second moved time by %v", moved)
	}
	b.do(func(context.Context) error {
		cancel()
		group.Wait()
		return nil
	})
}

func TestHubs(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "Hub", Partitions: 2})
	for _, test := range []struct {
		hub  eventhubs.Hub
		want error
	}{
		{eventhubs.Hub{Name: "hUB"}, bindings.ErrAlreadyExists},
		{eventhubs.Hub{Name: "a/b"}, bindings.ErrInvalidArgument},
		{eventhubs.Hub{}, bindings.ErrInvalidArgument},
		{eventhubs.Hub{Name: "x", Partitions: -1}, bindings.ErrOutOfRange},
		{eventhubs.Hub{Name: "x", Partitions: eventhubsapi.MaxPartitions + 1}, bindings.ErrOutOfRange},
		{eventhubs.Hub{Name: "x", Retention: eventhubs.MaxRetention + 1}, bindings.ErrOutOfRange},
	} {
		b.do(func(ctx context.Context) error {
			if err := b.ns.CreateHub(ctx, test.hub); !errors.Is(err, test.want) {
				t.Errorf("create %+v: %v, want %v", test.hub, err, test.want)
			}
			return nil
		})
	}
	b.send("a")
	if len(b.records) != 1 || b.records[0].Kind != journal.Enqueued || b.records[0].Source != "Hub/Partitions/0" || b.records[0].MessageID != "a" {
		t.Errorf("records %+v", b.records)
	}
	b.do(func(ctx context.Context) error {
		r, err := b.ns.ReadEvents(ctx, "hub", "$Default", "0", eventhubsapi.Position{}, nil)
		if err != nil {
			return err
		}
		if err := b.ns.DeleteHub(ctx, "HUB"); err != nil {
			return err
		}
		if _, err := r.Receive(ctx, 1, 0); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("a reader of a hub that is gone: %v", err)
		}
		if err := b.ns.DeleteHub(ctx, "hub"); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("deleted twice: %v", err)
		}
		hubs, err := b.ns.Hubs(ctx)
		if len(hubs) != 0 {
			t.Errorf("hubs %+v, want none", hubs)
		}
		return err
	})
}

// Emptied, a hub starts again, and readers with it.
func TestClear(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub", Partitions: 1})
	b.send("a", "b")
	b.do(func(ctx context.Context) error {
		r, err := b.ns.ReadEvents(ctx, "hub", "$Default", "0", eventhubsapi.Position{}, nil)
		if err != nil {
			return err
		}
		if _, err := r.Receive(ctx, 10, 0); err != nil {
			return err
		}
		if err := b.ns.Clear(); err != nil {
			return err
		}
		if err := b.ns.SendEvents(ctx, "hub", nil, &eventhubsapi.Event{Body: []byte("c")}); err != nil {
			return err
		}
		list, err := r.Receive(ctx, 10, 0)
		if len(list) != 1 || string(list[0].Body) != "c" || list[0].SequenceNumber != 0 || list[0].Offset != "0" {
			t.Errorf("after Clear: %+v", list)
		}
		return err
	})
}

// Hubs are made on use where that is wanted, and not otherwise.
func TestAutoCreate(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventhubs.Hub{Name: "hub"})
	send := func(hub string) (err error) {
		b.clk.Do("send", func() { err = b.ns.SendEvents(context.Background(), hub, nil, &eventhubsapi.Event{}) })
		return err
	}
	if err := send("other"); !errors.Is(err, bindings.ErrNotFound) {
		t.Errorf("send to a hub that is not there: %v", err)
	}
	b.ns.AutoCreate(true)
	if err := send("other"); err != nil || !b.ns.Has("OTHER") {
		t.Errorf("send to a hub that is made on use: %v", err)
	}
}
