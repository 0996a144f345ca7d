package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// TestMessageFields: what the official client sends comes back, with what the
// service adds.
func TestMessageFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "Orders", LockDuration: 30 * time.Second})
	ctx, c := w.client(t)
	properties := map[string]any{"s": "text", "i": int32(7), "l": int64(8), "b": true, "f": 1.5, "t": time.UnixMilli(1000).UTC(), "u": goamqp.UUID{1, 2, 3}}
	send(t, ctx, c, "orders", &azservicebus.Message{
		Body: []byte("body"), MessageID: ptr("id"), ContentType: ptr("text/plain"), CorrelationID: ptr("corr"), Subject: ptr("label"),
		To: ptr("to"), ReplyTo: ptr("reply"), ReplyToSessionID: ptr("rs"), PartitionKey: ptr("pk"),
		TimeToLive: ptr(time.Hour), ApplicationProperties: properties,
	})
	r := receiverOf(t, c, "ORDERS", nil)
	got := receive(t, ctx, r)
	start := w.clk.Now()
	want := &azservicebus.ReceivedMessage{
		Body: []byte("body"), MessageID: "id", ContentType: ptr("text/plain"), CorrelationID: ptr("corr"), Subject: ptr("label"),
		To: ptr("to"), ReplyTo: ptr("reply"), ReplyToSessionID: ptr("rs"), PartitionKey: ptr("pk"),
		TimeToLive: ptr(time.Hour), ApplicationProperties: properties,
		DeliveryCount: 1, EnqueuedTime: ptr(start), ExpiresAt: ptr(start.Add(time.Hour)), LockedUntil: ptr(start.Add(30 * time.Second)),
		SequenceNumber: ptr(int64(1)), EnqueuedSequenceNumber: ptr(int64(1)),
		LockToken: got.LockToken, RawAMQPMessage: got.RawAMQPMessage,
	}
	utc := cmp.Transformer("UTC", func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) })
	if diff := cmp.Diff(want, got, utc, cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && (f.Name() == "RawAMQPMessage" || f.Name() == "rawAMQPMessage" || f.Name()[0] >= 'a')
	}, cmp.Ignore())); diff != "" {
		t.Errorf("received (-want +got):\n%s", diff)
	}
	if got.RawAMQPMessage.Properties.AbsoluteExpiryTime == nil || !got.RawAMQPMessage.Properties.AbsoluteExpiryTime.Equal(start.Add(time.Hour)) {
		t.Errorf("absolute-expiry-time = %v", got.RawAMQPMessage.Properties.AbsoluteExpiryTime)
	}
	if err := r.CompleteMessage(ctx, got, nil); err != nil {
		t.Fatal(err)
	}
	if n := w.counts(t, "orders").Total(); n != 0 {
		t.Errorf("%d messages left", n)
	}
}

// TestLockTokenOrder: the delivery tag has the bytes of the token in .NET's order,
// which the client turns back; $management takes it as printed.
func TestLockTokenOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("x")})
	r := receiverOf(t, c, "q", nil)
	m := receive(t, ctx, r)
	w.clk.Advance(time.Second)
	if err := r.RenewMessageLock(ctx, m, nil); err != nil {
		t.Fatalf("RenewMessageLock: %v", err)
	}
	if want := w.clk.Now().Add(time.Minute); !m.LockedUntil.Equal(want) {
		t.Errorf("LockedUntil = %v, want %v", m.LockedUntil, want)
	}
	w.do(t, func(ctx context.Context) error {
		return w.ns.Settle(ctx, "q", bindings.ServiceBusSettlement{}, bindings.GUID(m.LockToken))
	})
}

