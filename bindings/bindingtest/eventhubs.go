package bindingtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// EventHubsBackend is one fresh namespace under test with a hub "orders" of four
// partitions and a hub "single" of one.
type EventHubsBackend struct {
	Namespace eventhubs.Namespace

	// Do runs f where the namespace may be called, and returns when f and what it
	// caused have ended. Nil: anywhere will do.
	Do func(f func())
	// Patience is how long a Receive waits for an event that should be there. Zero:
	// not at all.
	Patience time.Duration
}

// RunEventHubs holds a backend to the contract of eventhubs.Namespace. open is called
// once for each subtest.
func RunEventHubs(t *testing.T, open func(t *testing.T) *EventHubsBackend) {
	for _, test := range []struct {
		name string
		run  func(b *hubBench)
	}{
		{"EventsComeInOrder", eventsComeInOrder},
		{"EventsComeBackWhole", eventsComeBackWhole},
		{"KeysPickPartitions", keysPickPartitions},
		{"PartitionsTakeTurns", partitionsTakeTurns},
		{"Positions", eventPositions},
		{"ConsumerGroupsReadAlike", consumerGroupsReadAlike},
		{"HigherLevelsTakeOver", higherLevelsTakeOver},
		{"FiveReadersWithoutLevel", fiveReadersWithoutLevel},
		{"Refusals", eventHubRefusals},
		{"TooLarge", eventsTooLarge},
		{"PropertiesOfPartitions", propertiesOfPartitions},
		{"ClosedReader", closedReader},
		{"ReceiveWaits", eventReceiveWaits},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(&hubBench{T: t, EventHubsBackend: open(t)})
		})
	}
}

type hubBench struct {
	*testing.T
	*EventHubsBackend
}

// do runs f where the namespace may be called.
func (b *hubBench) do(f func(ctx context.Context) error) error {
	var err error
	if b.Do == nil {
		return f(context.Background())
	}
	b.Do(func() { err = f(context.Background()) })
	return err
}

func (b *hubBench) must(f func(ctx context.Context) error) {
	b.Helper()
	if err := b.do(f); err != nil {
		b.Fatal(err)
	}
}

// send sends events with these bodies to the hub with one partition.
func (b *hubBench) send(bodies ...string) {
	b.Helper()
	b.must(func(ctx context.Context) error {
		return b.Namespace.SendEvents(ctx, "single", nil, eventsOf(bodies...)...)
	})
}

func eventsOf(bodies ...string) []*eventhubs.Event {
	out := make([]*eventhubs.Event, len(bodies))
	for i, body := range bodies {
		out[i] = &eventhubs.Event{Body: []byte(body)}
	}
	return out
}

func (b *hubBench) open(hub, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (r eventhubs.Reader, err error) {
	err = b.do(func(ctx context.Context) (err error) {
		r, err = b.Namespace.ReadEvents(ctx, hub, eventhubs.DefaultConsumerGroup, partition, from, opts)
		return err
	})
	if err == nil {
		b.Cleanup(func() { _ = b.do(r.Close) })
	}
	return r, err
}

func (b *hubBench) reader(from eventhubs.Position) eventhubs.Reader {
	b.Helper()
	r, err := b.open("single", "0", from, nil)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// read reads until n events have come, or no more do.
func (b *hubBench) read(r eventhubs.Reader, n int) (all []*eventhubs.ReceivedEvent, err error) {
	for len(all) < n && err == nil {
		var list []*eventhubs.ReceivedEvent
		err = b.do(func(ctx context.Context) (err error) {
			list, err = r.Receive(ctx, n-len(all), b.Patience)
			return err
		})
		if len(list) == 0 {
			break
		}
		all = append(all, list...)
	}
	return all, err
}

func (b *hubBench) bodies(r eventhubs.Reader, n int) []string {
	b.Helper()
	list, err := b.read(r, n)
	if err != nil {
		b.Fatal(err)
	}
	return bodiesOf(list)
}

func bodiesOf(list []*eventhubs.ReceivedEvent) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = string(e.Body)
	}
	return out
}

