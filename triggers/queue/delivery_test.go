package queue_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
)

// hello is a body that was base64-encoded with line ends in it, as some tools do.
const hello = "aGVs\r\nbG8="

func TestSuccessDeletes(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(nil, succeed)
	b.put(hello)
	b.clk.Advance(time.Second)
	if diff := cmp.Diff(b.decisions(), []triggers.Decision{triggers.Deleted}); diff != "" {
		t.Errorf("decisions (-got +want):\n%s", diff)
	}
	if n := b.count(); n != 0 {
		t.Errorf("%d messages left, want 0", n)
	}
}

// spec storage 20, rows 2 and 3: counts 1 to 5, then poison with the same body.
func TestAlwaysFailingMessageBecomesPoison(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	var times []time.Duration
	b.start(&queue.Options{WakeUp: true}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		times = append(times, b.elapsed())
		return fail(ctx, ev)
	})
	b.put("aGVsbG8=")
	b.clk.Advance(3 * time.Second)
	if diff := cmp.Diff(b.counts(), []int64{1, 2, 3, 4, 5}); diff != "" {
		t.Errorf("delivery counts (-got +want):\n%s", diff)
	}
	released := triggers.Released
	if diff := cmp.Diff(b.decisions(), []triggers.Decision{released, released, released, released, triggers.Poisoned}); diff != "" {
		t.Errorf("decisions (-got +want):\n%s", diff)
	}
	if total := times[4] - times[0]; total > time.Second {
		t.Errorf("five deliveries took %v, want about a second or less", total)
	}
	want := triggers.Settlement{Decision: triggers.Poisoned, Target: "orders-poison", Copy: b.only("orders-poison"), Failure: errHandler,
		Note: "Message has reached MaxDequeueCount of 5. Moving message to queue 'orders-poison'."}
	if diff := cmp.Diff(b.last(), want, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("settlement (-got +want):\n%s", diff)
	}
	poison := b.visible("orders-poison")
	if len(poison) != 1 || poison[0].Text != "aGVsbG8=" || poison[0].DequeueCount != 0 ||
		poison[0].Expires.Sub(poison[0].Inserted) != queueapi.DefaultMessageTTL {
		t.Errorf("poison queue = %+v, want the text, dequeue count 0, 7 days", poison)
	}
	if n := b.count(); n != 0 {
		t.Errorf("%d messages left in the queue, want 0", n)
	}
}

// Virtual time jumps for a message that is to come back, and not for an empty
// queue.
func TestRunEndsWithTheLastDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(&queue.Options{WakeUp: true, VisibilityTimeout: 30 * time.Minute}, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		_ = b.clk.Sleep(ctx, time.Hour)
		return fail(ctx, ev)
	})
	b.clk.Run(24 * time.Hour)
	if b.elapsed() != 0 {
		t.Errorf("an empty queue made %v pass", b.elapsed())
	}
	b.put("aGVsbG8=")
	b.clk.Run(24 * time.Hour)
	if got := b.last().Decision; got != triggers.Poisoned {
		t.Errorf("last decision = %q, want poisoned", got)
	}
	if got := b.elapsed(); got < 7*time.Hour || got > 7*time.Hour+time.Minute {
		t.Errorf("elapsed = %v, want 5 deliveries of 1h and 4 waits of 30m", got)
	}
}

func TestVisibilityTimeoutAppliesAfterFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(&queue.Options{WakeUp: true, VisibilityTimeout: 30 * time.Second, MaxDequeueCount: 2}, fail)
	b.put("aGVsbG8=")
	b.clk.Advance(29 * time.Second)
	if diff := cmp.Diff(b.counts(), []int64{1}); diff != "" {
		t.Errorf("delivery counts before the timeout (-got +want):\n%s", diff)
	}
	b.clk.Advance(4 * time.Second)
	if diff := cmp.Diff(b.counts(), []int64{1, 2}); diff != "" {
		t.Errorf("delivery counts after it (-got +want):\n%s", diff)
	}
	if got := b.last().Decision; got != triggers.Poisoned {
		t.Errorf("decision = %q, want poisoned", got)
	}
}

// spec storage 20, row 4.
func TestUndecodableBodyGoesToPoisonUnseen(t *testing.T) {
	t.Parallel()
	const plain = `{"id": "<7>"} `
	b := newBench(t, "orders")
	b.start(nil, succeed)
	b.put(plain)
	b.clk.Advance(time.Second)
	if n := len(b.sink.Handled()); n != 0 {
		t.Errorf("the function ran %d times, want never", n)
	}
	want := triggers.Settlement{
		Decision: triggers.Undecodable, Target: "orders-poison", Note: queue.NoteUndecodable,
		Copy: b.only("orders-poison"), Failure: queueapi.ErrUndecodable,
	}
	if diff := cmp.Diff(b.last(), want, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("settlement (-got +want):\n%s", diff)
	}
	if !strings.Contains(queue.NoteUndecodable, "messageEncoding") {
		t.Errorf("NoteUndecodable = %q, want a hint at messageEncoding", queue.NoteUndecodable)
	}
	if diff := cmp.Diff(texts(b.visible("orders-poison")), []string{plain}); diff != "" {
		t.Errorf("poison queue (-got +want):\n%s", diff)
	}
	if n := b.count(); n != 0 {
		t.Errorf("%d messages left, want 0", n)
	}
}

