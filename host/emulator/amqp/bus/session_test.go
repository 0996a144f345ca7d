package bus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
	ctx, c := w.client(t)
	send(t, ctx, c, "q",
		&azservicebus.Message{Body: []byte("1"), SessionID: ptr("s1")},
		&azservicebus.Message{Body: []byte("2"), SessionID: ptr("")},
		&azservicebus.Message{Body: []byte("3"), SessionID: ptr("s1")})
	s, err := c.AcceptSessionForQueue(ctx, "q", "s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.SessionID() != "s1" || !s.LockedUntil().Equal(w.clk.Now().Add(time.Minute)) {
		t.Errorf("session %q locked until %v", s.SessionID(), s.LockedUntil())
	}
	if state, err := s.GetSessionState(ctx, nil); err != nil || state != nil {
		t.Errorf("GetSessionState = %q, %v", state, err)
	}
	if err := s.SetSessionState(ctx, []byte("state"), nil); err != nil {
		t.Fatal(err)
	}
	if state, err := s.GetSessionState(ctx, nil); err != nil || string(state) != "state" {
		t.Errorf("GetSessionState = %q, %v", state, err)
	}
	w.clk.Advance(30 * time.Second)
	if err := s.RenewSessionLock(ctx, nil); err != nil || !s.LockedUntil().Equal(w.clk.Now().Add(time.Minute)) {
		t.Errorf("RenewSessionLock = %v, until %v", err, s.LockedUntil())
	}
	m := receive(t, ctx, s)
	if err := s.AbandonMessage(ctx, m, nil); err != nil {
		t.Fatal(err)
	}
	if m = receive(t, ctx, s); string(m.Body) != "1" || m.DeliveryCount != 2 {
		t.Errorf("after abandon: %q, count %d: want strict order", m.Body, m.DeliveryCount)
	}
	if err := s.CompleteMessage(ctx, m, nil); err != nil {
		t.Fatal(err)
	}

	_, other := w.client(t)
	var locked *goamqp.Error
	if _, err := other.AcceptSessionForQueue(ctx, "q", "s1", nil); !errors.As(err, &locked) || locked.Condition != "com.microsoft:session-cannot-be-locked" {
		t.Errorf("AcceptSessionForQueue of a locked session = %v", err)
	}
	next, err := other.AcceptNextSessionForQueue(ctx, "q", nil)
	if err != nil || next.SessionID() != "" {
		t.Fatalf("AcceptNextSessionForQueue = %v, %v: want the session without a name", next, err)
	}
	if m := receive(t, ctx, next); string(m.Body) != "2" {
		t.Errorf("received %q, want 2", m.Body)
	}

	if m = receive(t, ctx, s); string(m.Body) != "3" {
		t.Errorf("received %q, want 3", m.Body)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s, err = other.AcceptSessionForQueue(ctx, "q", "s1", nil)
	if err != nil {
		t.Fatalf("AcceptSessionForQueue after Close: %v", err)
	}
	if m = receive(t, ctx, s); string(m.Body) != "3" || m.DeliveryCount != 1 {
		t.Errorf("after Close: %q, count %d, want 3, uncounted", m.Body, m.DeliveryCount)
	}
}

// TestSessionLink: the session filter comes back with the name of the session, the
// lock's end is in ticks, and a link whose session is lost is detached.
func TestSessionLink(t *testing.T) {
	t.Parallel()
	for form, filter := range map[string]goamqp.LinkFilter{
		"described": goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, nil),
		"named":     goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, "s1"),
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
			w.do(t, func(ctx context.Context) error {
				return w.ns.Send(ctx, "q", &servicebus.Message{SessionID: ptr("s1")}, &servicebus.Message{SessionID: ptr("s1")})
			})
			ctx, session := w.plain(t)
			r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: 1, Filters: []goamqp.LinkFilter{filter}, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.LinkSourceFilterValue("com.microsoft:session-filter"); got != "s1" {
				t.Errorf("session filter = %v", got)
			}
			const end = 639028224600000000 // 2026-01-01 00:01:00 in .NET
			if got := r.Properties()["com.microsoft:locked-until-utc"]; got != int64(end) {
				t.Errorf("locked-until-utc = %v, want %v", got, int64(end))
			}
			m, err := r.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.clk.Advance(time.Minute)
			// The client is told now if it asks, else when it has waited for 2 s.
			err = r.AcceptMessage(ctx, m)
			var refused *goamqp.Error
			if !errors.As(err, &refused) || refused.Condition != "com.microsoft:session-lock-lost" {
				t.Errorf("AcceptMessage after the lock = %v", err)
			}
			w.clk.Advance(2 * time.Second)
			wantDetached(t, ctx, r)
		})
	}
}

