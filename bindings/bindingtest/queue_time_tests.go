package bindingtest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

// queueTimeTests are the rules that need time to pass.
var queueTimeTests = []queueTest{
	{"DelayedMessageAppearsInTime", true, func(b *queueBench) {
		b.create()
		b.put("a", &queue.PutOptions{Visibility: time.Minute})
		b.Advance(59 * time.Second)
		b.receiveNone()
		b.Advance(time.Second)
		b.receiveOne(time.Minute)
	}},
	{"LockEndsAndCountGrows", true, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		for want := int64(1); want <= 3; want++ {
			if m := b.receiveOne(time.Minute); m.DequeueCount != want {
				b.Errorf("DequeueCount = %d, want %d", m.DequeueCount, want)
			}
			b.Advance(59 * time.Second)
			b.receiveNone()
			b.Advance(time.Second)
		}
	}},
	{"ReceiptOutlivesItsLock", true, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		m := b.receiveOne(time.Second)
		b.Advance(time.Hour)
		if ms := b.peek(1); len(ms) != 1 {
			b.Fatalf("Peek after the lock ended = %d messages, want 1", len(ms))
		}
		b.must("Delete after the lock ended", b.delete(m))
	}},
	{"ReceiptIsVoidOnceSomebodyElseReceived", true, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		old := b.receiveOne(time.Second)
		b.Advance(time.Second)
		m := b.receiveOne(time.Minute)
		if err := b.delete(old); !errors.Is(err, queue.ErrPopReceiptMismatch) {
			b.Errorf("Delete with the old receipt = %v, want ErrPopReceiptMismatch", err)
		}
		if _, err := b.tryUpdate(old, nil, 0); !errors.Is(err, queue.ErrPopReceiptMismatch) {
			b.Errorf("Update with the old receipt = %v, want ErrPopReceiptMismatch", err)
		}
		b.must("Delete with the new receipt", b.delete(m))
	}},
	{"UpdateCountsFromNow", true, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		m := b.receiveOne(time.Minute)
		b.Advance(30 * time.Second)
		b.update(m, nil, time.Minute)
		b.Advance(59 * time.Second)
		b.receiveNone()
		b.Advance(time.Second)
		b.receiveOne(time.Minute)
	}},
	{"ExpiredMessageIsGone", true, func(b *queueBench) {
		b.create()
		b.put("short", &queue.PutOptions{TTL: time.Minute})
		locked := b.receiveOne(time.Hour)
		b.put("visible", &queue.PutOptions{TTL: time.Minute})
		b.put("stays", &queue.PutOptions{TTL: queue.NeverExpires})
		b.Advance(time.Minute)
		if err := b.delete(locked); !errors.Is(err, bindings.ErrMessageNotFound) {
			b.Errorf("Delete of an expired message = %v, want ErrMessageNotFound", err)
		}
		if _, err := b.tryUpdate(locked, nil, 0); !errors.Is(err, bindings.ErrMessageNotFound) {
			b.Errorf("Update of an expired message = %v, want ErrMessageNotFound", err)
		}
		if got := texts(b.peek(queue.MaxReceive)); !slices.Equal(got, []string{"stays"}) {
			b.Errorf("Peek = %q, want only \"stays\"", got)
		}
		if n := b.count(); b.Features.ExactCount && n != 1 {
			b.Errorf("Count = %d, want 1", n)
		}
		b.Advance(365 * 24 * time.Hour)
		m := b.receiveOne(time.Minute)
		if !m.Expires.IsZero() {
			b.Errorf("Expires of a message that never does = %v, want zero", m.Expires)
		}
	}},
	{"DefaultLifeIsSevenDays", true, func(b *queueBench) {
		b.create()
		b.put("a", nil)
		b.Advance(queue.DefaultMessageTTL - time.Second)
		if ms := b.peek(1); len(ms) != 1 {
			b.Errorf("Peek a second before 7 days = %d messages, want 1", len(ms))
		}
		b.Advance(time.Second)
		if ms := b.peek(1); len(ms) != 0 {
			b.Errorf("Peek after 7 days = %d messages, want none", len(ms))
		}
	}},
	{"OrderByVisibilityThenInsertion", true, func(b *queueBench) {
		if !b.Features.OrderByVisibility {
			b.Skip("the backend promises no order")
		}
		b.create()
		b.put("late", &queue.PutOptions{Visibility: 2 * time.Second})
		b.put("a", nil)
		b.put("b", nil)
		b.Advance(time.Second)
		b.put("c", nil)
		b.Advance(2 * time.Second)
		if got, want := texts(b.peek(32)), []string{"a", "b", "c", "late"}; !slices.Equal(got, want) {
			b.Errorf("Peek = %q, want %q", got, want)
		}
		if got, want := texts(b.receive(32, time.Minute)), []string{"a", "b", "c", "late"}; !slices.Equal(got, want) {
			b.Errorf("Receive = %q, want %q", got, want)
		}
		b.Advance(time.Minute) // all locks end at one instant: by insertion
		if got, want := texts(b.receive(32, time.Minute)), []string{"late", "a", "b", "c"}; !slices.Equal(got, want) {
			b.Errorf("Receive after the locks ended = %q, want %q", got, want)
		}
	}},
	{"ReleasedMessageGoesBehindVisibleOnes", true, func(b *queueBench) {
		if !b.Features.OrderByVisibility {
			b.Skip("the backend promises no order")
		}
		b.create()
		b.put("a", nil)
		m := b.receiveOne(time.Minute)
		b.put("b", nil)
		b.update(m, nil, 0) // at the same instant
		if got, want := texts(b.peek(32)), []string{"b", "a"}; !slices.Equal(got, want) {
			b.Errorf("Peek = %q, want %q", got, want)
		}
		b.Advance(time.Second)
		ms := b.receive(1, time.Minute)
		b.Advance(time.Second)
		b.update(ms[0], nil, 0)
		if got, want := texts(b.peek(32)), []string{"a", "b"}; !slices.Equal(got, want) {
			b.Errorf("Peek = %q, want %q", got, want)
		}
	}},
	{"WakerHearsOfArrivals", true, func(b *queueBench) {
		waker, ok := b.Account.(queue.Waker)
		if !ok {
			b.Skip("the account wakes nobody")
		}
		var woken, other int
		var stop func()
		b.do(func(context.Context, queue.Queue) {
			stop = waker.OnArrival(name, func() { woken++ })
			waker.OnArrival("other", func() { other++ })
		})
		expect := func(when string, want int) {
			b.Helper()
			if woken != want {
				b.Fatalf("woken %d times %s, want %d", woken, when, want)
			}
		}
		b.create()
		b.put("a", nil)
		expect("after Put", 1)
		m := b.receiveOne(time.Minute)
		b.update(m, nil, 0)
		expect("after a release", 1)
		b.put("b", &queue.PutOptions{Visibility: time.Minute})
		expect("after a delayed Put", 1)
		b.Advance(time.Minute)
		expect("when it becomes visible", 2)
		m = b.put("c", &queue.PutOptions{Visibility: time.Minute})
		b.must("Delete", b.delete(m))
		b.Advance(time.Minute)
		expect("when a deleted message would have become visible", 2)
		m = b.put("d", &queue.PutOptions{Visibility: time.Minute})
		b.update(m, nil, 2*time.Minute)
		b.Advance(time.Minute)
		expect("at the first time of a message put off", 2)
		b.Advance(time.Minute)
		expect("at the second", 3)
		m = b.put("e", &queue.PutOptions{Visibility: time.Minute})
		b.update(m, nil, 0)
		expect("after a delayed message was brought forward", 4)
		b.do(func(context.Context, queue.Queue) { stop() })
		b.put("f", nil)
		expect("after stop", 4)
		if other != 0 {
			b.Errorf("the waker of another queue was woken %d times", other)
		}
	}},
}