func TestUndecodableBodyWithoutPoisonQueueStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders-poison")
	b.start(nil, succeed)
	b.put("{plain}")
	b.clk.Advance(10*time.Minute + 3*time.Second)
	want := triggers.Settlement{Decision: triggers.Undecodable, Note: queue.NoteUndecodable}
	all := b.sink.Settlements()
	if len(all) != 2 || len(b.sink.Handled()) != 0 {
		t.Fatalf("%d settlements, %d runs, want one at once, one after the lock, and no run", len(all), len(b.sink.Handled()))
	}
	if diff := cmp.Diff(all[1].Settlement, want); diff != "" {
		t.Errorf("settlement (-got +want):\n%s", diff)
	}
	if n := b.count(); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
}

func TestMessageEncodingNone(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.start(&queue.Options{MessageEncoding: queueapi.Verbatim, MaxDequeueCount: 1}, fail)
	b.put(" grüße\n")
	b.clk.Advance(time.Second)
	if got := b.sink.Handled()[0].Messages[0].Value; got.Text != " grüße\n" {
		t.Errorf("value = %+v", got)
	}
	if diff := cmp.Diff(texts(b.visible("orders-poison")), []string{" grüße\n"}); diff != "" {
		t.Errorf("poison queue (-got +want):\n%s", diff)
	}
}

// dequeue makes the next receive count n+1.
func (b *bench) dequeue(n int) {
	b.do(func(ctx context.Context, q queueapi.Queue) {
		for range n {
			ms, err := q.Receive(ctx, 1, time.Minute)
			if err != nil || len(ms) != 1 {
				b.Fatalf("Receive = %d messages, %v", len(ms), err)
			}
			if _, err := q.Update(ctx, ms[0].ID, ms[0].PopReceipt, nil, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestCountAboveTheMaximumIsMovedWithoutARun(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.put("aGVsbG8=")
	b.dequeue(5)
	b.start(nil, succeed)
	b.clk.Advance(time.Second)
	if n := len(b.sink.Handled()); n != 0 {
		t.Errorf("the function ran %d times, want never", n)
	}
	if got := b.last(); got.Decision != triggers.Poisoned || got.Target != "orders-poison" {
		t.Errorf("settlement = %+v, want poisoned", got)
	}
	if n := len(b.visible("orders-poison")); n != 1 {
		t.Errorf("%d poison messages, want 1", n)
	}
}

// S-3: a poison queue has no poison queue; its messages always run and, when
// they fail, are left alone.
func TestWithoutPoisonQueueAMessageAlwaysRuns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"orders-poison", strings.Repeat("q", 57)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, name)
			b.put("aGVsbG8=")
			b.dequeue(7)
			b.start(nil, fail)
			b.clk.Advance(10 * time.Minute)
			b.clk.Advance(3 * time.Second)
			if diff := cmp.Diff(b.counts(), []int64{8, 9}); diff != "" {
				t.Errorf("delivery counts (-got +want):\n%s", diff)
			}
			want := triggers.Settlement{Decision: triggers.Dropped, Note: queue.NoteNoPoisonQueue}
			if diff := cmp.Diff(b.last(), want); diff != "" {
				t.Errorf("settlement (-got +want):\n%s", diff)
			}
			if n := b.count(); n != 1 {
				t.Errorf("%d messages, want 1", n)
			}
		})
	}
}

func TestHandlerAsksForPoison(t *testing.T) {
	t.Parallel()
	ask := func(err error) handler {
		return func(context.Context, *triggers.Event) triggers.Result {
			return triggers.Result{Err: err, Attempts: 1, Asked: triggers.Request{Decision: triggers.Poisoned}}
		}
	}
	tests := []struct {
		name, queue string
		err         error
		want        triggers.Settlement
	}{
		{"with a failure", "orders", errHandler, triggers.Settlement{Decision: triggers.Poisoned, Target: "orders-poison", Note: queue.NoteAsked, Failure: errHandler}},
		{"with success", "orders", nil, triggers.Settlement{Decision: triggers.Deleted}},
		{"without a poison queue", "orders-poison", errHandler, triggers.Settlement{Decision: triggers.Dropped, Note: queue.NoteNoPoisonQueue}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.queue)
			b.start(nil, ask(tt.err))
			b.put("aGVsbG8=")
			b.clk.Advance(3 * time.Second)
			if n := len(b.sink.Handled()); n != 1 {
				t.Errorf("the function ran %d times, want once", n)
			}
			if tt.want.Failure != nil {
				tt.want.Copy = b.only(tt.want.Target)
			}
			if diff := cmp.Diff(b.last(), tt.want, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("settlement (-got +want):\n%s", diff)
			}
		})
	}
}