func (b *hubBench) want(got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("events %q, want %q", got, want)
	}
}

func (b *hubBench) wantError(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: %v, want %v", what, err, want)
	}
}

func eventsComeInOrder(b *hubBench) {
	b.send("a", "b")
	b.send("c")
	list, err := b.read(b.reader(eventhubs.Position{}), 3)
	if err != nil {
		b.Fatal(err)
	}
	b.want(bodiesOf(list), "a", "b", "c")
	offsets := map[string]bool{}
	for i, e := range list {
		if e.SequenceNumber != int64(i) {
			b.Errorf("event %d has the sequence number %d", i, e.SequenceNumber)
		}
		if e.EnqueuedTime.IsZero() || e.Offset == "" {
			b.Errorf("event %d: enqueued %v, offset %q", i, e.EnqueuedTime, e.Offset)
		}
		offsets[e.Offset] = true
	}
	if len(offsets) != 3 {
		b.Errorf("offsets %v, want one each", offsets)
	}
}

func eventsComeBackWhole(b *hubBench) {
	key := "k"
	sent := &eventhubs.Event{
		Body: []byte{0, 1, 0xff}, MessageID: "m", CorrelationID: "c", ContentType: "x/y",
		Properties: map[string]any{"n": int64(7), "s": "é", "b": true, "f": 1.5},
	}
	b.must(func(ctx context.Context) error {
		return b.Namespace.SendEvents(ctx, "single", &eventhubs.SendOptions{PartitionKey: &key}, sent)
	})
	list, err := b.read(b.reader(eventhubs.Position{}), 1)
	if err != nil || len(list) != 1 {
		b.Fatalf("%d events, %v", len(list), err)
	}
	got := list[0]
	if string(got.Body) != string(sent.Body) || got.MessageID != "m" || got.CorrelationID != "c" || got.ContentType != "x/y" {
		b.Errorf("event %+v, want what was sent", got.Event)
	}
	for k, v := range sent.Properties {
		if got.Properties[k] != v {
			b.Errorf("property %s is %#v, want %#v", k, got.Properties[k], v)
		}
	}
	if got.PartitionKey == nil || *got.PartitionKey != key {
		b.Errorf("partition key %v, want %q", got.PartitionKey, key)
	}
}

// lastNumbers are the last sequence numbers of the four partitions of "orders".
func (b *hubBench) lastNumbers() (out [4]int64) {
	b.Helper()
	for i := range out {
		b.must(func(ctx context.Context) error {
			p, err := b.Namespace.Partition(ctx, "orders", fmt.Sprint(i))
			if err == nil {
				out[i] = p.LastSequence
			}
			return err
		})
	}
	return out
}

// The keys and partitions come from the JavaScript client's own test, which took
// them from the service (mapPartitionKeyToId.spec.ts).
func keysPickPartitions(b *hubBench) {
	for range 3 {
		key := "TheBestParitionEver"
		b.must(func(ctx context.Context) error {
			return b.Namespace.SendEvents(ctx, "orders", &eventhubs.SendOptions{PartitionKey: &key}, eventsOf("a")...)
		})
	}
	if got, want := b.lastNumbers(), [4]int64{-1, -1, 2, -1}; got != want {
		b.Errorf("last numbers %v, want %v", got, want)
	}
}

func partitionsTakeTurns(b *hubBench) {
	for range 8 {
		b.must(func(ctx context.Context) error {
			return b.Namespace.SendEvents(ctx, "orders", nil, eventsOf("a", "b")...)
		})
	}
	if got, want := b.lastNumbers(), [4]int64{3, 3, 3, 3}; got != want {
		b.Errorf("last numbers %v, want %v: a batch stays together", got, want)
	}
	b.must(func(ctx context.Context) error {
		return b.Namespace.SendEvents(ctx, "orders", &eventhubs.SendOptions{PartitionID: "1"}, eventsOf("a")...)
	})
	if got, want := b.lastNumbers(), [4]int64{3, 4, 3, 3}; got != want {
		b.Errorf("last numbers %v, want %v", got, want)
	}
}

