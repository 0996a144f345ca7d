package blob_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/blob"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

// message is a control message for inbox/a as it is now.
func (b *bench) message(functionID, blobType string) string {
	b.Helper()
	etag := `"0x1"`
	b.do(func(ctx context.Context) {
		if p, err := b.blob("inbox/a").Properties(ctx, nil); err == nil {
			etag = p.ETag
		}
	})
	return fmt.Sprintf(`{"Type":"BlobTrigger","FunctionId":%q,"BlobType":%q,"ContainerName":"inbox","BlobName":"a","ETag":%q}`, functionID, blobType, etag)
}

// The cases of spec storage 9.4 that need no function, or leave it alone.
func TestControlMessages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		text   func(b *bench) string
		poison []string
	}{
		{"not JSON", func(*bench) string { return queueapi.Base64.Encode([]byte("{x")) }, []string{"{x"}},
		{"null", func(*bench) string { return queueapi.Base64.Encode([]byte("null")) }, []string{"null"}},
		{"no function ID", func(*bench) string { return queueapi.Base64.Encode([]byte(`{"Type":"BlobTrigger"}`)) }, []string{`{"Type":"BlobTrigger"}`}},
		{"empty function ID", func(b *bench) string { return queueapi.Base64.Encode([]byte(b.message("", "BlockBlob"))) }, []string{}},
		{"another function", func(b *bench) string { return queueapi.Base64.Encode([]byte(b.message("g", "BlockBlob"))) }, []string{}},
		{"not base64", func(*bench) string { return "plain text!" }, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
			b.send(tt.text(b))
			b.clk.Advance(time.Minute)
			h.wantSources("f")
			h.wantSettled("f")
			if diff := cmp.Diff(b.queue(blob.PoisonQueue), tt.poison); diff != "" {
				t.Errorf("poison queue (-got +want):\n%s", diff)
			}
			b.do(func(ctx context.Context) {
				if n, err := b.storage.Queue(control).Count(ctx); n != 0 || err != nil {
					t.Errorf("control queue holds %d messages, %v, want 0", n, err)
				}
			})
		})
	}
}

func TestBlobThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
	b.send(queueapi.Base64.Encode([]byte(b.message("f", "BlockBlob"))))
	b.clk.Advance(time.Second)
	h.wantSources("f")
	h.wantSettled("f", triggers.Deleted)
	if note := h.sinks["f"].Settlements()[0].Settlement.Note; note != blob.NoteGone {
		t.Errorf("note = %q, want %q", note, blob.NoteGone)
	}
}

// The reader takes the old short form of the blob's type.
func TestShortBlobType(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "other-1/{name}"})
	b.upload("inbox/a", "x")
	b.send(queueapi.Base64.Encode([]byte(b.message("f", "Block"))))
	b.clk.Advance(time.Second)
	h.wantSources("f", "inbox/a")
}

// A message that was delivered too often is poison without a run (S-2).
func TestCountAboveTheMaximum(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	text := b.message("f", "BlockBlob")
	b.send(queueapi.Base64.Encode([]byte(text)))
	b.do(func(ctx context.Context) {
		for range 5 {
			m, err := b.storage.Queue(control).Receive(ctx, 1, time.Second)
			b.must(err)
			_, err = b.storage.Queue(control).Update(ctx, m[0].ID, m[0].PopReceipt, nil, 0)
			b.must(err)
		}
	})
	h := b.start(nil, function{id: "f", pattern: "other-1/{name}"})
	b.clk.Advance(time.Second)
	h.wantSources("f")
	h.wantSettled("f", triggers.Poisoned)
	if diff := cmp.Diff(b.queue(blob.PoisonQueue), []string{text}); diff != "" {
		t.Errorf("poison queue (-got +want):\n%s", diff)
	}
}

