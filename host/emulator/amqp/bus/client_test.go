package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// TestMessageFields: the fields that the official client sends come back, with
// the fields that the service adds.
func TestMessageFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "Orders", LockDuration: 30 * time.Second})
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
		SequenceNumber: ptr(int64(1)),
		LockToken:      got.LockToken, RawAMQPMessage: got.RawAMQPMessage,
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
	w.queue(t, servicebus.Queue{Name: "q"})
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
		return w.ns.Settle(ctx, "q", servicebus.Settlement{}, bindings.GUID(m.LockToken))
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
			w.queue(t, servicebus.Queue{Name: "q", MaxDeliveryCount: 3})
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
				return w.ns.Settle(ctx, "q/$deadletterqueue", servicebus.Settlement{Action: servicebus.Abandon}, bindings.GUID(dead.LockToken))
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
	w.queue(t, servicebus.Queue{Name: "q", MaxDeliveryCount: 3})
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

func TestBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
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
	w.queue(t, servicebus.Queue{Name: "q"})
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
	w.queue(t, servicebus.Queue{Name: "q"})
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
	w.queue(t, servicebus.Queue{Name: "q"})
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
	answer := w.manage(t, ctx, "news/Subscriptions/all", "com.microsoft:enumerate-rules", map[string]any{"top": int32(10), "skip": int32(0)})
	if status := answer.ApplicationProperties["statusCode"]; status != int32(200) {
		t.Errorf("$management of a subscription that is made on use: status %v", status)
	}
}

// TestSettlementsAreEchoed: a settlement is confirmed with the outcome that the client asked
// for, whatever the client is (spec messaging 3.6). The clients for Java and Python fail a
// settlement that is answered in another way (azure-core-amqp: ReceiverUnsettledDeliveries).
func TestSettlementsAreEchoed(t *testing.T) {
	t.Parallel()
	why := &goamqp.Error{Condition: "com.microsoft:dead-letter", Info: map[string]any{"DeadLetterReason": "why"}}
	for name, c := range map[string]struct {
		settle func(context.Context, *goamqp.Receiver, *goamqp.Message) error
		want   string // the descriptor of the outcome
	}{
		"complete": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error { return r.AcceptMessage(ctx, m) }, "\x00\x53\x24"},
		"dead-letter": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error {
			return r.RejectMessage(ctx, m, why)
		}, "\x00\x53\x25"},
		"dead-letter without more": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error {
			return r.RejectMessage(ctx, m, nil)
		}, "\x00\x53\x25"},
		"release": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error {
			return r.ReleaseMessage(ctx, m)
		}, "\x00\x53\x26"},
		"abandon": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error {
			return r.ModifyMessage(ctx, m, nil)
		}, "\x00\x53\x27"},
		"defer": {func(ctx context.Context, r *goamqp.Receiver, m *goamqp.Message) error {
			return r.ModifyMessage(ctx, m, &goamqp.ModifyMessageOptions{UndeliverableHere: true})
		}, "\x00\x53\x27"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q"})
			w.do(t, func(ctx context.Context) error { return w.ns.Send(ctx, "q", &servicebus.Message{}) })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			nc, err := net.Dial("tcp", w.address)
			if err != nil {
				t.Fatal(err)
			}
			heard := &recorded{Conn: nc}
			session := sessionOver(t, ctx, heard, nil)
			r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: -1, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.IssueCredit(1); err != nil {
				t.Fatal(err)
			}
			m, err := r.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := len(heard.String())
			if err := c.settle(ctx, r, m); err != nil {
				t.Error(err)
			}
			if got := heard.String()[before:]; !strings.Contains(got, c.want) {
				t.Errorf("answered % x, want the outcome % x", got, c.want)
			}
		})
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