func eventPositions(b *hubBench) {
	b.send("a", "b", "c")
	list, err := b.read(b.reader(eventhubs.Position{}), 3)
	if err != nil || len(list) != 3 {
		b.Fatalf("%d events, %v", len(list), err)
	}
	number := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		name string
		from eventhubs.Position
		want []string
	}{
		{"beginning", eventhubs.Position{}, []string{"a", "b", "c", "d"}},
		{"offset -1", eventhubs.Position{Offset: "-1"}, []string{"a", "b", "c", "d"}},
		{"behind a number", eventhubs.Position{SequenceNumber: number(0)}, []string{"b", "c", "d"}},
		{"from a number", eventhubs.Position{SequenceNumber: number(1), Inclusive: true}, []string{"b", "c", "d"}},
		{"behind an offset", eventhubs.Position{Offset: list[1].Offset}, []string{"c", "d"}},
		{"from an offset", eventhubs.Position{Offset: list[1].Offset, Inclusive: true}, []string{"b", "c", "d"}},
		{"before a time", eventhubs.Position{EnqueuedTime: list[0].EnqueuedTime.Add(-time.Hour)}, []string{"a", "b", "c", "d"}},
		{"end", eventhubs.Position{Latest: true}, []string{"d"}},
	} {
		r := b.reader(test.from)
		if test.name == "end" {
			b.send("d")
		}
		want := test.want
		if test.name != "end" {
			want = want[:len(want)-1] // d is sent by the last row
		}
		if got := b.bodies(r, len(want)); !slices.Equal(got, want) {
			b.Errorf("%s: events %q, want %q", test.name, got, want)
		}
		b.must(r.Close)
	}
}

func consumerGroupsReadAlike(b *hubBench) {
	b.send("a")
	for range 2 {
		r := b.reader(eventhubs.Position{})
		b.want(b.bodies(r, 1), "a")
	}
}

func higherLevelsTakeOver(b *hubBench) {
	level := func(n int64) *eventhubs.ReaderOptions { return &eventhubs.ReaderOptions{OwnerLevel: &n} }
	plain := b.reader(eventhubs.Position{})
	low, err := b.open("single", "0", eventhubs.Position{}, level(1))
	if err != nil {
		b.Fatal(err)
	}
	_, err = b.read(plain, 1)
	b.wantError("reader without a level", err, messaging.ErrReaderStolen)
	_, err = b.open("single", "0", eventhubs.Position{}, nil)
	b.wantError("another without a level", err, messaging.ErrReaderStolen)
	_, err = b.open("single", "0", eventhubs.Position{}, level(0))
	b.wantError("a lower level", err, messaging.ErrReaderStolen)
	same, err := b.open("single", "0", eventhubs.Position{}, level(1))
	if err != nil {
		b.Fatal(err)
	}
	_, err = b.read(low, 1)
	b.wantError("reader of the same level", err, messaging.ErrReaderStolen)
	b.send("a")
	b.want(b.bodies(same, 1), "a")
}

func fiveReadersWithoutLevel(b *hubBench) {
	var last eventhubs.Reader
	for range eventhubs.MaxReaders {
		last = b.reader(eventhubs.Position{})
	}
	_, err := b.open("single", "0", eventhubs.Position{}, nil)
	b.wantError("one more", err, messaging.ErrQuotaExceeded)
	b.must(last.Close)
	if _, err := b.open("single", "0", eventhubs.Position{}, nil); err != nil {
		b.Errorf("one in the place of another: %v", err)
	}
}

