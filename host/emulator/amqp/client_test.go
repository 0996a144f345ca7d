package amqp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

func second() *goamqp.ReceiverOptions {
	return &goamqp.ReceiverOptions{Credit: 10, SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr()}
}

// TestSendReceive sends messages of all sizes and settles them in every way,
// with go-amqp and small frames on both sides.
func TestSendReceive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		sasl goamqp.SASLType
	}{
		{"no SASL", nil},
		{"anonymous", goamqp.SASLTypeAnonymous()},
		{"plain", goamqp.SASLTypePlain("user", "password")},
		{"external", goamqp.SASLTypeExternal("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			dial := start(t, m, &amqp.Options{MaxFrameSize: 1024})
			ctx, _, session := connect(t, dial, &goamqp.ConnOptions{SASLType: tt.sasl, MaxFrameSize: 512})
			sender, err := session.NewSender(ctx, "q", nil)
			if err != nil {
				t.Fatal(err)
			}
			sizes := []int{0, 1, 400, 900, 1100, 5000, 200_000}
			for _, size := range sizes {
				if err := sender.Send(ctx, goamqp.NewMessage(bytes.Repeat([]byte("x"), size)), nil); err != nil {
					t.Fatalf("Send(%d bytes): %v", size, err)
				}
			}
			receiver, err := session.NewReceiver(ctx, "q", second())
			if err != nil {
				t.Fatal(err)
			}
			settle := []func(context.Context, *goamqp.Message) error{
				receiver.AcceptMessage,
				receiver.ReleaseMessage,
				func(ctx context.Context, m *goamqp.Message) error {
					return receiver.RejectMessage(ctx, m, &goamqp.Error{Condition: "com.microsoft:dead-letter"})
				},
				func(ctx context.Context, m *goamqp.Message) error {
					return receiver.ModifyMessage(ctx, m, &goamqp.ModifyMessageOptions{UndeliverableHere: true})
				},
			}
			for i, size := range sizes {
				msg, err := receiver.Receive(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(msg.GetData()) != size {
					t.Errorf("message of %d bytes, want %d", len(msg.GetData()), size)
				}
				if err := settle[i%len(settle)](ctx, msg); err != nil {
					t.Errorf("settlement %d: %v", i, err)
				}
			}
			want := []string{"accepted 1", "released 2", "rejected 3", "modified 4", "accepted 5", "released 6", "rejected 7"}
			for _, line := range want {
				m.wait(line)
			}
		})
	}
}

func TestReceiveAndDelete(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.put("q", goMessage(t, "a"), goMessage(t, "b"))
	ctx, _, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{RequestedSenderSettleMode: goamqp.SenderSettleModeSettled.Ptr()})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b"} {
		msg, err := receiver.Receive(ctx, nil)
		if err != nil || string(msg.GetData()) != want {
			t.Fatalf("Receive = %q, %v, want %q", msg.GetData(), err, want)
		}
	}
}