// TestSettlements settles in every way, through the link and through $management
// once the link is closed.
func TestSettlements(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"link", "management"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, bindings.ServiceBusQueue{Name: "q", MaxDeliveryCount: 3})
			ctx, c := w.client(t)
			var r *azservicebus.Receiver
			next := func() *azservicebus.ReceivedMessage {
				t.Helper()
				r = receiverOf(t, c, "q", nil)
				m := receive(t, ctx, r)
				if how == "management" {
					if err := r.Close(ctx); err != nil {
						t.Fatal(err)
					}
					r = receiverOf(t, c, "q", nil)
				}
				return m
			}
			wantCount := func(m *azservicebus.ReceivedMessage, want uint32) {
				t.Helper()
				if m.DeliveryCount != want {
					t.Errorf("DeliveryCount = %d, want %d", m.DeliveryCount, want)
				}
			}
			send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("1")})

			m := next()
			wantCount(m, 1)
			if err := r.AbandonMessage(ctx, m, &azservicebus.AbandonMessageOptions{PropertiesToModify: map[string]any{"k": "v"}}); err != nil {
				t.Fatal(err)
			}
			m = next()
			wantCount(m, 2)
			if m.ApplicationProperties["k"] != "v" {
				t.Errorf("properties after abandon = %v", m.ApplicationProperties)
			}
			if err := r.DeferMessage(ctx, m, &azservicebus.DeferMessageOptions{PropertiesToModify: map[string]any{"k": int64(2)}}); err != nil {
				t.Fatal(err)
			}
			deferred, err := r.ReceiveDeferredMessages(ctx, []int64{*m.SequenceNumber}, nil)
			if err != nil || len(deferred) != 1 {
				t.Fatalf("ReceiveDeferredMessages = %v, %v", deferred, err)
			}
			wantCount(deferred[0], 3)
			if deferred[0].State != azservicebus.MessageStateDeferred || deferred[0].ApplicationProperties["k"] != int64(2) {
				t.Errorf("deferred: state %v, properties %v", deferred[0].State, deferred[0].ApplicationProperties)
			}
			if err := r.DeadLetterMessage(ctx, deferred[0], &azservicebus.DeadLetterOptions{Reason: ptr("why"), ErrorDescription: ptr("because"), PropertiesToModify: map[string]any{"p": "q"}}); err != nil {
				t.Fatal(err)
			}
			dlq := receiverOf(t, c, "q", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
			dead := receive(t, ctx, dlq)
			wantCount(dead, 3)
			if *dead.DeadLetterReason != "why" || *dead.DeadLetterErrorDescription != "because" || dead.ApplicationProperties["p"] != "q" {
				t.Errorf("dead-lettered: %v, %v, %v", *dead.DeadLetterReason, *dead.DeadLetterErrorDescription, dead.ApplicationProperties)
			}
			var refused *goamqp.Error
			if err := dlq.DeadLetterMessage(ctx, dead, nil); !errors.As(err, &refused) || refused.Condition != goamqp.ErrCondNotAllowed {
				t.Errorf("DeadLetterMessage in the DLQ = %v, want not-allowed", err)
			}
			w.do(t, func(ctx context.Context) error {
				return w.ns.Settle(ctx, "q/$deadletterqueue", bindings.ServiceBusSettlement{Action: bindings.ServiceBusAbandon}, bindings.GUID(dead.LockToken))
			})
			dead = receive(t, ctx, dlq)
			wantCount(dead, 3)
			if err := dlq.CompleteMessage(ctx, dead, nil); err != nil {
				t.Fatal(err)
			}
			if n := w.counts(t, "q").Total(); n != 0 {
				t.Errorf("%d messages left", n)
			}
		})
	}
}

// TestDeliveryCounts is the worked example of the spec, 1.3, with N = 3.
func TestDeliveryCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", MaxDeliveryCount: 3})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("poison")})
	r := receiverOf(t, c, "q", nil)
	for i := range 3 {
		m := receive(t, ctx, r)
		if header := m.RawAMQPMessage.Header.DeliveryCount; header != uint32(i) || m.DeliveryCount != uint32(i+1) {
			t.Errorf("delivery %d: header %d, DeliveryCount %d", i+1, header, m.DeliveryCount)
		}
		if err := r.AbandonMessage(ctx, m, nil); err != nil {
			t.Fatal(err)
		}
	}
	dead := receive(t, ctx, receiverOf(t, c, "q", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}))
	if dead.RawAMQPMessage.Header.DeliveryCount != 3 || dead.DeliveryCount != 4 || *dead.DeadLetterReason != "MaxDeliveryCountExceeded" {
		t.Errorf("in the DLQ: header %d, DeliveryCount %d, reason %q", dead.RawAMQPMessage.Header.DeliveryCount, dead.DeliveryCount, *dead.DeadLetterReason)
	}
}

