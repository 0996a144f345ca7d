package bindingtest

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// busTimeTests are the rules of locks, expiry, schedules and windows.
var busTimeTests = []busTest{
	{"LockEndsAndOrderStays", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b")
		r := b.receiver("q")
		m := b.receiveOne(r)
		if b.Now != nil && !m.LockedUntil.Equal(b.Now().Add(time.Minute)) {
			b.Errorf("LockedUntil = %v, want one minute from now", m.LockedUntil)
		}
		b.Advance(time.Minute)
		for what, f := range map[string]func(ctx context.Context) error{
			"Complete": func(ctx context.Context) error { return r.Complete(ctx, m) },
			"Abandon":  func(ctx context.Context) error { return r.Abandon(ctx, m, nil) },
			"Renew":    func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err },
		} {
			b.fails(what+" after the lock ended", b.call(f), messaging.ErrLockLost)
		}
		b.expect("Receive", b.receive(r, 2), "a", "b")
	}},
	{"RenewCountsFromNow", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a")
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.Advance(40 * time.Second)
		var until time.Time
		b.must("Renew", b.call(func(ctx context.Context) (err error) { until, err = r.Renew(ctx, m); return err }))
		if b.Now != nil && !until.Equal(b.Now().Add(time.Minute)) || !m.LockedUntil.Equal(until) {
			b.Errorf("Renew = %v (message: %v), want one minute from now", until, m.LockedUntil)
		}
		b.Advance(59 * time.Second)
		b.receiveNone(r)
		b.complete(r, m)
	}},
	{"ExpiredVanishes", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.send("q", &busMessage{Body: []byte("short"), TimeToLive: time.Minute}, text1("stays"))
		r := b.receiver("q")
		b.Advance(time.Minute)
		m := b.receiveOne(r)
		b.expect("Receive", []*busReceived{m}, "stays")
		if !m.ExpiresAt.IsZero() && m.ExpiresAt.Year() < 9999 {
			b.Errorf("ExpiresAt without a time to live = %v, want never", m.ExpiresAt)
		}
		b.counts("q", servicebus.Counts{Active: 1})
	}},
	{"ExpiredIsDeadLettered", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", DeadLetteringOnMessageExpiration: true, DefaultMessageTimeToLive: time.Minute})
		b.send("q", &busMessage{Body: []byte("a"), TimeToLive: time.Hour}) // cut to the default
		r := b.receiver("q")
		b.Advance(time.Minute)
		b.receiveNone(r)
		d := b.receiver("q" + dlq)
		m := b.receiveOne(d)
		b.expectReason(m, "TTLExpiredException")
		b.expectCount("of an expired message", m, 0)
		b.abandon(d, m)
		b.Advance(365 * 24 * time.Hour)
		b.expect("Receive a year later", b.receive(d, 1), "a")
	}},
	{"ExpiryWaitsForAReceiver", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", DeadLetteringOnMessageExpiration: true})
		b.send("q", &busMessage{Body: []byte("a"), TimeToLive: time.Minute})
		b.Advance(time.Hour)
		b.counts("q", servicebus.Counts{Active: 1})
		r := b.receiver("q")
		b.expect("Peek of an expired message", b.peek(r, 0, 1), "a")
		b.receiveNone(r)
		b.counts("q", servicebus.Counts{DeadLetter: 1})
		if !b.Features.IdleReceivers {
			return // it might hold the message when its time is over
		}
		b.send("q", &busMessage{Body: []byte("b"), TimeToLive: 30 * time.Second})
		b.Advance(30 * time.Second) // within the minute after a receive
		b.counts("q", servicebus.Counts{DeadLetter: 2})
	}},
	{"LockedMessageDoesNotExpire", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", DeadLetteringOnMessageExpiration: true})
		b.send("q", &busMessage{Body: []byte("a"), TimeToLive: 10 * time.Second}, &busMessage{Body: []byte("b"), TimeToLive: 10 * time.Second})
		r := b.receiver("q")
		ms := b.receive(r, 2)
		b.Advance(30 * time.Second)
		b.complete(r, ms[0])
		b.abandon(r, ms[1])
		b.counts("q", servicebus.Counts{DeadLetter: 1}) // at once
		b.receiveNone(r)
		m := b.receiveOne(b.receiver("q" + dlq))
		b.expectReason(m, "TTLExpiredException")
		b.expectCount("of the abandoned one", m, 1)
	}},
	{"DeferredMessageDoesNotExpire", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		b.send("q", &busMessage{Body: []byte("a"), TimeToLive: 10 * time.Second})
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.deferMessage(r, m)
		b.Advance(time.Hour)
		b.receiveNone(r)
		b.complete(r, b.deferred(r, m.SequenceNumber))
	}},
	{"ScheduledGetsANewNumber", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		var seqs []int64
		at := b.Now().Add(time.Minute)
		b.do(func(ctx context.Context) {
			var err error
			seqs, err = b.Namespace.Schedule(ctx, "q", at, text1("late"), &busMessage{Body: []byte("later"), TimeToLive: 10 * time.Second})
			b.must("Schedule", err)
		})
		b.sendText("q", "now")
		r := b.receiver("q")
		b.complete(r, b.receive(r, 1)...)
		b.receiveNone(r)
		ms := b.peek(r, 0, 10)
		b.expect("Peek", ms, "late", "later")
		if len(seqs) != 2 || ms[0].SequenceNumber != seqs[0] || ms[0].State != servicebus.StateScheduled || !ms[0].ScheduledEnqueueTime.Equal(at) {
			b.Errorf("Peek = %+v, want number %d, scheduled for %v", ms[0], seqs, at)
		}
		b.counts("q", servicebus.Counts{Scheduled: 2})
		b.Advance(time.Minute)
		b.counts("q", servicebus.Counts{Active: 2})
		ms = b.receive(r, 2)
		b.expect("Receive", ms, "late", "later")
		if ms[0].SequenceNumber <= seqs[1] || !ms[0].EnqueuedTime.Equal(at) || ms[0].State != servicebus.StateActive {
			b.Errorf("activated message = %+v, want a new number and enqueued time", ms[0])
		}
		if !ms[1].ExpiresAt.Equal(at.Add(10 * time.Second)) {
			b.Errorf("ExpiresAt = %v, want 10 s after the activation", ms[1].ExpiresAt)
		}
	}},
	{"ScheduledBySendOrCancelled", true, func(b *busBench) {
		b.queue(busQueue{Name: "q"})
		at := b.Now().Add(time.Minute)
		b.send("q", &busMessage{Body: []byte("a"), ScheduledEnqueueTime: at}, &busMessage{Body: []byte("past"), ScheduledEnqueueTime: at.Add(-time.Hour)})
		r := b.receiver("q")
		past := b.receiveOne(r)
		b.expect("Receive", []*busReceived{past}, "past")
		b.complete(r, past)
		var seqs []int64
		b.do(func(ctx context.Context) {
			var err error
			seqs, err = b.Namespace.Schedule(ctx, "q", at, text1("b"), text1("c"))
			b.must("Schedule", err)
			b.must("CancelScheduled", b.Namespace.CancelScheduled(ctx, "q", seqs[0]))
			b.fails("CancelScheduled again, with another", b.Namespace.CancelScheduled(ctx, "q", seqs[1], seqs[0]), bindings.ErrMessageNotFound)
		})
		b.Advance(time.Minute)
		b.expect("Receive", b.receive(r, 2), "a", "c")
		b.fails("CancelScheduled after the activation", b.call(func(ctx context.Context) error { return b.Namespace.CancelScheduled(ctx, "q", seqs[1]) }), bindings.ErrMessageNotFound)
	}},
	{"DuplicatesAreDropped", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: time.Minute})
		b.send("q", &busMessage{MessageID: "x", Body: []byte("1")}, &busMessage{MessageID: "x", Body: []byte("2")})
		r := b.receiver("q")
		m := b.receiveOne(r)
		b.expect("Receive", []*busReceived{m}, "1")
		b.complete(r, m)
		b.Advance(30 * time.Second)
		b.send("q", &busMessage{MessageID: "x", Body: []byte("3")}) // still known, and does not begin anew
		b.receiveNone(r)
		b.Advance(30 * time.Second)
		b.send("q", &busMessage{MessageID: "x", Body: []byte("4")})
		b.expect("Receive after the window", b.receive(r, 1), "4")
		b.send("q", &busMessage{MessageID: "y", Body: []byte("5"), ScheduledEnqueueTime: b.Now().Add(10 * time.Second)}, &busMessage{MessageID: "y", Body: []byte("6")})
		b.receiveNone(r)
		b.Advance(10 * time.Second)
		b.expect("Receive of the scheduled one", b.receive(r, 1), "5")
	}},
	{"IdleEntityIsDeleted", true, func(b *busBench) {
		b.queue(busQueue{Name: "q", AutoDeleteOnIdle: 5 * time.Minute})
		b.Advance(4 * time.Minute)
		b.sendText("q", "a")
		b.Advance(4 * time.Minute)
		b.info("q")
		b.Advance(time.Minute)
		b.fails("GetQueue after five idle minutes", b.call(func(ctx context.Context) error { _, err := b.Namespace.GetQueue(ctx, "q"); return err }), bindings.ErrNotFound)
	}},
	{"SettlesByToken", true, func(b *busBench) {
		server, ok := b.Namespace.(servicebus.Management)
		if !ok {
			b.Skip("the backend is not served by a server")
		}
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b", "c", "d")
		ms := b.receive(b.receiver("q"), 4)
		settle := func(action servicebus.Action, tokens ...bindings.GUID) error {
			return b.call(func(ctx context.Context) error {
				return server.Settle(ctx, "Q", servicebus.Settlement{Action: action}, tokens...)
			})
		}
		b.Advance(30 * time.Second)
		b.do(func(ctx context.Context) {
			until, err := server.RenewLocks(ctx, "q", ms[1].LockToken, ms[0].LockToken)
			if err != nil || len(until) != 2 || !until[0].Equal(b.Now().Add(time.Minute)) {
				b.Errorf("RenewLocks = %v, %v, want two ends in one minute", until, err)
			}
			_, err = server.RenewLocks(ctx, "q", ms[2].LockToken, bindings.GUID{1})
			b.fails("RenewLocks with an unknown token", err, messaging.ErrLockLost)
		})
		b.Advance(30 * time.Second) // c and d are lost
		b.fails("Settle with one that is lost", settle(servicebus.Complete, ms[2].LockToken, ms[0].LockToken), messaging.ErrLockLost)
		b.must("Settle", settle(servicebus.Defer, ms[1].LockToken))
		b.counts("q", servicebus.Counts{Active: 2, Deferred: 1})
		b.do(func(ctx context.Context) {
			out, err := server.ReceiveDeferred(ctx, "q", nil, servicebus.ReceiverOptions{RealTime: true}, ms[1].SequenceNumber)
			b.must("ReceiveDeferred", err)
			b.expect("ReceiveDeferred", out, "b")
			out, err = server.Peek(ctx, "q", nil, 0, 10)
			b.must("Peek", err)
			b.expect("Peek", out, "b", "c", "d")
		})
	}},
	{"SettlesEach", false, func(b *busBench) {
		server, ok := b.Namespace.(servicebus.Management)
		if !ok {
			b.Skip("the backend is not served by a server")
		}
		b.queue(busQueue{Name: "q"})
		b.sendText("q", "a", "b", "c", "d")
		ms := b.receive(b.receiver("q"), 4)
		how := func(action servicebus.Action) servicebus.Settlement {
			return servicebus.Settlement{Action: action}
		}
		b.do(func(ctx context.Context) {
			errs := server.SettleEach(ctx, "Q", nil, []servicebus.Disposition{
				{LockToken: ms[0].LockToken, Settlement: how(servicebus.Complete)},
				{LockToken: ms[0].LockToken, Settlement: how(servicebus.Complete)},
				{LockToken: ms[1].LockToken, Settlement: how(servicebus.Action(99))},
				{LockToken: ms[1].LockToken, Settlement: how(servicebus.Abandon)},
				{LockToken: bindings.GUID{1}, Settlement: how(servicebus.Abandon)},
				{LockToken: ms[2].LockToken, Settlement: servicebus.Settlement{Action: servicebus.DeadLetter, Reason: "why"}},
			})
			if len(errs) != 6 {
				b.Fatalf("SettleEach returned %d errors for 6 settlements", len(errs))
			}
			for _, i := range []int{0, 3, 5} {
				b.must("SettleEach", errs[i])
			}
			b.fails("the second of one message", errs[1], messaging.ErrLockLost)
			b.fails("an unknown token", errs[4], messaging.ErrLockLost)
			if errs[2] == nil {
				b.Error("an unknown action was taken")
			}
			errs = server.SettleEach(ctx, "nowhere", nil, []servicebus.Disposition{{LockToken: ms[3].LockToken}})
			b.fails("SettleEach of an entity that is not there", errs[0], bindings.ErrNotFound)
		})
		b.counts("q", servicebus.Counts{Active: 2, DeadLetter: 1})
		b.expect("Receive", b.receive(b.receiver("q"), 1), "b")
	}},
	{"SettlesEachOfASession", true, func(b *busBench) {
		server, ok := b.Namespace.(servicebus.Management)
		if !ok {
			b.Skip("the backend is not served by a server")
		}
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "1"), inSession("x", "2"))
		s := b.accept("q", "x")
		ms := b.receive(s, 2)
		settle := func(m *servicebus.Received) error {
			return b.call(func(ctx context.Context) error {
				return server.SettleEach(ctx, "q", s, []servicebus.Disposition{{LockToken: m.LockToken}})[0]
			})
		}
		b.must("SettleEach", settle(ms[0]))
		b.Advance(time.Minute) // the session is lost
		b.fails("SettleEach after the session's lock", settle(ms[1]), messaging.ErrSessionLockLost)
		b.counts("q", servicebus.Counts{Active: 1})
	}},
}