// wantDetached: the link ends because its session's lock has ended.
func wantDetached(t *testing.T, ctx context.Context, r *goamqp.Receiver) {
	t.Helper()
	_, err := r.Receive(ctx, nil)
	var detached *goamqp.LinkError
	if !errors.As(err, &detached) || detached.RemoteErr == nil || detached.RemoteErr.Condition != "com.microsoft:session-lock-lost" {
		t.Errorf("Receive after the lock = %v", err)
	}
}

// TestSessionLossIsTold: a client that only waits learns 2 s after the lock's end that it
// has lost its session, one that asks for messages at once.
func TestSessionLossIsTold(t *testing.T) {
	t.Parallel()
	for name, credit := range map[string]uint32{"waits": 2, "has no credit": 1, "asks": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
			w.do(t, func(ctx context.Context) error { return w.ns.Send(ctx, "q", &servicebus.Message{SessionID: ptr("s1")}) })
			ctx, session := w.plain(t)
			r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{
				Credit: -1, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(),
				Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, "s1")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.IssueCredit(credit); err != nil {
				t.Fatal(err)
			}
			m, err := r.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.clk.Advance(time.Minute + 1999*time.Millisecond)
			for range 5 { // round trips, so that a detach would have come
				ask(t, ctx, session, "q/$management", &goamqp.Message{ApplicationProperties: map[string]any{"operation": "com.microsoft:get-session-state"}, Value: map[string]any{"session-id": "s1"}})
			}
			var refused *goamqp.Error
			var detached *goamqp.LinkError
			if err := r.AcceptMessage(ctx, m); errors.As(err, &detached) || !errors.As(err, &refused) || refused.Condition != "com.microsoft:session-lock-lost" {
				t.Errorf("AcceptMessage after the lock = %v: want a refusal, and the link stays", err)
			}
			if name == "asks" {
				err = r.IssueCredit(1)
			} else {
				w.clk.Advance(time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
			wantDetached(t, ctx, r)
		})
	}
}

func TestNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
	w.queue(t, servicebus.Queue{Name: "plain"})
	ctx, c := w.client(t)
	done := make(chan error, 1)
	go func() {
		_, err := c.AcceptNextSessionForQueue(ctx, "q", nil)
		done <- err
	}()
	var timeout *azservicebus.Error
	var err error
	for waiting := true; waiting; { // until the attach has come, time makes no difference
		select {
		case err = <-done:
			waiting = false
		default:
			w.clk.Advance(time.Minute)
		}
	}
	if !errors.As(err, &timeout) || timeout.Code != azservicebus.CodeTimeout {
		t.Errorf("AcceptNextSessionForQueue = %v, want CodeTimeout", err)
	}
	var refused *goamqp.Error
	if _, err := receiverOf(t, c, "q", nil).ReceiveMessages(ctx, 1, nil); !errors.As(err, &refused) || refused.Condition != goamqp.ErrCondNotAllowed {
		t.Errorf("plain receiver on a session entity = %v, want not-allowed", err)
	}
	if _, err := c.AcceptSessionForQueue(ctx, "plain", "s", nil); !errors.As(err, &refused) || refused.Condition != goamqp.ErrCondNotAllowed {
		t.Errorf("session receiver on a plain entity = %v, want not-allowed", err)
	}
	if got := w.manage(t, ctx, "q", "com.microsoft:peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(1)}).ApplicationProperties["statusCode"]; got != int32(204) {
		t.Errorf("peek without a session: status %v", got)
	}
}

// TestSessionNames lists sessions through $management.
func TestSessionNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{SessionID: ptr("b")}, &azservicebus.Message{SessionID: ptr("a")})
	answer := w.manage(t, ctx, "q", "com.microsoft:get-message-sessions", map[string]any{"last-updated-time": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "skip": int32(0), "top": int32(10)})
	names, _ := answer.Value.(map[string]any)["sessions-ids"].([]string)
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("sessions = %v", answer.Value)
	}
}

// TestHundredSessions accepts 100 sessions at once.
func TestHundredSessions(t *testing.T) {
	t.Parallel()
	const n = 100
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q", RequiresSession: true})
	w.do(t, func(ctx context.Context) error {
		for i := range n {
			if err := w.ns.Send(ctx, "q", &servicebus.Message{SessionID: ptr(fmt.Sprint(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	ctx, session := w.plain(t)
	got := make(chan any, n)
	for range n {
		go func() {
			r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, nil)}})
			if err != nil {
				got <- err
				return
			}
			m, err := r.Receive(ctx, nil)
			if err != nil {
				got <- err
				return
			}
			got <- *m.Properties.GroupID
		}()
	}
	seen := map[any]bool{}
	for range n {
		seen[<-got] = true
	}
	for i := range n {
		if !seen[fmt.Sprint(i)] {
			t.Errorf("session %d was not accepted", i)
		}
	}
}
