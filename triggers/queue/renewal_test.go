package queue_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
)

func (b *bench) sleeper(d time.Duration, then handler) handler {
	return func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if err := b.clk.Sleep(ctx, d); err != nil {
			return triggers.Result{Err: err, Attempts: 1, Cancelled: true}
		}
		return then(ctx, ev)
	}
}

// renewals are the times at which the listener told of one.
func (b *bench) renewals() (out []string) {
	for _, r := range b.records {
		if at, ok := strings.CutSuffix(r, " lock_renewed "+b.name); ok {
			out = append(out, at)
		}
	}
	return out
}

// spec storage 20, row 5.
func TestLongHandlerRunsOnceUnderRenewals(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	b.put(hello)
	b.start(nil, b.sleeper(24*time.Minute, succeed))
	b.clk.Advance(21 * time.Minute)
	var ms []*queueapi.Message
	b.do(func(ctx context.Context, q queueapi.Queue) { ms, _ = q.Peek(ctx, 1) })
	if len(ms) != 0 {
		t.Error("the message is visible while its function runs")
	}
	b.clk.Advance(10 * time.Minute)
	if diff := cmp.Diff(b.renewals(), []string{"5m0s", "10m0s", "15m0s", "20m0s"}); diff != "" {
		t.Errorf("renewals (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(b.decisions(), []triggers.Decision{triggers.Deleted}); diff != "" {
		t.Errorf("decisions (-got +want):\n%s", diff)
	}
	if b.last().Note != "" || b.count() != 0 {
		t.Errorf("settlement %+v, %d messages left, want a plain delete and 0", b.last(), b.count())
	}
}

// updates notes the texts that a listener sends with its updates.
type updates struct {
	queueapi.Queue
	texts *[]string
}

func (u updates) Update(ctx context.Context, id, receipt string, text *string, d time.Duration) (*queueapi.Message, error) {
	*u.texts = append(*u.texts, *text)
	return u.Queue.Update(ctx, id, receipt, text, d)
}

// S-5: a renewal and a release send the text exactly as it came.
func TestRenewalKeepsTheRawText(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	var sent []string
	b.wrap = func(q queueapi.Queue) queueapi.Queue { return updates{q, &sent} }
	b.put(hello)
	b.start(&queue.Options{VisibilityTimeout: time.Hour}, b.sleeper(6*time.Minute, fail))
	b.clk.Advance(7 * time.Minute)
	if diff := cmp.Diff(sent, []string{hello, hello}); diff != "" {
		t.Errorf("texts sent with the renewal and the release (-got +want):\n%s", diff)
	}
	b.clk.Advance(time.Hour - time.Minute)
	if diff := cmp.Diff(texts(b.visible("orders")), []string{hello}); diff != "" {
		t.Errorf("text afterwards (-got +want):\n%s", diff)
	}
}

// S-7: after a passing failure the next renewal comes sooner, down to a minute.
func TestRenewalIsTriedSoonerAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	var tried []time.Duration
	b.fault = func(p storage.FaultPoint) error {
		if p.Op != "Update" || p.After {
			return nil
		}
		tried = append(tried, b.elapsed())
		if len(tried) < 4 {
			return bindings.ErrUnavailable
		}
		return nil
	}
	b.put(hello)
	b.start(nil, b.sleeper(16*time.Minute, succeed))
	b.clk.Advance(20 * time.Minute)
	const minute = time.Minute
	// Waits: 5 min, then half of it, not below a minute, then 5 min again.
	want := []time.Duration{5 * minute, 7*minute + 30*time.Second, 8*minute + 45*time.Second, 9*minute + 45*time.Second, 14*minute + 45*time.Second}
	if diff := cmp.Diff(tried, want); diff != "" {
		t.Errorf("renewals tried (-got +want):\n%s", diff)
	}
}

// A renewal that fails for good stops all further ones; the function goes on,
// uncancelled.
func TestRenewalStopsWhenTheMessageIsNotOurs(t *testing.T) {
	t.Parallel()
	for _, err := range []error{queueapi.ErrPopReceiptMismatch, bindings.ErrMessageNotFound, bindings.ErrNotFound, bindings.ErrBeingDeleted} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "orders")
			f := &failing{op: "Update", queue: "orders", err: err}
			b.fault = f.fault
			b.put(hello)
			// One at a time, so that the second delivery starts after the first.
			b.start(&queue.Options{BatchSize: 1}, b.sleeper(24*time.Minute, succeed))
			b.clk.Advance(24 * time.Minute)
			if f.hits != 1 {
				t.Errorf("%d renewals tried, want 1", f.hits)
			}
			if diff := cmp.Diff(b.decisions(), []triggers.Decision{triggers.Deleted}); diff != "" {
				t.Errorf("decisions (-got +want):\n%s", diff)
			}
		})
	}
}

// The message of a lost lock is delivered again while the first function still
// runs; the delete of the first is refused and is no error.
func TestRenewalLost(t *testing.T) {
	t.Parallel()
	b := newBench(t, "orders")
	f := &failing{op: "Update", queue: "orders", err: queueapi.ErrPopReceiptMismatch}
	b.fault = f.fault
	b.put(hello)
	n := 0
	b.start(nil, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		n++
		if n == 1 {
			_ = b.clk.Sleep(ctx, 12*time.Minute)
		} else {
			_ = b.clk.Sleep(ctx, 4*time.Minute)
		}
		return succeed(ctx, ev)
	})
	b.clk.Advance(15 * time.Minute)
	if diff := cmp.Diff(b.counts(), []int64{1, 2}); diff != "" {
		t.Errorf("delivery counts (-got +want):\n%s", diff)
	}
	all := b.sink.Settlements()
	if len(all) != 2 || all[0].Settlement.Note != queue.NoteNotOurs || all[1].Settlement.Note != "" {
		t.Errorf("settlements = %+v, want the first refused, the second plain", all)
	}
}
