package bindingtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

// queueTests are named by behaviour. The rules come from spec storage 16.1 and
// 16.3 and from the comments in package bindings.
var queueTests = []queueTest{
	{"CreateTwiceIsNoError", false, func(b *queueBench) {
		b.create()
		b.put("kept", nil)
		b.create()
		if n := b.count(); n != 1 {
			b.Errorf("Count after a second Create = %d, want 1", n)
		}
	}},
	{"ExistsAndList", false, func(b *queueBench) {
		exists := func() (ok bool) {
			var err error
			b.do(func(ctx context.Context, q queue.Queue) { ok, err = q.Exists(ctx) })
			b.must("Exists", err)
			return ok
		}
		if exists() {
			b.Error("Exists before Create = true")
		}
		b.create()
		if !exists() {
			b.Error("Exists after Create = false")
		}
		b.do(func(ctx context.Context, q queue.Queue) {
			for _, other := range []string{"zebra", "alpha"} {
				if err := b.Account.Queue(other).Create(ctx); err != nil {
					b.Errorf("Create(%q): %v", other, err)
				}
			}
			names, err := b.Account.Queues(ctx)
			if want := []string{"alpha", name, "zebra"}; err != nil || !slices.Equal(names, want) {
				b.Errorf("Queues = %q, %v, want %q", names, err, want)
			}
			if q.Name() != name {
				b.Errorf("Name = %q, want %q", q.Name(), name)
			}
		})
	}},
	{"MissingQueueFailsEveryCall", false, func(b *queueBench) {
		b.do(func(ctx context.Context, q queue.Queue) {
			for what, err := range everyCall(ctx, q) {
				if !errors.Is(err, bindings.ErrNotFound) {
					b.Errorf("%s on a missing queue = %v, want ErrNotFound", what, err)
				}
			}
		})
	}},
	{"BadNamesFailEveryCall", false, func(b *queueBench) {
		b.do(func(ctx context.Context, _ queue.Queue) {
			for _, bad := range []string{"ab", "Orders", "a--b", "a_b"} {
				q := b.Account.Queue(bad)
				if err := q.Create(ctx); !errors.Is(err, bindings.ErrInvalidName) {
					b.Errorf("Create(%q) = %v, want ErrInvalidName", bad, err)
				}
				if _, err := q.Exists(ctx); !errors.Is(err, bindings.ErrInvalidName) {
					b.Errorf("Exists(%q) = %v, want ErrInvalidName", bad, err)
				}
				for what, err := range everyCall(ctx, q) {
					if !errors.Is(err, bindings.ErrInvalidName) {
						b.Errorf("%s on %q = %v, want ErrInvalidName", what, bad, err)
					}
				}
			}
		})
	}},
	{"DeleteQueueRemovesMessages", false, func(b *queueBench) {
		b.create()
		b.put("gone", nil)
		b.do(func(ctx context.Context, q queue.Queue) {
			if err := q.DeleteQueue(ctx); err != nil {
				b.Errorf("DeleteQueue: %v", err)
			}
			if ok, err := q.Exists(ctx); ok || err != nil {
				b.Errorf("Exists after DeleteQueue = %v, %v, want false", ok, err)
			}
		})
		if b.Features.RecreateAtOnce {
			b.create()
			b.receiveNone()
		}
	}},
	{"PutReturnsIDReceiptAndTimes", false, func(b *queueBench) {
		b.create()
		one, two := b.put("a", nil), b.put("b", &queue.PutOptions{Visibility: time.Minute, TTL: time.Hour})
		if one.ID == "" || one.PopReceipt == "" || one.ID == two.ID {
			b.Errorf("Put = %+v and %+v, want receipts and different ids", one, two)
		}
		if got := one.Expires.Sub(one.Inserted); got != queue.DefaultMessageTTL {
			b.Errorf("life of a message = %v, want %v", got, queue.DefaultMessageTTL)
		}
		if !one.NextVisible.Equal(one.Inserted) {
			b.Errorf("NextVisible = %v, want the insertion time %v", one.NextVisible, one.Inserted)
		}
		if got := two.NextVisible.Sub(two.Inserted); got != time.Minute {
			b.Errorf("delay of a delayed message = %v, want 1m", got)
		}
		if got := two.Expires.Sub(two.Inserted); got != time.Hour {
			b.Errorf("life of a message with TTL 1h = %v", got)
		}
		if b.Now != nil {
			now := b.Now()
			if b.Features.WholeSeconds {
				now = now.Truncate(time.Second)
			}
			if !one.Inserted.Equal(now) {
				b.Errorf("Inserted = %v, want %v", one.Inserted, now)
			}
		}
	}},
	{"TextComesBackUnchanged", false, func(b *queueBench) {
		b.create()
		for _, text := range []string{"", "plain", `{"a": "<&>"}`, " white \t\n space ", "grüße \U0001F600", strings.Repeat("x", queue.MaxMessageText)} {
			b.put(text, nil)
			m := b.receiveOne(time.Minute)
			if m.Text != text {
				b.Errorf("text of %d bytes came back as %q", len(text), m.Text[:min(len(m.Text), 40)])
			}
			b.must("Delete", b.delete(m))
		}
	}},
	{"ReceiveCountsAndLocks", false, func(b *queueBench) {
		b.create()
		sent := b.put("a", nil)
		m := b.receiveOne(time.Minute)
		if m.ID != sent.ID || m.DequeueCount != 1 || m.PopReceipt == "" || m.PopReceipt == sent.PopReceipt {
			b.Errorf("Receive = %+v after Put = %+v, want the same id, count 1, a new receipt", m, sent)
		}
		if b.Now != nil && !b.Features.WholeSeconds && !m.NextVisible.Equal(b.Now().Add(time.Minute)) {
			b.Errorf("NextVisible = %v, want a minute after %v", m.NextVisible, b.Now())
		}
		b.receiveNone()
	}},
	{"ReceiveTakesAtMostTheNumberAsked", false, func(b *queueBench) {
		b.create()
		for range 40 {
			b.put("m", nil)
		}
		if n := len(b.receive(1, time.Minute)); n != 1 {
			b.Errorf("Receive(1) = %d messages", n)
		}
		if n := len(b.receive(queue.MaxReceive, time.Minute)); n != 32 {
			b.Errorf("Receive(32) = %d messages", n)
		}
		if n := len(b.receive(queue.MaxReceive, time.Minute)); n != 7 {
			b.Errorf("Receive of the rest = %d messages, want 7", n)
		}
	}},
	{"EachMessageOfABatchHasItsReceipt", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		b.put("b", nil)
		ms := b.receive(2, time.Minute)
		if len(ms) != 2 {
			b.Fatalf("Receive = %d messages, want 2", len(ms))
		}
		if b.Features.UniqueReceipts && ms[0].PopReceipt == ms[1].PopReceipt {
			b.Error("both messages have the same receipt")
		}
		for _, m := range ms {
			b.must("Delete", b.delete(m))
		}
	}},
	{"PeekChangesNothing", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		b.put("hidden", &queue.PutOptions{Visibility: time.Minute})
		for range 2 {
			ms := b.peek(queue.MaxReceive)
			if len(ms) != 1 {
				b.Fatalf("Peek = %d messages, want the visible one", len(ms))
			}
			if m := ms[0]; m.Text != "a" || m.DequeueCount != 0 || m.PopReceipt != "" || !m.NextVisible.IsZero() {
				b.Errorf("Peek = %+v, want count 0, no receipt, no next-visible time", m)
			}
		}
		if m := b.receiveOne(time.Minute); m.DequeueCount != 1 {
			b.Errorf("DequeueCount after Peek = %d, want 1", m.DequeueCount)
		}
	}},
	{"PutReceiptIsGoodBeforeAnyReceive", false, func(b *queueBench) {
		b.create()
		m := b.put("a", nil)
		m = b.update(m, nil, time.Hour)
		b.receiveNone()
		b.must("Delete", b.delete(m))
		if n := b.count(); n != 0 {
			b.Errorf("Count = %d, want 0", n)
		}
	}},
	{"UpdateRenewsTheReceiptAndKeepsCountAndText", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		old := b.receiveOne(time.Minute)
		m := b.update(old, nil, time.Hour)
		if m.PopReceipt == "" || m.PopReceipt == old.PopReceipt {
			b.Errorf("receipt after Update = %q, before %q", m.PopReceipt, old.PopReceipt)
		}
		if got := m.NextVisible.Sub(old.NextVisible); !b.Features.WholeSeconds && b.Now != nil && got != 59*time.Minute {
			b.Errorf("Update to 1h moved NextVisible by %v, want 59m", got)
		}
		if err := b.delete(old); !errors.Is(err, queue.ErrPopReceiptMismatch) {
			b.Errorf("Delete with the old receipt = %v, want ErrPopReceiptMismatch", err)
		}
		m.ID = old.ID
		b.update(m, nil, 0)
		if again := b.receiveOne(time.Minute); again.DequeueCount != 2 || again.Text != "a" {
			b.Errorf("after updates: count %d, text %q, want 2 and \"a\"", again.DequeueCount, again.Text)
		}
	}},
	{"UpdateReplacesTheText", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		for _, text := range []string{"b", ""} {
			b.update(b.receiveOne(time.Minute), &text, 0)
			if ms := b.peek(1); len(ms) != 1 || ms[0].Text != text {
				b.Errorf("Peek after Update to %q = %q", text, texts(ms))
			}
		}
	}},
	{"DeleteRemoves", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		m := b.receiveOne(time.Minute)
		b.must("Delete", b.delete(m))
		if err := b.delete(m); !errors.Is(err, bindings.ErrMessageNotFound) {
			b.Errorf("second Delete = %v, want ErrMessageNotFound", err)
		}
		if _, err := b.tryUpdate(m, nil, 0); !errors.Is(err, bindings.ErrMessageNotFound) {
			b.Errorf("Update after Delete = %v, want ErrMessageNotFound", err)
		}
	}},
	{"ClearRemovesEverything", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		b.put("b", &queue.PutOptions{Visibility: time.Minute})
		b.do(func(ctx context.Context, q queue.Queue) {
			if err := q.Clear(ctx); err != nil {
				b.Errorf("Clear: %v", err)
			}
		})
		if n := b.count(); n != 0 {
			b.Errorf("Count after Clear = %d, want 0", n)
		}
		b.put("c", nil)
		b.receiveOne(time.Minute)
	}},
	{"CountIncludesInvisible", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		b.put("b", nil)
		b.put("c", &queue.PutOptions{Visibility: time.Minute})
		b.receive(1, time.Minute)
		if n := b.count(); n != 3 {
			b.Errorf("Count = %d, want 3", n)
		}
	}},
	{"ParametersOutOfRange", false, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		m := b.receiveOne(time.Minute)
		const week = 7 * 24 * time.Hour
		b.do(func(ctx context.Context, q queue.Queue) {
			receive := func(n int, d time.Duration) error { _, err := q.Receive(ctx, n, d); return err }
			peek := func(n int) error { _, err := q.Peek(ctx, n); return err }
			put := func(d, ttl time.Duration) error {
				_, err := q.Put(ctx, "b", &queue.PutOptions{Visibility: d, TTL: ttl})
				return err
			}
			update := func(d time.Duration) error { _, err := q.Update(ctx, m.ID, m.PopReceipt, nil, d); return err }
			for what, err := range map[string]error{
				"Receive 0 messages":        receive(0, time.Second),
				"Receive 33 messages":       receive(33, time.Second),
				"Receive for 0 s":           receive(1, 0),
				"Receive for over 7 days":   receive(1, week+time.Second),
				"Peek 0 messages":           peek(0),
				"Peek 33 messages":          peek(33),
				"Put hidden for -1 s":       put(-time.Second, 0),
				"Put hidden for over 7 d":   put(week+time.Second, queue.NeverExpires),
				"Put hidden for its life":   put(time.Minute, time.Minute),
				"Put hidden for 7 days":     put(week, 0),
				"Put with a life of -2 s":   put(0, -2*time.Second),
				"Put with a life of 0.5 s":  put(0, time.Second/2),
				"Update hidden for -1 s":    update(-time.Second),
				"Update hidden for over 7d": update(week + time.Second),
			} {
				if !errors.Is(err, bindings.ErrOutOfRange) {
					b.Errorf("%s = %v, want ErrOutOfRange", what, err)
				}
			}
			if err := put(week, queue.NeverExpires); err != nil {
				b.Errorf("Put hidden for 7 days that never expires: %v", err)
			}
			if err := update(week); err != nil {
				b.Errorf("Update hidden for 7 days: %v", err)
			}
		})
	}},
	{"TextTooLarge", false, func(b *queueBench) {
		b.create()
		large := strings.Repeat("é", queue.MaxMessageText/2) + "x"
		if b.Features.SplitsCharacters {
			large = strings.Repeat("x", queue.MaxMessageText+1)
		}
		b.do(func(ctx context.Context, q queue.Queue) {
			if _, err := q.Put(ctx, large, nil); !errors.Is(err, bindings.ErrTooLarge) {
				b.Errorf("Put of 64 KiB and a byte = %v, want ErrTooLarge", err)
			}
			m, err := q.Put(ctx, large[:len(large)-1], nil)
			if err != nil {
				b.Fatalf("Put of 64 KiB: %v", err)
			}
			if _, err := q.Update(ctx, m.ID, m.PopReceipt, &large, 0); !errors.Is(err, bindings.ErrTooLarge) {
				b.Errorf("Update to 64 KiB and a byte = %v, want ErrTooLarge", err)
			}
		})
	}},
	{"EndedContextDoesNothing", false, func(b *queueBench) {
		b.create()
		b.do(func(ctx context.Context, q queue.Queue) {
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := q.Put(ended, "a", nil); !errors.Is(err, context.Canceled) {
				b.Errorf("Put with an ended context = %v, want context.Canceled", err)
			}
		})
		b.receiveNone()
	}},
	{"ReturnedMessagesAreCopies", false, func(b *queueBench) {
		b.create()
		m := b.put("a", nil)
		m.Text, m.DequeueCount = "changed", 9
		if got := b.receiveOne(time.Minute); got.Text != "a" || got.DequeueCount != 1 {
			b.Errorf("Receive = %q, count %d: the service saw the caller's change", got.Text, got.DequeueCount)
		}
	}},
}

// everyCall makes each call that needs the queue.
func everyCall(ctx context.Context, q queue.Queue) map[string]error {
	errs := map[string]error{}
	_, errs["Put"] = q.Put(ctx, "a", nil)
	_, errs["Receive"] = q.Receive(ctx, 1, time.Second)
	_, errs["Peek"] = q.Peek(ctx, 1)
	_, errs["Update"] = q.Update(ctx, "id", "receipt", nil, 0)
	errs["Delete"] = q.Delete(ctx, "id", "receipt")
	errs["Clear"] = q.Clear(ctx)
	_, errs["Count"] = q.Count(ctx)
	errs["DeleteQueue"] = q.DeleteQueue(ctx)
	return errs
}
