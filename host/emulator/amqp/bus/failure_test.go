package bus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

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
	w.queue(t, servicebusapi.Queue{Name: "q"})
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

func TestRefusedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	w.queue(t, servicebusapi.Queue{Name: "off", Status: servicebusapi.StatusDisabled})
	w.topic(t, "t", "s")
	ctx, c := w.client(t)
	for entity, want := range map[string]goamqp.ErrCond{
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
	for queue, want := range map[string]goamqp.ErrCond{"off": "com.microsoft:entity-disabled", "t": goamqp.ErrCondNotAllowed} {
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
	w.queue(t, servicebusapi.Queue{Name: "q"})
	ctx, c := w.client(t)
	send(t, ctx, c, "q", &azservicebus.Message{})
	r := receiverOf(t, c, "q", nil)
	receive(t, ctx, r)
	w.do(t, func(ctx context.Context) error { return w.ns.DeleteQueue(ctx, "q") })
	if _, err := r.ReceiveMessages(ctx, 1, nil); err == nil {
		t.Error("ReceiveMessages from a deleted queue: no error")
	}
}

// TestVanish: a client that is gone without a word keeps its locks until they end; a
// session counts then, and is free for others.
func TestVanish(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	w.queue(t, servicebusapi.Queue{Name: "s", RequiresSession: true})
	w.do(t, func(ctx context.Context) error {
		return errors.Join(
			w.ns.Send(ctx, "q", &servicebusapi.Message{Body: []byte("plain")}),
			w.ns.Send(ctx, "s", &servicebusapi.Message{Body: []byte("of a session"), SessionID: ptr("s1")}))
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

// TestTooLarge: one byte more than the entity takes.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
	w.queue(t, servicebusapi.Queue{Name: "large", MaxMessageSizeInKilobytes: 1024})
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
	w.queue(t, servicebusapi.Queue{Name: "q"})
	ctx, session := w.plain(t)
	s, err := session.NewSender(ctx, "q", nil)
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

// TestPaceAuto: a lock that a client holds is no reason for time to jump, though
// somebody waits for an hour.
func TestPaceAuto(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebusapi.Queue{Name: "q"})
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
