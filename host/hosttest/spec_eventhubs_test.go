package hosttest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// oneHub is a host.json with the hub "orders" of one partition.
func oneHub(extensions string) map[string]string {
	return map[string]string{"host.json": `{"version":"2.0","extensions":{"eventHubs":{` + extensions + `}},
		"redeliver":{"eventHubs":{"hubs":[{"name":"orders","partitionCount":1}]}}}`}
}

func bodiesOf(events []functions.EventHubEvent) string {
	var out []string
	for _, e := range events {
		out = append(out, e.Text())
	}
	return strings.Join(out, ",")
}

// A batch that fails with four retries: five attempts, during which nothing of the
// partition is read and no checkpoint written; then the checkpoint moves on and the next
// batch runs (issue, acceptance; servicebus 6.2).
func TestEventHubBatchFails(t *testing.T) {
	t.Parallel()
	var h *hosttest.Host
	var got []string
	handlers := functions.New()
	handlers.EventHubBatch("Read", "orders", func(ctx context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		got = append(got, fmt.Sprintf("%s %s/%d", h.Clock().Now().Sub(hosttest.Start), bodiesOf(events), functions.Retry(ctx).RetryCount))
		if events[0].Text() == "bad" {
			return errors.New("cannot read it")
		}
		return nil
	}, functions.FixedDelay(4, time.Hour))
	h = hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub("")})
	h.SendEvents("orders", "", "bad", "b")
	h.SendEvents("orders", "", "c")
	for range 4 {
		if n := h.Checkpoint("orders", "$Default", "0"); n != -1 {
			t.Errorf("checkpoint %d while the policy retries", n)
		}
		h.Advance(time.Hour)
	}
	want := []string{"0s bad,b/0", "1h0m0s bad,b/1", "2h0m0s bad,b/2", "3h0m0s bad,b/3", "4h0m0s bad,b/4", "4h0m0s c/0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	h.WantSettled("Read", triggers.Checkpointed, triggers.Checkpointed)
	if n := h.Checkpoint("orders", "$Default", "0"); n != 2 {
		t.Errorf("checkpoint %d, want 2", n)
	}
	written := h.Select(func(r *journal.Record) bool { return r.Kind == journal.CheckpointWritten })
	if len(written) != 2 || written[0].Source != "orders/ConsumerGroups/$Default/Partitions/0" || written[0].Fields[0].Value != "1" || written[0].Function != "Read" {
		t.Errorf("checkpoints in the journal: %+v", written)
	}
	if exhausted := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetriesExhausted }); len(exhausted) != 1 {
		t.Errorf("%d times exhausted, want once", len(exhausted))
	}
}

// The retry wait of a paused partition is a reason for time to jump; waiting for events
// is none. The other partitions go on.
func TestEventHubPausedPartition(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	var got []string
	handlers.EventHub("Read", "orders", func(_ context.Context, e functions.EventHubEvent) error {
		got = append(got, e.Text())
		if e.Text() == "bad" {
			return errors.New("cannot read it")
		}
		return nil
	}, functions.FixedDelay(1, 20*time.Minute))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	if moved := h.Run(time.Hour); moved != 0 {
		t.Errorf("waiting for events moved time by %v", moved)
	}
	h.SendEvents("orders", "", "bad", "after")
	h.SendEvents("orders", "", "elsewhere")
	if moved := h.Run(time.Hour); moved != 20*time.Minute {
		t.Errorf("the retry moved time by %v, want 20m", moved)
	}
	if diff := cmp.Diff([]string{"bad", "elsewhere", "bad", "after"}, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

// One by one each event has its own retries: one that fails for good does not stop those
// behind it, and the checkpoint of the batch comes after all of them.
func TestEventHubOneByOneRetries(t *testing.T) {
	t.Parallel()
	var h *hosttest.Host
	var got []string
	handlers := functions.New()
	handlers.EventHub("Read", "orders", func(ctx context.Context, e functions.EventHubEvent) error {
		got = append(got, fmt.Sprintf("%s %s/%d", h.Clock().Now().Sub(hosttest.Start), e.Text(), functions.Retry(ctx).RetryCount))
		if strings.HasPrefix(e.Text(), "bad") {
			return errors.New("cannot read it")
		}
		return nil
	}, functions.FixedDelay(2, time.Hour))
	h = hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub("")})
	h.SendEvents("orders", "", "a", "bad1", "b", "bad2", "c")
	h.Advance(4*time.Hour - time.Second)
	if n := h.Checkpoint("orders", "$Default", "0"); n != -1 {
		t.Errorf("checkpoint %d before the end of the batch", n)
	}
	h.Advance(time.Second)
	want := []string{"0s a/0", "0s bad1/0", "1h0m0s bad1/1", "2h0m0s bad1/2", "2h0m0s b/0", "2h0m0s bad2/0", "3h0m0s bad2/1", "4h0m0s bad2/2", "4h0m0s c/0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if n := h.Checkpoint("orders", "$Default", "0"); n != 4 {
		t.Errorf("checkpoint %d, want 4", n)
	}
	if exhausted := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetriesExhausted }); len(exhausted) != 2 {
		t.Errorf("%d times exhausted, want 2", len(exhausted))
	}
}