func goMessage(t *testing.T, body string) []byte {
	b, err := goamqp.NewMessage([]byte(body)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	ctx, _, session := connect(t, start(t, newMemory(), nil), nil)
	_, err := session.NewSender(ctx, "missing", nil)
	wantCondition(t, "NewSender(missing)", err, wire.CondNotFound)
	_, err = session.NewReceiver(ctx, "missing", nil)
	wantCondition(t, "NewReceiver(missing)", err, wire.CondNotFound)
	_, err = session.NewReceiver(ctx, "", nil)
	wantCondition(t, "NewReceiver without an address", err, wire.CondInvalidField)

	sender, err := session.NewSender(ctx, "reject", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCondition(t, "Send to reject", sender.Send(ctx, goamqp.NewMessage([]byte("x")), nil), "com.microsoft:entity-disabled")
	if got := sender.Properties()["granted"]; got != int32(1) {
		t.Errorf("link property = %v, want 1", got)
	}
	if got := sender.MaxMessageSize(); got != amqp.DefaultMaxMessageSize {
		t.Errorf("MaxMessageSize() = %d", got)
	}
}

func wantCondition(t *testing.T, what string, err error, want wire.Symbol) {
	t.Helper()
	if e, ok := errors.AsType[*goamqp.Error](err); !ok || e.Condition != goamqp.ErrCond(want) {
		t.Errorf("%s = %v, want %s", what, err, want)
	}
}

// TestFailedSettlement: the client is told of a lock that is lost.
func TestFailedSettlement(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.put("lost", goMessage(t, "a"))
	ctx, _, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "lost", second())
	if err != nil {
		t.Fatal(err)
	}
	msg, err := receiver.Receive(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCondition(t, "AcceptMessage", receiver.AcceptMessage(ctx, msg), "com.microsoft:message-lock-lost")
}

func TestDrainAndManualCredit(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, _, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.IssueCredit(5); err != nil {
		t.Fatal(err)
	}
	if err := receiver.DrainCredit(ctx, nil); err != nil {
		t.Fatalf("DrainCredit of an empty queue: %v", err)
	}
	m.put("q", goMessage(t, "a"), goMessage(t, "b"), goMessage(t, "c"))
	if err := receiver.IssueCredit(2); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a", "b"} {
		msg, err := receiver.Receive(ctx, nil)
		if err != nil || string(msg.GetData()) != want {
			t.Fatalf("Receive = %v, %v, want %q", msg, err, want)
		}
	}
	if err := receiver.DrainCredit(ctx, nil); err != nil {
		t.Fatalf("DrainCredit without credit: %v", err)
	}
	if got := m.length("q"); got != 1 {
		t.Errorf("%d messages left, want the message without credit", got)
	}
}

// TestManyUnsettled has 6,000 deliveries unsettled on one link, spec 3.4.
func TestManyUnsettled(t *testing.T) {
	t.Parallel()
	const n = 6000
	m := newMemory()
	payload := goMessage(t, "x")
	for range n {
		m.put("q", payload)
	}
	ctx, _, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: -1, SettlementMode: goamqp.ReceiverSettleModeFirst.Ptr()})
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.IssueCredit(n); err != nil {
		t.Fatal(err)
	}
	var all []*goamqp.Message
	for range n {
		msg, err := receiver.Receive(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, msg)
	}
	for _, msg := range all {
		if err := receiver.AcceptMessage(ctx, msg); err != nil {
			t.Fatal(err)
		}
	}
	m.wait(fmt.Sprintf("accepted %d", n))
}