func wantLockLost(t *testing.T, what string, err error) {
	t.Helper()
	var e *azservicebus.Error
	if !errors.As(err, &e) || e.Code != azservicebus.CodeLockLost {
		t.Errorf("%s = %v, want CodeLockLost", what, err)
	}
}

// TestLockLost: settling and renewing after the lock has ended.
func TestLockLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("x")})
	r := receiverOf(t, c, "q", nil)
	m := receive(t, ctx, r)
	w.clk.Advance(time.Minute)
	wantLockLost(t, "RenewMessageLock", r.RenewMessageLock(ctx, m, nil))
	wantLockLost(t, "CompleteMessage", r.CompleteMessage(ctx, m, nil))
	again := receive(t, ctx, r)
	if again.DeliveryCount != 2 {
		t.Errorf("DeliveryCount = %d, want 2", again.DeliveryCount)
	}
	if err := r.CompleteMessage(ctx, again, nil); err != nil {
		t.Error(err)
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	s, err := c.NewSender("q", nil)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := s.NewMessageBatch(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.AddMessage(&azservicebus.Message{Body: make([]byte, 300<<10)}, nil); !errors.Is(err, azservicebus.ErrMessageTooLarge) {
		t.Errorf("AddMessage of 300 KiB = %v", err)
	}
	const n = 100
	for i := range n {
		if err := batch.AddMessage(&azservicebus.Message{Body: fmt.Append(nil, i), MessageID: ptr(fmt.Sprint("m", i))}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SendMessageBatch(ctx, batch, nil); err != nil {
		t.Fatal(err)
	}
	r := receiverOf(t, c, "q", &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	var got []string
	for len(got) < n {
		list, err := r.ReceiveMessages(ctx, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			got = append(got, m.MessageID+"="+string(m.Body))
		}
	}
	for i, g := range got {
		if want := fmt.Sprintf("m%d=%d", i, i); g != want {
			t.Fatalf("message %d is %s, want %s", i, g, want)
		}
	}
	if n := w.counts(t, "q").Total(); n != 0 {
		t.Errorf("%d messages left after receive and delete", n)
	}
}

func TestScheduleAndPeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	s, err := c.NewSender("q", nil)
	if err != nil {
		t.Fatal(err)
	}
	at := w.clk.Now().Add(time.Hour)
	numbers, err := s.ScheduleMessages(ctx, []*azservicebus.Message{{Body: []byte("a")}, {Body: []byte("b")}}, at, nil)
	if err != nil || len(numbers) != 2 {
		t.Fatalf("ScheduleMessages = %v, %v", numbers, err)
	}
	r := receiverOf(t, c, "q", nil)
	peeked, err := r.PeekMessages(ctx, 10, nil)
	if err != nil || len(peeked) != 2 {
		t.Fatalf("PeekMessages = %v, %v", peeked, err)
	}
	if peeked[0].State != azservicebus.MessageStateScheduled || !peeked[0].ScheduledEnqueueTime.Equal(at) || peeked[0].LockedUntil != nil {
		t.Errorf("peeked: state %v, scheduled %v, locked until %v", peeked[0].State, peeked[0].ScheduledEnqueueTime, peeked[0].LockedUntil)
	}
	if more, err := r.PeekMessages(ctx, 10, nil); err != nil || len(more) != 0 {
		t.Errorf("PeekMessages beyond the end = %v, %v", more, err)
	}
	if err := s.CancelScheduledMessages(ctx, numbers[:1], nil); err != nil {
		t.Fatal(err)
	}
	if err := s.CancelScheduledMessages(ctx, numbers[:1], nil); err == nil {
		t.Error("cancelled twice")
	}
	if err := s.SendMessage(ctx, &azservicebus.Message{Body: []byte("c"), ScheduledEnqueueTime: ptr(at.Add(time.Second))}, nil); err != nil {
		t.Fatal(err)
	}
	w.clk.Advance(time.Hour)
	m := receive(t, ctx, r)
	if string(m.Body) != "b" || *m.SequenceNumber == numbers[1] {
		t.Errorf("activated: %q, number %d, which was %d", m.Body, *m.SequenceNumber, numbers[1])
	}
	w.clk.Advance(time.Second)
	if m := receive(t, ctx, r); string(m.Body) != "c" {
		t.Errorf("activated: %q, want c", m.Body)
	}
}

func TestDeferredUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	_, err := receiverOf(t, c, "q", nil).ReceiveDeferredMessages(ctx, []int64{99}, nil)
	if err == nil {
		t.Fatal("ReceiveDeferredMessages of an unknown number: no error")
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.topic(t, "news", "a", "b")
	ctx, c := w.client(t)
	send(t, ctx, c, "news", &azservicebus.Message{Body: []byte("x")})
	for _, sub := range []string{"a", "B"} {
		r, err := c.NewReceiverForSubscription("NEWS", sub, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := receive(t, ctx, r)
		if err := r.DeadLetterMessage(ctx, m, nil); err != nil {
			t.Fatal(err)
		}
		dlq, err := c.NewReceiverForSubscription("news", sub, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
		if err != nil {
			t.Fatal(err)
		}
		if err := dlq.CompleteMessage(ctx, receive(t, ctx, dlq), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReleasedUncounted: what arrives between two receive calls goes back, and its
// count stays.
func TestReleasedUncounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	r := receiverOf(t, c, "q", nil)
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("1")})
	list, err := r.ReceiveMessages(ctx, 10, nil) // leaves credit behind
	if err != nil || len(list) != 1 {
		t.Fatalf("ReceiveMessages = %v, %v", list, err)
	}
	send(t, ctx, c, "q", &azservicebus.Message{Body: []byte("2")})
	other := receiverOf(t, c, "q", nil)
	m := receive(t, ctx, other)
	if string(m.Body) != "2" || m.DeliveryCount != 1 {
		t.Errorf("received %q with count %d, want 2 with count 1", m.Body, m.DeliveryCount)
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", RequiresSession: true})
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
			w.queue(t, bindings.ServiceBusQueue{Name: "q", RequiresSession: true})
			w.do(t, func(ctx context.Context) error {
				return w.ns.Send(ctx, "q", &bindings.ServiceBusMessage{SessionID: ptr("s1")}, &bindings.ServiceBusMessage{SessionID: ptr("s1")})
			})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			r, err := w.session(t, ctx).NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: 1, Filters: []goamqp.LinkFilter{filter}, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
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
			// Whether the disposition or the detach is first, it is the session's lock.
			err = r.AcceptMessage(ctx, m)
			var refused *goamqp.Error
			var detached *goamqp.LinkError
			if errors.As(err, &detached) {
				refused = detached.RemoteErr
			} else {
				errors.As(err, &refused)
			}
			if refused == nil || refused.Condition != "com.microsoft:session-lock-lost" {
				t.Errorf("AcceptMessage after the lock = %v", err)
			}
			for err == nil || detached == nil {
				if _, err = r.Receive(ctx, nil); ctx.Err() != nil {
					t.Fatal("the link goes on")
				}
				errors.As(err, &detached)
			}
			if detached.RemoteErr == nil || detached.RemoteErr.Condition != "com.microsoft:session-lock-lost" {
				t.Errorf("Receive after the lock = %v", err)
			}
		})
	}
}

func TestNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", RequiresSession: true})
	w.queue(t, bindings.ServiceBusQueue{Name: "plain"})
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

func TestRefusedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	w.queue(t, bindings.ServiceBusQueue{Name: "off", Status: bindings.ServiceBusStatusDisabled})
	w.topic(t, "t", "s")
	ctx, c := w.client(t)
	for entity, want := range map[string]goamqp.ErrCond{
		"missing":            goamqp.ErrCondNotFound,
		"not a name":         goamqp.ErrCondNotFound,
		"q/$DeadLetterQueue": goamqp.ErrCondNotAllowed,
		"t/Subscriptions/s":  goamqp.ErrCondNotAllowed,
		"off":                "com.microsoft:entity-disabled",
	} {
		s, err := c.NewSender(entity, nil)
		if err != nil {
			t.Fatal(err)
		}
		var refused *goamqp.Error
		if err := s.SendMessage(ctx, &azservicebus.Message{}, nil); !errors.As(err, &refused) || refused.Condition != want {
			t.Errorf("send to %q = %v, want %s", entity, err, want)
		}
	}
	for queue, want := range map[string]goamqp.ErrCond{"missing": goamqp.ErrCondNotFound, "off": "com.microsoft:entity-disabled", "t": goamqp.ErrCondNotAllowed} {
		var refused *goamqp.Error
		if _, err := receiverOf(t, c, queue, nil).ReceiveMessages(ctx, 1, nil); !errors.As(err, &refused) || refused.Condition != want {
			t.Errorf("receive from %q = %v, want %s", queue, err, want)
		}
	}
}

// TestEntityDeleted: a link that waits learns of it.
func TestEntityDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{})
	r := receiverOf(t, c, "q", nil)
	receive(t, ctx, r)
	w.do(t, func(ctx context.Context) error { return w.ns.DeleteQueue(ctx, "q") })
	if _, err := r.ReceiveMessages(ctx, 1, nil); err == nil {
		t.Error("ReceiveMessages from a deleted queue: no error")
	}
}

