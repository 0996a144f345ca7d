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
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
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
			wantLost(t, r.AcceptMessage(ctx, m))
			w.clk.Advance(time.Second) // the client has credit again, and waits
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

// wantLost: a message cannot be settled because its session is lost; the link may be gone.
func wantLost(t *testing.T, err error) {
	t.Helper()
	var refused *goamqp.Error
	var detached *goamqp.LinkError
	if errors.As(err, &detached) {
		refused = detached.RemoteErr
	} else {
		errors.As(err, &refused)
	}
	if refused == nil || refused.Condition != "com.microsoft:session-lock-lost" {
		t.Errorf("settled after the lock with %v", err)
	}
}

// received has a namespace tell of each of its receives when it begins: the server asks once
// for what there is, and once more to wait.
func received() (*emulator.Options, <-chan struct{}) {
	began := make(chan struct{}, 100)
	return &emulator.Options{Fault: func(p emulator.FaultPoint) error {
		if p.Op == "Receive" && !p.After {
			began <- struct{}{}
		}
		return nil
	}}, began
}

// TestSessionLossIsTold: a client that waits for nothing learns at the end of its session's
// lock that it has lost the session, one that waits for a message 250 ms later.
func TestSessionLossIsTold(t *testing.T) {
	t.Parallel()
	for name, credit := range map[string]uint32{"waits": 2, "waits for nothing": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, began := received()
			w := newWorld(t, opts, nil)
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
			for range 2*credit - 1 {
				<-began
			}
			w.clk.Advance(time.Minute)
			if name == "waits" {
				w.clk.Advance(249 * time.Millisecond)
				for range 5 { // round trips, so that a detach would have come
					ask(t, ctx, session, "q/$management", &goamqp.Message{ApplicationProperties: map[string]any{"operation": "com.microsoft:get-session-state"}, Value: map[string]any{"session-id": "s1"}})
				}
				var detached *goamqp.LinkError
				if err := r.AcceptMessage(ctx, m); errors.As(err, &detached) {
					t.Errorf("AcceptMessage after the lock = %v: want a refusal, and the link stays", err)
				}
				w.clk.Advance(time.Millisecond)
			}
			wantDetached(t, ctx, r)
		})
	}
}

// The client for .NET that waits when the lock of its session ends is detached when it has
// drained its link, and has the answer to that first: a drain on a link that is gone is one
// that hangs. Whoever drains when the link ends has the answer too.
func TestSessionLossOfAClientThatDrains(t *testing.T) {
	t.Parallel()
	for name, product := range map[string]string{"dotnet": "azsdk-net-Azure.Messaging.ServiceBus/7.21.0", "another": "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts, began := received()
			w := newWorld(t, opts, nil)
			w.queue(t, servicebus.Queue{Name: "s", RequiresSession: true})
			c := newController(t, w.address, wire.Entry{Key: wire.Symbol("product"), Value: product})
			c.receives(1, "s", "one")
			c.credit(1)
			for range 2 {
				<-began
			}
			if name == "dotnet" {
				w.clk.Advance(5 * time.Minute) // a link without any use ends after 10
			} else {
				w.clk.Advance(time.Minute)
			}
			c.frame(&wire.Flow{NextIncomingID: wire.Some[uint32](0), IncomingWindow: 1000, OutgoingWindow: 1000, Handle: wire.Some[uint32](1), DeliveryCount: wire.Some[uint32](0), LinkCredit: wire.Some[uint32](1), Drain: true}, nil)
			if drained := await[*wire.Flow](c); !drained.Drain || drained.LinkCredit.V != 0 || drained.DeliveryCount.V != 1 {
				t.Errorf("drained with %+v", drained)
			}
			if got := await[*wire.Detach](c); got.Error == nil || got.Error.Condition != "com.microsoft:session-lock-lost" {
				t.Errorf("detach with %v", got.Error)
			}
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