// Poison goes to the account of the blob, receipts stay in the host's (S-14).
func TestAccounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	data := emulator.New(b.clk, &emulator.Options{Seed: 7})
	pattern, err := blobapi.ParsePattern("inbox/{name}")
	b.must(err)
	shared := blob.NewShared(b.clk, b.account(), hostID, &blob.Options{WakeUp: true})
	sink := triggertest.NewSink(b.clk, fail)
	h := &running{b: b, shared: shared}
	b.hosts = append(b.hosts, h)
	b.do(func(context.Context) {
		var ctx context.Context
		ctx, h.cancel = b.clk.WithCancel(context.Background())
		clock.NewGroup(b.clk, 0).Go("listener", func() {
			_ = shared.Listener(&blob.Function{
				ID: "f", Pattern: pattern, Account: blob.Account{Name: "Data", Blobs: data, Queues: data},
			}).Run(ctx, sink)
		})
	})
	b.do(func(ctx context.Context) { b.must(put(ctx, data, "inbox", "a", "x")) })
	b.clk.Advance(time.Minute)
	b.do(func(ctx context.Context) {
		m, err := data.Queue(blob.PoisonQueue).Peek(ctx, 32)
		if err != nil || len(m) != 1 {
			t.Errorf("poison queue of the data account: %d messages, %v, want 1", len(m), err)
		}
	})
	if got := b.queue(blob.PoisonQueue); len(got) != 0 {
		t.Errorf("poison queue of the host's account holds %q, want nothing", got)
	}
	if got := b.names(blob.HostContainer, "blobreceipts/"); len(got) != 1 {
		t.Errorf("%d receipts in the host's account, want 1", len(got))
	}
}

// While the circuit breaker of the only function is open, nothing is taken off the
// queue: no count moves (spec host-and-retry 14.2).
func TestNothingIsTakenWhileClosed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "inbox/{name}"})
	b.do(func(context.Context) { h.sinks["f"].Close() })
	b.clk.Advance(time.Second)
	b.upload("inbox/first", "x") // ends the wait of a poll that was admitted
	b.clk.Advance(5 * time.Second)
	b.upload("inbox/a", "x")
	b.clk.Advance(time.Hour)
	b.do(func(ctx context.Context) {
		messages, err := b.storage.Queue(control).Peek(ctx, 32)
		b.must(err)
		if n := len(messages); n == 0 || messages[n-1].DequeueCount != 0 {
			t.Errorf("%d messages wait, want the messages of a closed function untouched", n)
		}
	})
	b.do(func(context.Context) { h.sinks["f"].Open() })
	b.clk.Advance(time.Second)
	h.wantSources("f", "inbox/first", "inbox/a")
}

// Where functions share the queue, one that is closed does not stop the others;
// its message waits with its lock renewed.
func TestClosedFunctionDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "inbox/f{n}"}, function{id: "g", pattern: "inbox/g{n}"})
	b.do(func(context.Context) { h.sinks["f"].Close() })
	b.upload("inbox/f1", "x")
	b.upload("inbox/g1", "x")
	b.clk.Advance(time.Hour)
	h.wantSources("f")
	h.wantSources("g", "inbox/g1")
	b.do(func(context.Context) { h.sinks["f"].Open() })
	b.clk.Advance(time.Second)
	h.wantSources("f", "inbox/f1")
	if n := h.sinks["f"].Handled()[0].DeliveryCount; n != 1 {
		t.Errorf("delivery count = %d, want 1", n)
	}
}

// An admission that leads to no run is given back.
func TestUnusedAdmissionsAreGivenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	h := b.start(nil, function{id: "f", pattern: "other-1/{name}"})
	b.do(func(context.Context) { h.sinks["f"].Limit(3) })
	b.clk.Advance(time.Minute)
	b.send("not base64!")
	b.send(queueapi.Base64.Encode([]byte(b.message("unknown", "BlockBlob"))))
	b.send(queueapi.Base64.Encode([]byte(b.message("f", "BlockBlob")))) // gone
	b.clk.Advance(time.Minute)
	if n := h.sinks["f"].Room(); n != 3 {
		t.Errorf("%d admissions are left of 3, want 3", n)
	}
	b.upload("other-1/a", "x")
	b.clk.Advance(time.Minute)
	if n := h.sinks["f"].Room(); n != 2 || len(h.sources("f")) != 1 {
		t.Errorf("%d admissions are left and %q ran, want 2 and one", n, h.sources("f"))
	}
}