// -1 blocks the partition until success (servicebus 6.2).
func TestEventHubRetriesForever(t *testing.T) {
	t.Parallel()
	var h *hosttest.Host
	attempts := 0
	handlers := functions.New()
	handlers.EventHubBatch("Read", "orders", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error {
		if attempts++; attempts <= 1000 {
			return errors.New("not yet")
		}
		return nil
	}, functions.FixedDelay(-1, time.Minute))
	h = hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub("")})
	h.SendEvents("orders", "", "a")
	h.Advance(999 * time.Minute)
	if n := h.Checkpoint("orders", "$Default", "0"); n != -1 || attempts != 1000 {
		t.Errorf("checkpoint %d after %d attempts", n, attempts)
	}
	h.Advance(time.Minute)
	h.WantSettled("Read", triggers.Checkpointed)
}

// What handlers are given, one event and a batch, and what an output sends.
func TestEventHubValues(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventHub("One", "orders", func(ctx context.Context, e functions.EventHubEvent) error {
		want := functions.EventHubEvent{
			Body: []byte(`{"id":7}`), PartitionKey: "k", Offset: "0", EnqueuedTime: hosttest.Start, Properties: map[string]any{"n": 1.0},
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		return functions.SetOutput(ctx, "out", []string{"x", "y"})
	}, functions.EventHubOutput("out", "copies"))
	var from functions.EventHubPartition
	var events []functions.EventHubEvent
	handlers.EventHubBatch("Many", "copies", func(_ context.Context, p functions.EventHubPartition, list []functions.EventHubEvent) error {
		from, events = p, list
		return nil
	}, functions.ConsumerGroup("mine"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	key := "k"
	h.Clock().Do("send", func() {
		err := h.EventHubs().SendEvents(context.Background(), "orders", &bindings.SendEventsOptions{PartitionKey: &key}, &bindings.Event{
			Body: []byte(`{"id":7}`), Properties: map[string]any{"n": int32(1)},
		})
		if err != nil {
			t.Error(err)
		}
	})
	h.WantSettled("One", triggers.Checkpointed)
	wantFrom := functions.EventHubPartition{
		FullyQualifiedNamespace: "localhost", EventHubName: "copies", ConsumerGroup: "mine", PartitionID: "0", IsCheckpointingAfterInvocation: true,
	}
	if diff := cmp.Diff(wantFrom, from); diff != "" {
		t.Errorf("partition (-want +got):\n%s", diff)
	}
	if bodiesOf(events) != "x,y" || events[1].SequenceNumber != 1 || events[1].EnqueuedTime != hosttest.Start || events[1].Offset == "" {
		t.Errorf("events %+v", events)
	}
	if n := h.Checkpoint("copies", "mine", "0"); n != 1 {
		t.Errorf("checkpoint %d, want 1", n)
	}
	if res := h.Call("Many", "by hand"); res.Err != nil || bodiesOf(events) != "by hand" {
		t.Errorf("a call by hand: %v, %+v", res.Err, events)
	}
}

// Two functions in one consumer group share the partitions; one with a group of its own
// has every event.
func TestEventHubConsumerGroups(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	seen := map[string]int{}
	add := func(name string, opts ...functions.EventHubOption) {
		handlers.EventHub(name, "orders", func(context.Context, functions.EventHubEvent) error {
			seen[name]++
			return nil
		}, opts...)
	}
	add("A")
	add("B")
	add("Own", functions.ConsumerGroup("own"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	h.Advance(time.Minute) // both know
	for range 8 {
		h.SendEvents("orders", "", "e")
	}
	if diff := cmp.Diff(map[string]int{"A": 4, "B": 4, "Own": 8}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A function whose consumer group is not there is in error, with one text for all
// partitions, and starts once somebody has made the group; groups that functions name
// are made unless autoCreateEntities is none.
func TestEventHubConsumerGroupIsMissing(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	read := 0
	handlers.EventHub("Read", "orders", func(context.Context, functions.EventHubEvent) error { read++; return nil }, functions.ConsumerGroup("audit"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: map[string]string{
		"host.json": `{"version":"2.0","redeliver":{"autoCreateEntities":"none","eventHubs":{"hubs":[{"name":"orders"}]}}}`,
	}})
	errs := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError })
	if len(errs) != 1 || errs[0].Function != "Read" || !strings.Contains(errs[0].Error, `"orders/ConsumerGroups/audit" could not be found`) {
		t.Errorf("function errors %+v", errs)
	}
	h.SendEvents("orders", "", "a")
	var err error
	h.Clock().Inside("create", func() { err = h.EventHubs().CreateConsumerGroup(context.Background(), "orders", "audit") })
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(2 * time.Second)
	if read != 1 {
		t.Errorf("%d events read once the group is there, want 1", read)
	}
}

// A name that the service does not take is the fault of its function; the others run.
func TestEventHubBadNames(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	nothing := func(context.Context, functions.EventHubEvent) error { return nil }
	handlers.EventHub("BadHub", "or ders", nothing)
	handlers.EventHub("BadGroup", "orders", nothing, functions.ConsumerGroup("a/b"))
	handlers.EventHub("Good", "orders", nothing)
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	h.SendEvents("orders", "", "a")
	h.WantSettled("Good", triggers.Checkpointed)
	var got []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError }) {
		name, _, _ := strings.Cut(r.Error[strings.Index(r.Error, "name "):], ":")
		got = append(got, r.Function+" "+name)
	}
	if diff := cmp.Diff([]string{`BadGroup name "a/b"`, `BadHub name "or ders"`}, got); diff != "" {
		t.Errorf("functions in error (-want +got):\n%s", diff)
	}
}

// A hub that a test makes, with groups of its own; groups of host.json come to a hub
// that is there.
func TestCreateEventHub(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New()})
	h.CreateEventHub(eventhubs.Hub{Name: "Mine", Partitions: 3, Retention: time.Hour, ConsumerGroups: []string{"audit"}})
	h.SendEvents("mine", "", "a")
	if err := h.Edit("host.json", `{"version":"2.0","redeliver":{"eventHubs":{"hubs":[{"name":"mine","partitionCount":2,"consumerGroups":["audit","late"]}]}}}`); err != nil {
		t.Fatal(err)
	}
	var list []eventhubs.Hub
	h.Clock().Inside("list", func() { list, _ = h.EventHubs().Hubs(context.Background()) })
	want := []eventhubs.Hub{{Name: "Mine", Partitions: 3, Retention: time.Hour, ConsumerGroups: []string{"audit", "late"}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("hubs (-want +got):\n%s", diff)
	}
}

// extensions.eventHubs is heeded: a batch that waits for its minimum, checkpoints of
// every second batch, the initial offset.
func TestEventHubOptions(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	var got []string
	handlers.EventHubBatch("Read", "orders", func(_ context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		got = append(got, bodiesOf(events))
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub(`"maxEventBatchSize":3,"minEventBatchSize":2,"maxWaitTime":"00:05:00","batchCheckpointFrequency":2`)})
	h.SendEvents("orders", "", "a") // the first one does not wait
	h.SendEvents("orders", "", "b")
	h.Advance(5*time.Minute - time.Second)
	if len(got) != 1 || h.Checkpoint("orders", "$Default", "0") != -1 {
		t.Errorf("batches %q, checkpoint %d", got, h.Checkpoint("orders", "$Default", "0"))
	}
	h.Advance(time.Second)
	h.SendEvents("orders", "", "c", "d", "e", "f")
	if diff := cmp.Diff([]string{"a", "b", "c,d,e"}, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	h.WantSettled("Read", triggers.NotCheckpointed, triggers.Checkpointed, triggers.NotCheckpointed)
}

// A queue of the same name: names are taken once (servicebus 1.11).
func TestEventHubNameClash(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventHub("Read", "orders", func(context.Context, functions.EventHubEvent) error { return nil })
	handlers.ServiceBusQueue("Take", "orders", func(context.Context, functions.ServiceBusMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, MayFail: true})
	if h.StartError == nil || !strings.Contains(h.StartError.Error(), `"orders" is the name of a Service Bus entity`) {
		t.Errorf("start: %v", h.StartError)
	}
}

// A hub that is there first keeps its name, too.
func TestEventHubKeepsItsName(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New()})
	h.CreateEventHub(eventhubs.Hub{Name: "orders"})
	ctx := context.Background()
	h.Clock().Inside("create", func() {
		for what, create := range map[string]func() error{
			"queue": func() error {
				_, err := h.ServiceBus().CreateQueue(ctx, bindings.ServiceBusQueue{Name: "Orders"})
				return err
			},
			"topic": func() error {
				_, err := h.ServiceBus().CreateTopic(ctx, bindings.ServiceBusTopic{Name: "orders"})
				return err
			},
		} {
			if err := create(); !errors.Is(err, bindings.ErrAlreadyExists) || !strings.Contains(err.Error(), "is the name of an event hub") {
				t.Errorf("create a %s: %v", what, err)
			}
		}
		if _, err := h.ServiceBus().CreateTopic(ctx, bindings.ServiceBusTopic{Name: "news"}); err != nil {
			t.Error(err)
		}
		if _, err := h.ServiceBus().CreateSubscription(ctx, bindings.ServiceBusSubscription{Topic: "news", Name: "orders"}, nil); err != nil {
			t.Errorf("a subscription has a name space of its own: %v", err)
		}
	})
}

// After a reset the listener goes on with an empty hub.
func TestEventHubReset(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	var got []string
	handlers.EventHub("Read", "orders", func(_ context.Context, e functions.EventHubEvent) error {
		got = append(got, fmt.Sprint(e.Text(), e.SequenceNumber))
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub("")})
	h.SendEvents("orders", "", "a")
	h.Reset()
	if n := h.Checkpoint("orders", "$Default", "0"); n != -1 {
		t.Errorf("checkpoint %d after a reset", n)
	}
	h.SendEvents("orders", "", "b")
	if diff := cmp.Diff([]string{"a0", "b0"}, got); diff != "" || h.Checkpoint("orders", "$Default", "0") != 0 {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEventHubOnSystemClock(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventHubBatch("Read", "orders", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error {
		return errors.New("no")
	}, functions.FixedDelay(4, time.Millisecond))
	h := hosttest.New(t, &hosttest.Options{System: true, Handlers: handlers, Files: oneHub("")})
	h.SendEvents("orders", "", "a")
	h.AwaitSettled("Read", triggers.Checkpointed)
	h.WantAttempts("Read", 5)
}

// EventHubs is for hosts that share storage only.
func (s sharedStorage) EventHubs(app.Connection) (bindings.EventHubs, error) {
	return nil, errors.New("no Event Hubs here")
}

// sharedHubs is one embedded account and one namespace for several hosts.
type sharedHubs struct {
	sharedStorage
	hubs *eventhubs.Namespace
}

func (s sharedHubs) EventHubs(app.Connection) (bindings.EventHubs, error) { return s.hubs, nil }

// Two hosts share the partitions. The second one takes half of them from the first; a
// batch that is being retried there loses its token and has no checkpoint, and the
// second host runs it again with count 0. When one stops, the other has everything.
func TestEventHubTwoHosts(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(hosttest.Start, &clock.VirtualOptions{Strict: true})
	shared := sharedHubs{sharedStorage{emulator.New(clk, nil)}, eventhubs.New(clk, nil)}
	do := func(f func(ctx context.Context) error) {
		t.Helper()
		clk.Do("test", func() {
			if err := f(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	do(func(ctx context.Context) error {
		return shared.hubs.CreateHub(ctx, eventhubs.Hub{Name: "orders", Partitions: 2})
	})
	var got []string
	start := func(name string) *host.Host {
		t.Helper()
		handlers := functions.New()
		handlers.EventHubBatch("Read", "orders", func(ctx context.Context, p functions.EventHubPartition, events []functions.EventHubEvent) error {
			got = append(got, fmt.Sprintf("%s %s:%s/%d", name, p.PartitionID, bodiesOf(events), functions.Retry(ctx).RetryCount))
			if events[0].Text() == "bad" {
				return errors.New("cannot read it")
			}
			return nil
		}, functions.FixedDelay(2, 8*time.Second))
		h, err := host.New(t.TempDir(), &host.Options{
			Clock: clk, KeepRecords: -1, Services: shared, Instance: name, Handlers: handlers,
			Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsEventHub=" + hosttest.EventHubConnection, "AzureFunctionsWebHost__hostid=shared"},
		})
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("start", func() { err = h.Start(context.Background()) })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	send := func(partition, body string) {
		t.Helper()
		do(func(ctx context.Context) error {
			return shared.hubs.SendEvents(ctx, "orders", &bindings.SendEventsOptions{PartitionID: partition}, &bindings.Event{Body: []byte(body)})
		})
	}
	want := func(lines ...string) {
		t.Helper()
		if diff := cmp.Diff(lines, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
		got = nil
	}
	first := start("first")
	send("0", "a")
	clk.Advance(20 * time.Second)
	send("1", "bad")
	want("first 0:a/0", "first 1:bad/0")
	second := start("second")
	want("second 1:bad/0")
	clk.Advance(11 * time.Second) // the first host looks, and finds out
	want("first 1:bad/1", "second 1:bad/1")
	clk.Advance(10 * time.Second)
	want("second 1:bad/2")
	send("0", "b")
	send("1", "c")
	want("first 0:b/0", "second 1:c/0")
	for _, test := range []struct {
		h    *host.Host
		want string
	}{{first, "checkpointed not_checkpointed checkpointed"}, {second, "checkpointed checkpointed"}} {
		var decisions []string
		for _, r := range test.h.Journal().Records() {
			if r.Kind == journal.Settled {
				decisions = append(decisions, r.Decision)
			}
		}
		if got := strings.Join(decisions, " "); got != test.want {
			t.Errorf("settlements %q, want %q", got, test.want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	clk.Advance(31 * time.Second)
	send("0", "d")
	want("second 0:d/0")
}

// killVariable makes the test binary a host that works on the store in that directory
// until it is killed.
const killVariable = "HOSTTEST_KILL"

// keptHub starts a host whose storage is kept in db; its function Read fails, and tells
// of each attempt.
func keptHub(dir string, db *store.Store, clk clock.Clock, told func(string)) (*host.Host, error) {
	handlers := functions.New()
	handlers.EventHubBatch("Read", "orders", func(ctx context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		told(fmt.Sprintf("%s/%d", bodiesOf(events), functions.Retry(ctx).RetryCount))
		if events[0].Text() == "bad" {
			return errors.New("cannot read it")
		}
		return nil
	}, functions.FixedDelay(4, time.Hour))
	h, err := host.New(dir, &host.Options{
		Clock: clk, Store: db, Instance: "me", Handlers: handlers, KeepRecords: -1,
		Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "AzureWebJobsEventHub=" + hosttest.EventHubConnection},
	})
	if err != nil {
		return nil, err
	}
	return h, h.Start(context.Background())
}

// retryUntilKilled runs a host whose second batch waits for its retry.
func retryUntilKilled(dir string) error {
	db, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	appDir, err := os.MkdirTemp(dir, "..app") // beside what the store knows
	if err != nil {
		return err
	}
	if err := os.WriteFile(appDir+"/host.json", []byte(oneHub("")["host.json"]), 0o644); err != nil {
		return err
	}
	h, err := keptHub(appDir, db, nil, func(string) {})
	if err != nil {
		return err
	}
	for _, body := range []string{"good", "bad"} {
		h.Clock().Inside("send", func() {
			err = h.EventHubs().SendEvents(context.Background(), "orders", nil, &bindings.Event{Body: []byte(body)})
		})
		if err != nil {
			return err
		}
		kind := journal.Settled
		if body == "bad" {
			kind = journal.RetryScheduled
		}
		if _, err := h.Journal().Wait(context.Background(), func(r *journal.Record) bool { return r.Kind == kind }); err != nil {
			return err
		}
	}
	fmt.Println("waiting")
	select {} // until it is killed
}

// A host that is killed in the retry wait: the next one begins behind the last
// checkpoint, with count 0 (issue, acceptance; host-and-retry 4.2).
func TestEventHubKilledInTheRetryWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killVariable+"="+dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killErr := child.Process.Kill(); killErr != nil {
		t.Errorf("kill: %v", killErr)
	}
	_ = child.Wait() // it was killed
	if err != nil || line != "waiting\n" {
		t.Fatalf("the process said %q, %v", line, err)
	}

	db, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin, err := host.StartTime(db)
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(begin, &clock.VirtualOptions{Strict: true})
	var got []string
	appDir := t.TempDir()
	if err := os.WriteFile(appDir+"/host.json", []byte(oneHub("")["host.json"]), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := keptHub(appDir, db, clk, func(line string) { got = append(got, line) })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	clk.Advance(5 * time.Hour)
	if diff := cmp.Diff([]string{"bad/0", "bad/1", "bad/2", "bad/3", "bad/4"}, got); diff != "" {
		t.Errorf("attempts after the kill (-want +got):\n%s", diff)
	}
}
