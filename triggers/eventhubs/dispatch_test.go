package eventhubs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
)

func (w *world) wantHandled(r *running, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, r.handled()); diff != "" {
		w.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// One batch of a partition is in work at a time; partitions run side by side.
func TestPartitionsAreInParallel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	var log []string
	r := w.listen(&eventhubs.Options{Batch: true, MaxEventBatchSize: 2}, func(ctx context.Context, ev *triggers.Event) error {
		log = append(log, "begin "+ev.Messages[0].Value.Text)
		err := w.clk.Sleep(ctx, time.Minute)
		log = append(log, "end "+ev.Messages[0].Value.Text)
		return err
	})
	w.send(0, "a", "b", "c")
	w.send(1, "x")
	w.clk.Advance(3 * time.Minute)
	w.wantHandled(r, "0: a b", "1: x", "0: c")
	if diff := cmp.Diff([]string{"begin a", "begin x", "end a", "begin c", "end x", "end c"}, log); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// One by one: in order, and a failure does not stop the rest; one checkpoint at the
// end.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var written []eventhubs.CheckpointWritten
	w.send(0, "a", "b", "c")
	r := w.listen(&eventhubs.Options{Written: func(c eventhubs.CheckpointWritten) { written = append(written, c) }}, func(_ context.Context, ev *triggers.Event) error {
		if ev.Messages[0].Value.Text == "b" {
			return errHandler
		}
		return nil
	})
	w.wantHandled(r, "0: a", "0: b", "0: c")
	if diff := cmp.Diff([]string{"checkpointed", "checkpointed", "checkpointed"}, r.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	if len(written) != 1 || written[0].SequenceNumber != 2 || written[0].Source != "Orders/ConsumerGroups/$Default/Partitions/0" {
		t.Errorf("checkpoints %+v, want one behind event 2", written)
	}
}

// The checkpoint is written whatever came of the batch, where and as the platform
// does.
func TestCheckpointAfterFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{Batch: true, Owner: "me"}, func(context.Context, *triggers.Event) error { return errHandler })
	w.send(0, "a", "b")
	if diff := cmp.Diff([]string{"checkpointed"}, r.decisions()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
	got := w.metadata(checkpoints + "0")
	offset := got["offset"]
	if diff := cmp.Diff(map[string]string{"sequencenumber": "1", "offset": offset, "clientidentifier": "me"}, got); diff != "" || offset == "" {
		t.Errorf("checkpoint (-want +got):\n%s", diff)
	}
	if got := w.owners(1); got != "me" {
		t.Errorf("owner %q, want me", got)
	}
	r.stop()
	if got := w.owners(1); got != "" {
		t.Errorf("owner %q after the stop, want none", got)
	}
	w.send(0, "c")
	again := w.listen(nil, nil)
	w.wantHandled(again, "0: c")
}

// Every so many batches (EventHubListenerTests.cs: 4 over 100 writes 25, 8 writes 12,
// 32 writes 3, 128 none).
func TestCheckpointFrequency(t *testing.T) {
	t.Parallel()
	for frequency, want := range map[int]int{1: 100, 4: 25, 8: 12, 32: 3, 128: 0} {
		t.Run(fmt.Sprint(frequency), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			written := 0
			r := w.listen(&eventhubs.Options{Batch: true, MaxEventBatchSize: 1, CheckpointFrequency: frequency, Written: func(eventhubs.CheckpointWritten) { written++ }}, nil)
			w.send(0, strings.Split(strings.Repeat("e", 100), "")...)
			if len(r.Handled()) != 100 || written != want {
				t.Errorf("%d batches, %d checkpoints, want 100, %d", len(r.Handled()), written, want)
			}
		})
	}
}

// Without checkpoints none is written, whatever the frequency, and the next start reads
// all again; one that is there already still counts (spec drift-2026 C-8).
func TestNoCheckpoints(t *testing.T) {
	t.Parallel()
	for frequency := range 5 {
		t.Run(fmt.Sprint(frequency), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.send(0, "a")
			before := w.listen(nil, nil)
			w.wantHandled(before, "0: a")
			before.stop()
			w.send(0, "b", "c")
			off := &eventhubs.Options{Batch: true, MaxEventBatchSize: 1, CheckpointFrequency: frequency, NoCheckpoints: true}
			for range 2 {
				r := w.listen(off, nil)
				w.wantHandled(r, "0: b", "0: c")
				r.stop()
				if got := w.sequence(0); got != "0" {
					t.Errorf("checkpoint %q, want 0", got)
				}
			}
		})
	}
}