func eventHubRefusals(b *hubBench) {
	key := "k"
	send := func(hub string, opts *eventhubs.SendOptions) error {
		return b.do(func(ctx context.Context) error { return b.Namespace.SendEvents(ctx, hub, opts, eventsOf("a")...) })
	}
	long := strings.Repeat("k", messaging.MaxID+1)
	b.wantError("no such hub", send("nowhere", nil), bindings.ErrNotFound)
	b.wantError("no such partition", send("single", &eventhubs.SendOptions{PartitionID: "1"}), bindings.ErrOutOfRange)
	b.wantError("key and partition", send("single", &eventhubs.SendOptions{PartitionID: "0", PartitionKey: &key}), bindings.ErrInvalidArgument)
	b.wantError("a long key", send("single", &eventhubs.SendOptions{PartitionKey: &long}), bindings.ErrInvalidArgument)
	_, err := b.open("nowhere", "0", eventhubs.Position{}, nil)
	b.wantError("reader of no hub", err, bindings.ErrNotFound)
	_, err = b.open("single", "7", eventhubs.Position{}, nil)
	b.wantError("reader of no partition", err, bindings.ErrOutOfRange)
	behind := int64(7)
	_, err = b.open("single", "0", eventhubs.Position{SequenceNumber: &behind}, nil)
	b.wantError("a number behind the end", err, bindings.ErrInvalidArgument)
	_, err = b.open("single", "0", eventhubs.Position{Offset: "7"}, nil)
	b.wantError("an offset behind the end", err, bindings.ErrInvalidArgument)
	b.wantError("reader of no consumer group", b.do(func(ctx context.Context) error {
		_, err := b.Namespace.ReadEvents(ctx, "single", "nobodys", "0", eventhubs.Position{}, nil)
		return err
	}), bindings.ErrNotFound)
	b.wantError("properties of no hub", b.do(func(ctx context.Context) error {
		_, err := b.Namespace.Hub(ctx, "nowhere")
		return err
	}), bindings.ErrNotFound)
}

func eventsTooLarge(b *hubBench) {
	err := b.do(func(ctx context.Context) error {
		return b.Namespace.SendEvents(ctx, "single", nil, eventsOf("a", strings.Repeat("x", eventhubs.MaxBatch+1))...)
	})
	b.wantError("more than a batch may have", err, bindings.ErrTooLarge)
	b.want(b.bodies(b.reader(eventhubs.Position{}), 1))
}

func propertiesOfPartitions(b *hubBench) {
	var hub *eventhubs.Properties
	b.must(func(ctx context.Context) (err error) {
		hub, err = b.Namespace.Hub(ctx, "ORDERS")
		return err
	})
	if hub.Name != "orders" || !slices.Equal(hub.Partitions, []string{"0", "1", "2", "3"}) || hub.CreatedAt.IsZero() {
		b.Errorf("hub %+v", hub)
	}
	partition := func() (p *eventhubs.Partition) {
		b.Helper()
		b.must(func(ctx context.Context) (err error) {
			p, err = b.Namespace.Partition(ctx, "single", "0")
			return err
		})
		return p
	}
	if p := partition(); !p.Empty || p.LastSequence != -1 || p.LastOffset != "-1" || p.Hub != "single" || p.ID != "0" {
		b.Errorf("an empty partition: %+v", p)
	}
	b.send("a", "b")
	list, err := b.read(b.reader(eventhubs.Position{}), 2)
	if err != nil || len(list) != 2 {
		b.Fatalf("%d events, %v", len(list), err)
	}
	if p := partition(); p.Empty || p.BeginningSequence != 0 || p.LastSequence != 1 || p.LastOffset != list[1].Offset || p.LastEnqueued.IsZero() {
		b.Errorf("a partition with two events: %+v", p)
	}
}

func closedReader(b *hubBench) {
	r := b.reader(eventhubs.Position{})
	b.must(r.Close)
	b.must(r.Close)
	_, err := b.read(r, 1)
	b.wantError("a closed reader", err, messaging.ErrClosed)
}

// A Receive that waits for nothing returns nothing, without an error.
func eventReceiveWaits(b *hubBench) {
	r := b.reader(eventhubs.Position{})
	for _, wait := range []time.Duration{0, time.Millisecond} {
		err := b.do(func(ctx context.Context) error {
			list, err := r.Receive(ctx, 10, wait)
			if len(list) != 0 {
				b.Errorf("waiting %v: %d events, want none", wait, len(list))
			}
			return err
		})
		if err != nil {
			b.Errorf("waiting %v: %v", wait, err)
		}
	}
}