// A message for a function whose listener has not begun yet waits for it.
func TestFunctionThatBeginsLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.upload("inbox/a", "x")
	h := b.start(&blob.Options{WakeUp: true, Functions: []string{"f", "g"}}, function{id: "f", pattern: "other-1/{name}"})
	b.send(queueapi.Base64.Encode([]byte(b.message("g", "BlockBlob"))))
	b.clk.Advance(time.Hour)
	b.do(func(ctx context.Context) {
		if n, err := b.storage.Queue(control).Count(ctx); n != 1 || err != nil {
			t.Errorf("control queue holds %d messages, %v, want 1", n, err)
		}
	})
	h.stop()
}

// A host that died keeps the lock until the end of its lease.
func TestLockOfADeadHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.do(func(ctx context.Context) {
		b.must(put(ctx, b.storage, blob.HostContainer, blob.LockName(hostID), ""))
		_, err := b.storage.Container(blob.HostContainer).Blob(blob.LockName(hostID)).AcquireLease(ctx, time.Minute, "", nil)
		b.must(err)
	})
	b.upload("inbox/a", "x")
	h := b.start(&blob.Options{}, function{id: "f", pattern: "inbox/{name}"})
	b.clk.Advance(50 * time.Second)
	h.wantSources("f")
	b.clk.Advance(20 * time.Second)
	h.wantSources("f", "inbox/a")
}

// The event that a function receives (spec storage 10).
func TestMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var read []bindings.Value
	h := b.start(nil, function{id: "f", pattern: "inbox/{uri}.{ext}", handle: func(ctx context.Context, ev *triggers.Event) triggers.Result {
		v, err := ev.Messages[0].Read(ctx)
		if err != nil {
			t.Error(err)
		}
		read = append(read, v)
		return triggers.Result{Attempts: 1}
	}})
	b.upload("inbox/d/a.txt", "hello")
	ev := h.sinks["f"].Handled()[0]
	m := ev.Messages[0]
	const now = "2024-01-02T03:04:05.000+00:00"
	details := []triggers.Detail{{Name: "InsertedOn", Value: now}, {Name: "BlobCreated", Value: now}, {Name: "BlobLastModified", Value: now}}
	if diff := cmp.Diff(ev.Details, details); diff != "" {
		t.Errorf("details (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(read, []bindings.Value{bindings.BytesValue([]byte("hello"))}); diff != "" {
		t.Errorf("value (-got +want):\n%s", diff)
	}
	if m.ID == "" || ev.DeliveryCount != 1 {
		t.Errorf("event = %+v, want the control message's ID and count", ev)
	}
	properties, _ := m.Metadata["Properties"].(map[string]any)
	if properties["ContentLength"] != int64(5) {
		t.Errorf("properties = %v", properties)
	}
	delete(m.Metadata, "Properties")
	want := map[string]any{"BlobTrigger": "inbox/d/a.txt", "uri": "d/a", "ext": "txt", "Metadata": map[string]string{}}
	if diff := cmp.Diff(m.Metadata, want); diff != "" {
		t.Errorf("metadata (-got +want), a parameter wins:\n%s", diff)
	}
}