// TestManySessions opens 100 sessions at once, each with links of its own.
func TestManySessions(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, conn, _ := connect(t, start(t, m, nil), nil)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			session, err := conn.NewSession(ctx, nil)
			if err != nil {
				t.Error(err)
				return
			}
			address := fmt.Sprint("q", i)
			sender, err := session.NewSender(ctx, address, nil)
			if err != nil {
				t.Error(err)
				return
			}
			receiver, err := session.NewReceiver(ctx, address, second())
			if err != nil {
				t.Error(err)
				return
			}
			if err := sender.Send(ctx, goamqp.NewMessage([]byte(address)), nil); err != nil {
				t.Error(err)
				return
			}
			msg, err := receiver.Receive(ctx, nil)
			if err != nil || string(msg.GetData()) != address {
				t.Errorf("Receive = %v, %v, want %q", msg, err, address)
				return
			}
			if err := receiver.AcceptMessage(ctx, msg); err != nil {
				t.Error(err)
			}
			if err := session.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestRequestResponse: the answer finds the link whose target is the reply-to.
func TestRequestResponse(t *testing.T) {
	t.Parallel()
	ctx, _, session := connect(t, start(t, newMemory(), nil), nil)
	sender, err := session.NewSender(ctx, "echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantNobody := goamqp.NewMessage(nil)
	wantNobody.Properties = &goamqp.MessageProperties{ReplyTo: ptr("me")}
	wantCondition(t, "request without a link for the answer", sender.Send(ctx, wantNobody, nil), wire.CondDetachForced)

	other, err := session.NewReceiver(ctx, "echo", &goamqp.ReceiverOptions{TargetAddress: "other", Credit: 5})
	if err != nil {
		t.Fatal(err)
	}
	me, err := session.NewReceiver(ctx, "echo", &goamqp.ReceiverOptions{TargetAddress: "me", Credit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*goamqp.Receiver{"me": me, "other": other} {
		request := goamqp.NewMessage([]byte(name))
		request.Properties = &goamqp.MessageProperties{ReplyTo: &name, MessageID: uint64(7)}
		if err := sender.Send(ctx, request, nil); err != nil {
			t.Fatal(err)
		}
		answer, err := to.Receive(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(answer.GetData()) != name || answer.Properties.CorrelationID != uint64(7) || answer.ApplicationProperties["status-code"] != int32(202) {
			t.Errorf("answer to %s = %q, %v, %v", name, answer.GetData(), answer.Properties.CorrelationID, answer.ApplicationProperties)
		}
		if err := to.AcceptMessage(ctx, answer); err != nil {
			t.Error(err)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// TestDetach: an orderly close reaches the node before the client is answered.
func TestDetach(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, conn, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "q", second())
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Close(ctx); err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	if got := fmt.Sprint(m.log); got != "[source q closed vanished=false]" {
		t.Errorf("log after Close: %s", got)
	}
	m.mu.Unlock()

	if _, err := session.NewSender(ctx, "q2", nil); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := m.wait("sink q2"); got != "sink q2 closed vanished=false" {
		t.Errorf("after the close of the connection: %s", got)
	}
}

// TestVanish: a connection that is cut ends its links, one that still attaches included.
func TestVanish(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.put("q", goMessage(t, "a"))
	dial := start(t, m, nil)
	nc := dial()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := goamqp.NewConn(ctx, nc, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := session.NewReceiver(ctx, "q", second())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.Receive(ctx, nil); err != nil {
		t.Fatal(err)
	}
	var slow sync.WaitGroup
	slow.Go(func() { session.NewReceiver(ctx, "slow", &goamqp.ReceiverOptions{Name: "s2"}) })
	nc.Close()
	slow.Wait()
	if got := m.wait("source q"); got != "source q closed vanished=true" {
		t.Errorf("after the cut: %s", got)
	}
}

// TestNodeEnds: a node that cannot go on ends its link, not the session.
func TestNodeEnds(t *testing.T) {
	t.Parallel()
	m := newMemory()
	ctx, _, session := connect(t, start(t, m, nil), nil)
	receiver, err := session.NewReceiver(ctx, "q", second())
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.broken = wire.Errorf("com.microsoft:session-lock-lost", "over")
	m.changed.Broadcast()
	m.mu.Unlock()
	_, err = receiver.Receive(ctx, nil)
	if e, ok := errors.AsType[*goamqp.LinkError](err); !ok || e.RemoteErr == nil || e.RemoteErr.Condition != "com.microsoft:session-lock-lost" {
		t.Errorf("Receive = %v, want a LinkError", err)
	}
	if _, err := session.NewSender(ctx, "q", nil); err != nil {
		t.Errorf("the session is gone: %v", err)
	}
}

// TestServerClose: clients are told.
func TestServerClose(t *testing.T) {
	t.Parallel()
	server := amqp.NewServer(newMemory(), nil)
	near, far := connPair(t)
	var serving sync.WaitGroup
	serving.Go(func() { server.ServeConn(far) })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := goamqp.NewConn(ctx, near, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := session.NewReceiver(ctx, "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	serving.Wait()
	_, err = receiver.Receive(ctx, nil)
	if e, ok := errors.AsType[*goamqp.ConnError](err); !ok || e.RemoteErr == nil || e.RemoteErr.Condition != goamqp.ErrCondConnectionForced {
		t.Errorf("Receive after Close = %v, want amqp:connection:forced", err)
	}
	conn.Close()
}