// No checkpoint when the host stops in the middle: the batch comes again.
func TestStopInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.send(0, "a")
	first := w.listen(&eventhubs.Options{Batch: true}, func(ctx context.Context, _ *triggers.Event) error { return w.clk.Sleep(ctx, time.Hour) })
	first.stop()
	if diff := cmp.Diff([]string{"not_checkpointed"}, first.decisions()); diff != "" || w.sequence(0) != "" {
		t.Errorf("checkpoint %q, decisions (-want +got):\n%s", w.sequence(0), diff)
	}
	second := w.listen(&eventhubs.Options{Batch: true}, nil)
	w.wantHandled(second, "0: a")
	if got := w.sequence(0); got != "0" {
		t.Errorf("checkpoint %q, want 0", got)
	}
}

// A drain leaves the token alone, and the function comes to its end; there is no
// checkpoint all the same (spec drift-2026 C-11, C-12).
func TestDrainInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.send(0, "a")
	var result error
	first := w.listen(&eventhubs.Options{Batch: true}, func(ctx context.Context, _ *triggers.Event) error {
		result = w.clk.Sleep(ctx, time.Hour)
		return result
	})
	w.clk.Do("drain", first.Drain)
	w.clk.Do("stop", first.cancel)
	w.clk.Advance(2 * time.Hour)
	if diff := cmp.Diff([]string{"not_checkpointed"}, first.decisions()); diff != "" || result != nil || w.sequence(0) != "" || !first.ended {
		t.Errorf("result %v, checkpoint %q, ended %v, decisions (-want +got):\n%s", result, w.sequence(0), first.ended, diff)
	}
	w.wantHandled(w.listen(nil, nil), "0: a")
}

// A batch that is too small waits, but not the first one without a checkpoint, and the
// first one with a recent checkpoint no longer than since then.
func TestMinimumBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	opts := &eventhubs.Options{Batch: true, MinEventBatchSize: 3, MaxEventBatchSize: 4, MaxWait: 10 * time.Minute}
	w.send(0, "a")
	r := w.listen(opts, nil)
	w.wantHandled(r, "0: a") // no checkpoint: at once
	w.send(0, "b", "c")
	w.wantHandled(r, "0: a")
	w.send(0, "d")
	w.wantHandled(r, "0: a", "0: b c d")
	w.send(0, "e")
	if moved := w.clk.Run(time.Hour); moved != 10*time.Minute {
		t.Errorf("the wait for more moved time by %v, want 10m", moved)
	}
	w.wantHandled(r, "0: a", "0: b c d", "0: e")
	r.stop()

	w.clk.Advance(4 * time.Minute)
	w.send(0, "f")
	r = w.listen(opts, nil)
	w.wantHandled(r)
	w.clk.Advance(6*time.Minute - time.Second)
	w.wantHandled(r)
	w.clk.Advance(time.Second)
	w.wantHandled(r, "0: f")
	w.send(0, "g")
	r.stop() // what is held is dropped, and has no checkpoint
	if got := w.sequence(0); got != "5" {
		t.Errorf("checkpoint %q, want 5", got)
	}
	w.clk.Advance(time.Hour)
	w.wantHandled(w.listen(opts, nil), "0: g")
}

// Where a partition without a checkpoint begins.
func TestInitialOffset(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from eventhubsapi.Position
		want []string
	}{
		"fromStart":        {eventhubsapi.Position{}, []string{"0: a", "0: b", "0: c"}},
		"fromEnd":          {eventhubsapi.Position{Latest: true}, []string{"0: c"}},
		"fromEnqueuedTime": {eventhubsapi.Position{EnqueuedTime: start.Add(time.Second)}, []string{"0: b", "0: c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.send(0, "a")
			w.clk.Advance(time.Minute)
			w.send(0, "b")
			r := w.listen(&eventhubs.Options{Initial: test.from}, nil)
			w.send(0, "c")
			w.wantHandled(r, test.want...)
		})
	}
}

// A checkpoint that cannot be written is tried again with the next batch, and the
// settlement says why.
func TestCheckpointFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{Batch: true}, nil)
	w.fault = func(p storage.FaultPoint) error { return bindings.ErrUnavailable }
	w.send(0, "a")
	w.fault = nil
	w.send(0, "b")
	got := r.Settlements()
	if len(got) != 2 || got[0].Settlement.Err == nil || got[0].Settlement.Decision != triggers.NotCheckpointed || got[1].Settlement.Decision != triggers.Checkpointed {
		t.Fatalf("settlements %+v", got)
	}
	if got := w.sequence(0); got != "1" {
		t.Errorf("checkpoint %q, want 1", got)
	}
}

