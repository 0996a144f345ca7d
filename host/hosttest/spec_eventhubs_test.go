package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/explain"
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
// batch runs (issue, acceptance; spec messaging 6.2).
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

// Time jumps for the retry wait of a paused partition, and not for a wait for events.
// The other partitions go on.
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

// One by one, each event has its own retries: an event that fails for good does not stop
// the events behind it, and the checkpoint of the batch comes after all of them.
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

// -1 blocks the partition until success (spec messaging 6.2).
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

// The values of handlers, for one event and for a batch, and the events of an
// output.
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
		err := h.Services().EventHubs().SendEvents(context.Background(), "orders", &eventhubs.SendOptions{PartitionKey: &key}, &eventhubs.Event{
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

// enableCheckpointing false: no checkpoint, also after the give-up, and neither check nor
// explain says that it moves on (spec drift-2026 C-8).
func TestEventHubWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	runs := 0
	handlers.EventHubBatch("Read", "orders", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error {
		if runs++; runs <= 2 {
			return errors.New("refused")
		}
		return nil
	}, functions.FixedDelay(1, time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: oneHub(`"enableCheckpointing":false`)})
	h.SendEvents("orders", "", "a")
	h.SendEvents("orders", "", "b")
	h.Run(time.Minute)
	h.WantSettled("Read", triggers.NotCheckpointed, triggers.NotCheckpointed)
	if n := h.Checkpoint("orders", "$Default", "0"); n != -1 || runs != 3 {
		t.Errorf("checkpoint %d, %d runs", n, runs)
	}
	lives := explain.Explain(h.Journal().Records(), explain.Subject{})
	if len(lives) != 2 {
		t.Fatalf("%d lives", len(lives))
	}
	for _, l := range lives {
		const want = "nothing: the batch is done for this process, and a restart reads it again"
		if l.Next != want || !l.Over {
			t.Errorf("next %q, over %v; want %q", l.Next, l.Over, want)
		}
	}
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