// TestAutoCreate is the switch autoCreateEntities: any.
func TestAutoCreate(t *testing.T) {
	t.Parallel()
	opts := serviceBusOptions()
	opts.AutoCreateEntitiesOnUse = true
	w := newWorld(t, opts, nil)
	ctx, c := w.client(t)
	send(t, ctx, c, "fresh", &azservicebus.Message{Body: []byte("x")})
	if m := receive(t, ctx, receiverOf(t, c, "fresh", nil)); string(m.Body) != "x" {
		t.Errorf("received %q", m.Body)
	}
}

// TestSessionNames lists sessions through $management.
func TestSessionNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", RequiresSession: true})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{SessionID: ptr("b")}, &azservicebus.Message{SessionID: ptr("a")})
	answer := w.manage(t, ctx, "q", "com.microsoft:get-message-sessions", map[string]any{"last-updated-time": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "skip": int32(0), "top": int32(10)})
	names, _ := answer.Value.(map[string]any)["sessions-ids"].([]string)
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("sessions = %v", answer.Value)
	}
}

// TestVanish: a client that is gone without a word keeps its locks until they end; a
// session counts then, and is free for others.
func TestVanish(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	w.queue(t, bindings.ServiceBusQueue{Name: "s", RequiresSession: true})
	w.do(t, func(ctx context.Context) error {
		return errors.Join(
			w.ns.Send(ctx, "q", &bindings.ServiceBusMessage{Body: []byte("plain")}),
			w.ns.Send(ctx, "s", &bindings.ServiceBusMessage{Body: []byte("of a session"), SessionID: ptr("s1")}))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	session, cut := w.cuttable(t, ctx)
	for queue, filters := range map[string][]goamqp.LinkFilter{"q": nil, "s": {goamqp.NewLinkFilter("com.microsoft:session-filter", 0x137000000C, "s1")}} {
		r, err := session.NewReceiver(ctx, queue, &goamqp.ReceiverOptions{Filters: filters, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Receive(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	cut()
	w.clk.Advance(time.Minute)
	_, c := w.client(t)
	if m := receive(t, ctx, receiverOf(t, c, "q", nil)); m.DeliveryCount != 2 {
		t.Errorf("plain: DeliveryCount %d, want 2", m.DeliveryCount)
	}
	s, err := c.AcceptSessionForQueue(ctx, "s", "s1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := receive(t, ctx, s); m.DeliveryCount != 2 {
		t.Errorf("of a session: DeliveryCount %d, want 2", m.DeliveryCount)
	}
}

// TestHundredSessions accepts 100 sessions at once.
func TestHundredSessions(t *testing.T) {
	t.Parallel()
	const n = 100
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q", RequiresSession: true})
	w.do(t, func(ctx context.Context) error {
		for i := range n {
			if err := w.ns.Send(ctx, "q", &bindings.ServiceBusMessage{SessionID: ptr(fmt.Sprint(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	session := w.session(t, ctx)
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

// TestTooLarge: one byte more than the entity takes.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	w.queue(t, bindings.ServiceBusQueue{Name: "large", MaxMessageSizeInKilobytes: 1024})
	ctx, c := w.client(t)
	for queue, want := range map[string]error{"q": azservicebus.ErrMessageTooLarge, "large": nil} {
		s, err := c.NewSender(queue, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SendMessage(ctx, &azservicebus.Message{Body: make([]byte, 256<<10)}, nil); !errors.Is(err, want) {
			t.Errorf("SendMessage of 256 KiB to %s = %v, want %v", queue, err, want)
		}
	}
	if n := w.counts(t, "q").Total(); n != 0 {
		t.Errorf("%d messages in the queue", n)
	}
}

// TestEchoForPython: the client for Python wants its own outcome back.
func TestEchoForPython(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	w.do(t, func(ctx context.Context) error { return w.ns.Send(ctx, "q", &bindings.ServiceBusMessage{}) })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	nc, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	heard := &recorded{Conn: nc}
	session := sessionOver(t, ctx, heard, &goamqp.ConnOptions{Properties: map[string]any{"product": "azsdk-python-servicebus"}})
	r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ModifyMessage(ctx, m, nil); err != nil {
		t.Error(err)
	}
	const modified = "\x00\x53\x27"
	if !strings.Contains(heard.String(), modified) {
		t.Error("the outcome that was asked for did not come back")
	}
}

// recorded is a connection that keeps what was read.
type recorded struct {
	net.Conn
	mu   sync.Mutex
	read strings.Builder
}

func (c *recorded) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read.Write(p[:n])
	return n, err
}

func (c *recorded) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read.String()
}

// TestPaceAuto: a lock that a client holds is no reason for time to jump, though
// somebody waits for an hour.
func TestPaceAuto(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{})
	w.clk.Auto()
	defer w.clk.Close()
	r := receiverOf(t, c, "q", nil)
	start := w.clk.Now()
	m := receive(t, ctx, r)
	brief, cancel := context.WithTimeout(ctx, 50*time.Millisecond) // much longer than the quiet after which the pace jumps
	defer cancel()
	if _, err := r.ReceiveMessages(brief, 1, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ReceiveMessages = %v", err)
	}
	if gone := w.clk.Now().Sub(start); gone > 30*time.Second {
		t.Errorf("time has jumped by %v", gone)
	}
	if err := r.CompleteMessage(ctx, m, nil); err != nil {
		t.Error(err)
	}
}

// TestSendFailures: of messages that arrive together each has its own outcome; a
// failure after the effect leaves no second copy.
func TestSendFailures(t *testing.T) {
	t.Parallel()
	var fail atomic.Bool
	w := newWorld(t, &servicebus.Options{Fault: func(p servicebus.FaultPoint) error {
		if p.Op == "Send" && p.After && fail.Load() {
			return errors.New("the answer is lost")
		}
		return nil
	}}, nil)
	w.queue(t, bindings.ServiceBusQueue{Name: "q"})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s, err := w.session(t, ctx).NewSender(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	together := func(ids ...string) (failed []string) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() {
				m := goamqp.NewMessage([]byte("x"))
				m.Properties = &goamqp.MessageProperties{MessageID: id}
				if err := s.Send(ctx, m, nil); err != nil {
					mu.Lock()
					failed = append(failed, fmt.Sprint(len(id)))
					mu.Unlock()
				}
			})
		}
		all.Wait()
		return failed
	}
	long := strings.Repeat("x", 129) // more than an identifier may have
	if failed := together("a", long, "b", "c", long); !slices.Equal(failed, []string{"129", "129"}) {
		t.Errorf("failed: %v, want the two with long identifiers", failed)
	}
	if n := w.counts(t, "q").Active; n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
	fail.Store(true)
	if failed := together("d"); len(failed) != 1 {
		t.Errorf("failed: %v", failed)
	}
	if n := w.counts(t, "q").Active; n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
}