// The container that somebody removed is made anew.
func TestCheckpointWithoutContainer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{Batch: true, Alone: true}, nil)
	w.do(func(ctx context.Context) error { return w.container().Delete(ctx, nil) })
	w.clk.Advance(time.Minute) // the name is free again
	w.send(0, "a")
	if diff := cmp.Diff([]string{"checkpointed"}, r.decisions()); diff != "" || w.sequence(0) != "0" {
		t.Errorf("checkpoint %q, decisions (-want +got):\n%s", w.sequence(0), diff)
	}
}

// Binding data of single events and of batches.
func TestMetadata(t *testing.T) {
	t.Parallel()
	key := "k"
	want := map[string]string{
		"PartitionKey": `"k"`, "Offset": `"0"`, "OffsetString": `"0"`, "SequenceNumber": "0", "EnqueuedTimeUtc": `"2026-01-02T03:04:05"`,
		"Properties": `{"g":"01000000-0000-0000-0000-000000000000","n":1}`,
		"SystemProperties": `{"EnqueuedTimeUtc":"2026-01-02T03:04:05","Offset":0,"OffsetString":"0","PartitionKey":"k","SequenceNumber":0,` +
			`"content-type":"text/plain","correlation-id":"c","message-id":"m","x-opt-enqueued-time":"2026-01-02T03:04:05+00:00",` +
			`"x-opt-offset":"0","x-opt-partition-key":"k","x-opt-sequence-number":0}`,
		"PartitionContext": `{"FullyQualifiedNamespace":"Contoso.local","EventHubName":"Orders","ConsumerGroup":"$Default","PartitionId":"0","IsCheckpointingAfterInvocation":true}`,
	}
	for _, batch := range []bool{false, true} {
		t.Run(fmt.Sprint("batch ", batch), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			r := w.listen(&eventhubs.Options{Batch: batch}, nil)
			w.do(func(ctx context.Context) error {
				return w.ns.SendEvents(ctx, "orders", &eventhubsapi.SendOptions{PartitionKey: &key}, &eventhubsapi.Event{
					Body: []byte(`{"id":7}`), MessageID: "m", CorrelationID: "c", ContentType: "text/plain",
					Properties: map[string]any{"n": int32(1), "g": bindings.GUID{1}},
				})
			})
			ev := r.Handled()[0]
			if ev.DeliveryCount != 0 || ev.Batch != batch || ev.Messages[0].ID != "m" {
				t.Errorf("event %+v", ev)
			}
			got := map[string]string{}
			for name, v := range ev.Messages[0].Metadata {
				if at, ok := v.(time.Time); ok {
					v = bindings.PlainTimeJSON(at)
				}
				text, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				if single, ok := strings.CutSuffix(name, "Array"); ok {
					name, text = single, text[1:len(text)-1]
				}
				got[name] = string(text)
			}
			if !batch {
				if got["id"] != `"7"` {
					t.Errorf("binding data of the body: %v", got)
				}
				delete(got, "id")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		})
	}
}

// An event without a key has no PartitionKey; in a batch its place is null, so that the
// arrays stay as long as the batch.
func TestMetadataWithoutKey(t *testing.T) {
	t.Parallel()
	key := "k"
	for _, batch := range []bool{false, true} {
		w := newWorld(t, 1)
		w.send(0, "a")
		w.do(func(ctx context.Context) error {
			return w.ns.SendEvents(ctx, "orders", &eventhubsapi.SendOptions{PartitionKey: &key}, &eventhubsapi.Event{Body: []byte("b")})
		})
		w.clk.Advance(time.Second)
		metadata := w.listen(&eventhubs.Options{Batch: batch}, nil).Handled()[0].Messages[0].Metadata
		if _, ok := metadata["PartitionKey"]; ok {
			t.Errorf("batch %v: metadata %v of an event without a key", batch, metadata)
		}
		names := slices.Sorted(maps.Keys(metadata))
		want := []string{"EnqueuedTimeUtc", "Offset", "OffsetString", "PartitionContext", "Properties", "SequenceNumber", "SystemProperties"}
		if batch {
			want = []string{"EnqueuedTimeUtcArray", "OffsetArray", "OffsetStringArray", "PartitionContext", "PartitionKeyArray", "PropertiesArray", "SequenceNumberArray", "SystemPropertiesArray"}
			if got := fmt.Sprintf("%s %s", metadata["PartitionKeyArray"], metadata["SequenceNumberArray"]); got != `[null,"k"] [0,1]` {
				t.Errorf("arrays %s", got)
			}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("batch %v: names (-want +got):\n%s", batch, diff)
		}
	}
}