// The same on the real clock, for the race detector: hosts, functions, writers.
func TestOnTheSystemClock(t *testing.T) {
	t.Parallel()
	clk := clock.System()
	storage := emulator.New(clk, nil)
	account := blob.Account{Name: "Storage", Blobs: storage, Queues: storage}
	pattern, err := blobapi.ParsePattern("inbox/{name}")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := clk.WithCancel(context.Background())
	group := clock.NewGroup(clk, 0)
	sink := triggertest.NewSink(clk, nil)
	for range 2 {
		shared := blob.NewShared(clk, account, hostID, &blob.Options{WakeUp: true, Functions: []string{"f", "g"}})
		for _, id := range []string{"f", "g"} {
			group.Go("listener", func() {
				if err := shared.Listener(&blob.Function{ID: id, Pattern: pattern, Account: account}).Run(ctx, sink); err != nil {
					t.Error(err)
				}
			})
		}
	}
	writers := clock.NewGroup(clk, 0)
	for i := range 4 {
		writers.Go("writer", func() {
			for j := range 10 {
				if err := put(ctx, storage, "inbox", fmt.Sprint(i, j), "x"); err != nil {
					t.Error(err)
				}
				runtime.Gosched()
			}
		})
	}
	writers.Wait()
	if err := sink.WaitSettled(ctx, 80); err != nil {
		t.Error(err)
	}
	cancel()
	group.Wait()
	if n := len(sink.Handled()); n != 80 {
		t.Errorf("%d runs, want one for each of 40 blobs and 2 functions", n)
	}
}

// stoppingQueues calls stop just before a receive from a queue returns messages.
type stoppingQueues struct {
	*emulator.Storage
	stop func()
}

func (a stoppingQueues) Queue(name string) queueapi.Queue {
	return stoppingQueue{a.Storage.Queue(name), a.stop}
}

type stoppingQueue struct {
	queueapi.Queue
	stop func()
}

func (q stoppingQueue) Receive(ctx context.Context, n int, d time.Duration) ([]*queueapi.Message, error) {
	ms, err := q.Queue.Receive(context.WithoutCancel(ctx), n, d)
	if len(ms) > 0 {
		q.stop()
	}
	return ms, err
}

// A control message that arrives with the stop is handed back, and said for the function
// that it is for; nothing stays admitted.
func TestControlMessageThatComesTooLate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		names []string
	}{{"only function", []string{"f"}}, {"one of two", []string{"f", "g"}}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.upload("inbox/a", "x")
			b.send(queueapi.Base64.Encode([]byte(b.message("f", "BlockBlob"))))
			pattern, err := blobapi.ParsePattern("other-1/{name}")
			b.must(err)
			h := &running{b: b}
			account := b.account()
			account.Queues = stoppingQueues{b.storage, func() { h.cancel() }}
			shared := blob.NewShared(b.clk, account, hostID, &blob.Options{WakeUp: true, Functions: test.names})
			sink := triggertest.NewSink(b.clk, nil)
			ended := false
			b.do(func(context.Context) {
				sink.Limit(1)
				var ctx context.Context
				ctx, h.cancel = b.clk.WithCancel(context.Background())
				clock.NewGroup(b.clk, 0).Go("listener", func() {
					b.must(shared.Listener(&blob.Function{ID: "f", Pattern: pattern, Account: account}).Run(ctx, sink))
					ended = true
				})
			})
			b.clk.Advance(time.Second)
			if !ended || len(sink.Handled()) != 0 {
				t.Errorf("ended %v, handled %d: want no run", ended, len(sink.Handled()))
			}
			settled := sink.Settlements()
			if len(settled) != 1 {
				t.Fatalf("%d settlements, want one", len(settled))
			}
			want := triggers.Settlement{Decision: triggers.Released, Note: queue.NoteLate}
			if diff := cmp.Diff(settled[0].Settlement, want); diff != "" {
				t.Errorf("settlement (-got +want):\n%s", diff)
			}
			if ev := settled[0].Event; ev.Source != "inbox/a" || ev.DeliveryCount != 1 || ev.Messages[0].ID == "" {
				t.Errorf("settled %+v, want the first delivery of the blob", ev)
			}
			if room := sink.Room(); room != 1 {
				t.Errorf("%d deliveries may be admitted, want 1", room)
			}
		})
	}
}