// failing makes matching operations fail until it is switched off.
type failing struct {
	op, queue string
	after     bool
	err       error
	off       bool
	hits      int
}

func (f *failing) fault(p storage.FaultPoint) error {
	if f.off || p.Op != f.op || p.Queue != f.queue || p.After != f.after {
		return nil
	}
	f.hits++
	return f.err
}

// The copy fails: the message waits for its lock to end and is moved then,
// without a run, as the count is above the maximum.
func TestPoisonSendFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	f := &failing{op: "Put", queue: "orders-poison", err: bindings.ErrUnavailable}
	b.fault = f.fault
	b.start(&queue.Options{MaxDequeueCount: 1}, fail)
	b.put("aGVsbG8=")
	b.clk.Advance(time.Minute)
	got := b.last()
	if got.Decision != triggers.Dropped || !errors.Is(got.Err, bindings.ErrUnavailable) || got.Target != "orders-poison" {
		t.Errorf("settlement = %+v, want dropped with the error", got)
	}
	if n := b.count(); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	f.off = true
	if moved := b.clk.Run(time.Hour); moved != 0 {
		t.Errorf("a fault of the service moved time by %v", moved)
	}
	b.clk.Advance(10*time.Minute + 3*time.Second - b.elapsed())
	if got := b.last(); got.Decision != triggers.Poisoned || got.Err != nil {
		t.Errorf("settlement = %+v, want poisoned", got)
	}
	if diff := cmp.Diff(b.counts(), []int64{1}); diff != "" {
		t.Errorf("runs (-got +want):\n%s", diff)
	}
	if n := len(b.visible("orders-poison")); n != 1 || b.count() != 0 {
		t.Errorf("%d poison messages, %d left, want 1 and 0", n, b.count())
	}
}

// The delete after the copy fails: the message is in both queues, and a second
// copy follows.
func TestDeleteFailsAfterPoisonCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	f := &failing{op: "Delete", queue: "orders", err: bindings.ErrUnavailable}
	b.fault = f.fault
	b.start(&queue.Options{MaxDequeueCount: 1}, fail)
	b.put("aGVsbG8=")
	b.clk.Advance(time.Minute)
	if got := b.last(); got.Decision != triggers.Poisoned || !errors.Is(got.Err, bindings.ErrUnavailable) {
		t.Errorf("settlement = %+v, want poisoned with the error", got)
	}
	f.off = true
	b.clk.Advance(10 * time.Minute)
	if n := len(b.visible("orders-poison")); n != 2 || b.count() != 0 {
		t.Errorf("%d poison messages, %d left, want 2 and 0", n, b.count())
	}
	if diff := cmp.Diff(b.counts(), []int64{1}); diff != "" {
		t.Errorf("runs (-got +want):\n%s", diff)
	}
}

// spec storage 4.2: errors that mean the message is not ours are no errors.
func TestErrorsSwallowedInDeleteAndRelease(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Delete", "Update"} {
		for _, err := range []error{queueapi.ErrPopReceiptMismatch, bindings.ErrMessageNotFound, bindings.ErrNotFound, bindings.ErrBeingDeleted, bindings.ErrUnavailable} {
			t.Run(op+" "+err.Error(), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, "orders")
				b.fault = (&failing{op: op, queue: "orders", err: err}).fault
				h, decision := succeed, triggers.Deleted
				if op == "Update" {
					h, decision = fail, triggers.Released
				}
				b.start(nil, h)
				b.put("aGVsbG8=")
				b.clk.Advance(time.Second)
				got := b.last()
				want := triggers.Settlement{Decision: decision, Note: queue.NoteNotOurs}
				if err == bindings.ErrUnavailable {
					if got.Decision != decision || !errors.Is(got.Err, err) {
						t.Errorf("settlement = %+v, want %s with the error", got, decision)
					}
				} else if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("settlement (-got +want):\n%s", diff)
				}
				if b.ended {
					t.Error("the listener ended")
				}
			})
		}
	}
}

func TestPoisonCopyKeepsMessagesOf64KiB(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	large := base64.StdEncoding.EncodeToString(make([]byte, queueapi.MaxMessageText/4*3))
	b.start(&queue.Options{MaxDequeueCount: 1}, fail)
	b.put(large)
	b.clk.Advance(time.Second)
	if ms := b.visible("orders-poison"); len(ms) != 1 || ms[0].Text != large {
		t.Errorf("%d poison messages, want the large one", len(ms))
	}
}

// The copy notifies the poison queue's name: a listener there runs at once.
func TestPoisonCopyWakesTheListenerOfThePoisonQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	w := queue.NewWatcher()
	woken := 0
	defer w.Watch("orders-poison", func() { woken++ })()
	w.Watch("orders-poison", func() { woken += 100 })()
	b.start(&queue.Options{MaxDequeueCount: 1, Watcher: w}, fail)
	b.put("aGVsbG8=")
	b.clk.Advance(time.Second)
	if woken != 1 {
		t.Errorf("woken = %d, want once, and not after stop", woken)
	}
}