// The form of a body by dataType and cardinality. Source: WEH
// Config/EventHubExtensionConfigProvider.cs (its text never fails); webjobs sdk,
// BindingFactoryHelpers.cs.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		body, dataType string
		batch          bool
		want           bindings.Value
		fails          bool
	}{
		{body: `{ "a": 1 }`, want: bindings.StringValue(`{ "a": 1 }`)},
		{body: "a\xff", want: bindings.StringValue("a\uFFFD")},
		{body: "a\xff", dataType: "string", want: bindings.StringValue("a\uFFFD")},
		{body: "\xff", dataType: "binary", want: bindings.BytesValue([]byte("\xff"))},
		{body: `{ "a": 1 }`, batch: true, want: bindings.JSONValue([]byte(`{"a":1}`))},
		{body: `7`, dataType: "undefined", batch: true, want: bindings.JSONValue([]byte(`7`))},
		{body: ``, batch: true, want: bindings.JSONValue([]byte(`null`))},
		{body: `plain`, batch: true, fails: true},
		{body: "\xff", batch: true, fails: true},
		{body: `plain`, dataType: "String", batch: true, want: bindings.StringValue(`plain`)},
		{body: "\xff", dataType: "Binary", batch: true, want: bindings.BytesValue([]byte("\xff"))},
	} {
		m := eventhubs.Message([]byte(tt.body), tt.dataType, tt.batch)
		if diff := cmp.Diff(tt.want, m.Value); diff != "" || (m.Err != nil) != tt.fails {
			t.Errorf("%q as %q, batch %v: %v (-want +got):\n%s", tt.body, tt.dataType, tt.batch, m.Err, diff)
		}
	}
}

// An offset that is no number is -1 beside its text (spec drift-2026 C-24).
func TestOffsetOfOtherForm(t *testing.T) {
	t.Parallel()
	for offset, want := range map[string]string{"0": "0", "4294967296": "4294967296", "1:27:65": "-1", "": "-1"} {
		if got := eventhubs.NumericOffset(offset); got != want {
			t.Errorf("offset %q: %q, want %q", offset, got, want)
		}
	}
}

// A hub that is not there stops Run with an error.
func TestNoHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.do(func(ctx context.Context) error { return w.ns.DeleteHub(ctx, "orders") })
	r := w.listen(nil, nil)
	if !r.ended || r.err == nil || !strings.Contains(r.err.Error(), `event hub "Orders"`) {
		t.Errorf("ended %v, %v", r.ended, r.err)
	}
}

// A consumer group that is not there stops Run with one error for all partitions, at the
// start and when the hub goes later.
func TestNoConsumerGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	r := w.listen(&eventhubs.Options{ConsumerGroup: "audit", Owner: "me"}, nil)
	if !r.ended || !errors.Is(r.err, bindings.ErrNotFound) || !strings.Contains(r.err.Error(), `event hub "Orders": `) || strings.Count(r.err.Error(), "ConsumerGroups/audit") != 1 {
		t.Errorf("ended %v, %v", r.ended, r.err)
	}
	if got := w.metadata("contoso.local/orders/audit/ownership/0")["ownerid"]; got != "" {
		t.Errorf("owner %q after the end, want none", got)
	}
	w.do(func(ctx context.Context) error { return w.ns.CreateConsumerGroup(ctx, "orders", "audit") })
	r = w.listen(&eventhubs.Options{ConsumerGroup: "AUDIT"}, nil)
	w.send(0, "a")
	w.wantHandled(r, "0: a")
	w.do(func(ctx context.Context) error { return w.ns.DeleteHub(ctx, "orders") })
	if !r.ended || !errors.Is(r.err, bindings.ErrNotFound) {
		t.Errorf("the hub has gone: ended %v, %v", r.ended, r.err)
	}
}

// A circuit breaker that lets few through: no more events are run than it admits.
func TestAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	r := w.listen(&eventhubs.Options{MaxEventBatchSize: 1}, nil)
	w.clk.Do("limit", func() { r.Limit(2) })
	w.send(0, "a", "b", "c", "d", "e")
	w.wantHandled(r, "0: a", "0: b")
	if got := w.sequence(0); got != "1" {
		t.Errorf("checkpoint %q, want 1", got)
	}
	if room := r.Room(); room != 0 {
		t.Errorf("%d admissions are left, want none", room)
	}
}
