package bindingtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

func inSession(id, text string) *busMessage {
	return &busMessage{MessageID: text, Body: []byte(text), SessionID: &id}
}

// busSessionTests are the rules of spec messaging 1.10.
var busSessionTests = []busTest{
	{"SessionKeepsToItself", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "x1"), inSession("y", "y1"), inSession("x", "x2"))
		s := b.accept("q", "x")
		if s.SessionID() != "x" || s.LockedUntil().IsZero() {
			b.Errorf("session %q locked until %v", s.SessionID(), s.LockedUntil())
		}
		ms := b.receive(s, 2)
		b.expect("Receive", ms, "x1", "x2")
		for _, m := range ms {
			if m.LockToken == (bindings.GUID{}) || m.SessionID == nil || *m.SessionID != "x" {
				b.Errorf("Receive = %+v, want a lock and its session", m)
			}
		}
		b.receiveNone(s)
		b.expect("Peek", b.peek(s, 0, 10), "x1", "x2")
		b.complete(s, ms[1], ms[0])
		b.close(s)
		b.expect("Receive", b.receive(b.accept("q", "y"), 1), "y1")
	}},
	{"LockedSessionIsRefused", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		s := b.accept("q", "x") // empty and new
		_, err := b.tryAccept("q", of("x"))
		b.fails("AcceptSession of a locked session", err, messaging.ErrSessionLocked)
		b.close(s)
		b.accept("q", "x")
	}},
	{"NextSessionIsTheOldestFree", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("b", "b1"), inSession("a", "a1"), inSession("c", "c1"))
		held := b.accept("q", "b")
		var got []string
		for range 2 {
			s, err := b.tryAccept("q", nil)
			b.must("AcceptSession", err)
			got = append(got, s.SessionID())
		}
		if !slices.Equal(got, []string{"a", "c"}) {
			b.Errorf("next sessions = %q, want a, c", got)
		}
		_, err := b.tryAccept("q", nil)
		b.fails("AcceptSession when none is free", err, messaging.ErrTimeout)
		b.complete(held, b.receiveOne(held))
	}},
	{"EmptySessionIDIsASession", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("", "a"))
		s, err := b.tryAccept("q", nil)
		b.must("AcceptSession", err)
		if s.SessionID() != "" {
			b.Errorf("SessionID = %q, want the empty one", s.SessionID())
		}
		b.expect("Receive", b.receive(s, 1), "a")
	}},
	{"SessionsAndPlainEntitiesDoNotMix", false, func(b *busBench) {
		b.queue(busQueue{Name: "plain"})
		b.queue(busQueue{Name: "q", RequiresSession: true})
		_, err := b.tryReceiver("q", nil)
		b.fails("Receiver on an entity with sessions", err, messaging.ErrNotAllowed)
		_, err = b.tryAccept("plain", of("x"))
		b.fails("AcceptSession on an entity without", err, messaging.ErrNotAllowed)
		b.send("plain", inSession("x", "a")) // a session is just a property there
		m := b.receiveOne(b.receiver("plain"))
		if m.SessionID == nil || *m.SessionID != "x" {
			b.Errorf("session of a message in a plain queue = %v", m.SessionID)
		}
	}},
	{"AbandonedInASessionComesFirst", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "1"), inSession("x", "2"))
		s := b.accept("q", "x")
		b.abandon(s, b.receiveOne(s))
		b.expect("Receive", b.receive(s, 2), "1", "2")
	}},
	{"CloseGivesTheSessionBack", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "1"), inSession("x", "2"))
		s := b.accept("q", "x")
		old := b.receive(s, 2)
		b.close(s)
		other := b.accept("q", "x")
		if _, ok := b.Namespace.(servicebus.Management); ok {
			b.fails("Complete after Close", b.call(func(ctx context.Context) error { return s.Complete(ctx, old[0]) }), messaging.ErrClosed)
		}
		b.expect("Receive", b.receive(other, 2), "1", "2")
	}},
	{"DeferredInASession", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "1"), inSession("y", "2"))
		s := b.accept("q", "x")
		m := b.receiveOne(s)
		b.deferMessage(s, m)
		_, err := b.tryDeferred(b.accept("q", "y"), m.SequenceNumber)
		b.fails("ReceiveDeferred in another session", err, bindings.ErrMessageNotFound)
		b.complete(s, b.deferred(s, m.SequenceNumber))
		b.counts("q", servicebus.Counts{Active: 1})
	}},
	{"SessionlessMessage", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		err := b.trySend("q", text1("a"))
		if !b.Features.SessionlessToDLQ {
			if err == nil {
				b.Error("Send without a session succeeded")
			}
			return
		}
		b.must("Send", err)
		d := b.receiver("q" + dlq) // not one that requires sessions
		b.expectReason(b.receiveOne(d), "Session ID is null.")
	}},
	{"DeadLetterKeepsTheSession", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "a"))
		s := b.accept("q", "x")
		b.deadLetter(s, b.receiveOne(s))
		m := b.receiveOne(b.receiver("q" + dlq))
		if m.SessionID == nil || *m.SessionID != "x" {
			b.Errorf("session in the dead-letter queue = %v, want x", m.SessionID)
		}
	}},
	{"SessionState", false, func(b *busBench) {
		b.queue(busQueue{Name: "q", RequiresSession: true})
		state := func(s servicebus.Session) (out []byte) {
			b.must("State", b.call(func(ctx context.Context) (err error) { out, err = s.State(ctx); return err }))
			return out
		}
		set := func(s servicebus.Session, to []byte) error {
			return b.call(func(ctx context.Context) error { return s.SetState(ctx, to) })
		}
		s := b.accept("q", "x")
		if got := state(s); got != nil {
			b.Errorf("State of a new session = %q, want none", got)
		}
		given := []byte("kept")
		b.must("SetState", set(s, given))
		given[0] = 'x'
		b.close(s) // and there is no message either
		s = b.accept("q", "x")
		if got := state(s); string(got) != "kept" {
			b.Errorf("State = %q, want kept", got)
		}
		b.must("SetState", set(s, nil))
		if got := state(s); got != nil {
			b.Errorf("State after clearing = %q, want none", got)
		}
		b.must("SetState", set(s, given))
		b.must("SetState to nothing", set(s, []byte{})) // as the client for Go clears it
		if got := state(s); got != nil {
			b.Errorf("State after an empty one = %q, want none", got)
		}
		b.fails("SetState of 256 KB and a byte", set(s, []byte(strings.Repeat("x", 256<<10+1))), bindings.ErrTooLarge)
	}},
	{"SessionLockEnds", true, func(b *busBench) {
		if !b.Features.SessionsEnd {
			b.Skip("the backend's receivers take a lost session again")
		}
		b.queue(busQueue{Name: "q", RequiresSession: true, LockDuration: 30 * time.Second})
		b.send("q", inSession("x", "a"))
		s := b.accept("q", "x")
		m := b.receiveOne(s)
		if !m.LockedUntil.Equal(s.LockedUntil()) {
			b.Errorf("message locked until %v, session until %v, want the same", m.LockedUntil, s.LockedUntil())
		}
		b.Advance(20 * time.Second)
		var until time.Time
		b.must("RenewSession", b.call(func(ctx context.Context) (err error) { until, err = s.RenewSession(ctx); return err }))
		if !until.Equal(b.Now().Add(30*time.Second)) || !s.LockedUntil().Equal(until) {
			b.Errorf("RenewSession = %v (session: %v), want 30 s from now", until, s.LockedUntil())
		}
		b.fails("Renew of a message", b.call(func(ctx context.Context) error { _, err := s.Renew(ctx, m); return err }), messaging.ErrNotAllowed)
		b.Advance(29 * time.Second)
		b.receiveNone(s)
		b.Advance(time.Second)
		for what, f := range map[string]func(ctx context.Context) error{
			"Complete":     func(ctx context.Context) error { return s.Complete(ctx, m) },
			"Receive":      func(ctx context.Context) error { _, err := s.Receive(ctx, 1, 0); return err },
			"RenewSession": func(ctx context.Context) error { _, err := s.RenewSession(ctx); return err },
			"State":        func(ctx context.Context) error { _, err := s.State(ctx); return err },
		} {
			b.fails(what+" after the session's lock ended", b.call(f), messaging.ErrSessionLockLost)
		}
		b.expect("Receive", b.receive(b.accept("q", "x"), 1), "a")
	}},
	{"SessionsAreListed", true, func(b *busBench) {
		server, ok := b.Namespace.(servicebus.Management)
		if !ok {
			b.Skip("the backend is not served by a server")
		}
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("b", "1"), inSession("a", "2"))
		far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		list := func(after time.Time, skip, top int, want ...string) {
			b.Helper()
			b.do(func(ctx context.Context) {
				got, err := server.Sessions(ctx, "q", after, skip, top)
				b.must("Sessions", err)
				if !slices.Equal(got, want) {
					b.Errorf("Sessions = %q, want %q", got, want)
				}
			})
		}
		list(far, 0, 10, "a", "b")
		list(far, 1, 1, "b")
		start := b.Now()
		b.Advance(time.Minute)
		b.do(func(ctx context.Context) {
			b.must("SetSessionState", server.SetSessionState(ctx, "q", "c", []byte("x")))
		})
		list(start, 0, 10, "c")
		list(b.Now(), 0, 10)
		list(far, 0, 10, "a", "b", "c") // messages, or a state
		b.do(func(ctx context.Context) { b.must("SetSessionState", server.SetSessionState(ctx, "q", "c", []byte{})) })
		list(far, 0, 10, "a", "b")
	}},
	{"NeedsTheSession", true, func(b *busBench) {
		server, ok := b.Namespace.(servicebus.Management)
		if !ok {
			b.Skip("the backend is not served by a server")
		}
		b.queue(busQueue{Name: "q", RequiresSession: true})
		b.send("q", inSession("x", "a"))
		s := b.accept("q", "x")
		m := b.receiveOne(s)
		complete := servicebus.Settlement{SessionID: of("y")}
		b.do(func(ctx context.Context) {
			b.fails("Settle with a session that is not locked", server.Settle(ctx, "q", complete, m.LockToken), messaging.ErrSessionLockLost)
			_, err := server.RenewSession(ctx, "q", "y")
			b.fails("RenewSession of one that is not locked", err, messaging.ErrSessionLockLost)
			_, err = server.RenewLocks(ctx, "q", m.LockToken)
			b.fails("RenewLocks in a session", err, messaging.ErrNotAllowed)
			_, err = b.Namespace.AcceptSession(ctx, "q", &servicebus.SessionOptions{SessionID: of("y")})
			b.must("AcceptSession", err)
			b.fails("Settle with another session", server.Settle(ctx, "q", complete, m.LockToken), messaging.ErrSessionLockLost)
			complete.SessionID = of("x")
			b.must("Settle", server.Settle(ctx, "q", complete, m.LockToken))
		})
		link := s.(servicebus.Link)
		b.do(func(context.Context) { link.Vanish() })
		_, err := b.tryAccept("q", of("x"))
		b.fails("AcceptSession after the holder vanished", err, messaging.ErrSessionLocked)
		b.Advance(time.Minute)
		b.accept("q", "x")
	}},
}
