package servicebus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// expect checks what has come of a call that waited.
func (w *wait) expect(t *testing.T, at time.Duration, n int, err error) {
	t.Helper()
	switch {
	case !w.done:
		t.Fatalf("the call waits, want it to have ended at %v", at)
	case w.at != at || len(w.ms) != n || !errors.Is(w.err, err):
		t.Errorf("the call ended at %v with %d messages, %v, want at %v with %d, %v", w.at, len(w.ms), w.err, at, n, err)
	}
}

func TestReceiveWaitsForMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	r := b.receiver("q", nil)
	first, second := b.waitFor(r, 10), b.waitFor(r, 10)
	b.clk.Advance(time.Hour)
	b.send("q", "a")
	first.expect(t, time.Hour, 1, nil)
	if second.done {
		t.Error("both calls have ended with one message")
	}
	b.send("q", "b")
	second.expect(t, time.Hour, 1, nil)
}

// One who takes only part of what came leaves the rest to the next.
func TestRestGoesToTheNextReceiver(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	r := b.receiver("q", nil)
	waits := []*wait{b.waitFor(r, 2), b.waitFor(r, 2), b.waitFor(r, 2)}
	b.do(func(ctx context.Context) error {
		var ms []*servicebusapi.Message
		for range 6 {
			ms = append(ms, &servicebusapi.Message{})
		}
		return b.ns.Send(ctx, "q", ms...)
	})
	for _, w := range waits {
		w.expect(t, 0, 2, nil)
	}
}

// A receiver that is closed when a message has already woken it leaves the message
// to the next.
func TestASignalIsNotLostWithItsReceiver(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	closing := b.receiver("q", nil)
	first, second := b.waitFor(closing, 1), b.waitFor(b.receiver("q", nil), 1)
	b.do(func(ctx context.Context) error {
		err := b.ns.Send(ctx, "q", &servicebusapi.Message{})
		closing.(servicebusapi.Link).Vanish() // in the same turn
		return err
	})
	first.expect(t, 0, 0, messaging.ErrClosed)
	second.expect(t, 0, 1, nil)
}

func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for _, test := range []struct {
		name string
		do   func(b *bench, r servicebusapi.Receiver, cancel func()) error
		want error
	}{
		{"context", func(_ *bench, _ servicebusapi.Receiver, cancel func()) error { cancel(); return nil }, context.Canceled},
		{"Close", func(_ *bench, r servicebusapi.Receiver, _ func()) error { return r.Close(context.Background()) }, messaging.ErrClosed},
		{"Vanish", func(_ *bench, r servicebusapi.Receiver, _ func()) error {
			r.(servicebusapi.Link).Vanish()
			return nil
		}, messaging.ErrClosed},
		{"deletion", func(b *bench, _ servicebusapi.Receiver, _ func()) error {
			return b.ns.DeleteQueue(context.Background(), "q")
		}, bindings.ErrNotFound},
		{"disabled", func(b *bench, _ servicebusapi.Receiver, _ func()) error {
			_, err := b.ns.UpdateQueue(context.Background(), servicebusapi.Queue{Name: "q", Status: servicebusapi.StatusReceiveDisabled})
			return err
		}, messaging.ErrEntityDisabled},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "q"})
			r := b.receiver("q", nil)
			ctx, cancel := b.clk.WithCancel(context.Background())
			receive := b.start(ctx, func(ctx context.Context) ([]*servicebusapi.Received, error) {
				return r.Receive(ctx, 1, messaging.Forever)
			})
			lost := b.start(ctx, func(ctx context.Context) ([]*servicebusapi.Received, error) {
				return nil, r.(servicebusapi.Link).Lost(ctx)
			})
			b.clk.Advance(hour)
			b.do(func(context.Context) error { return test.do(b, r, cancel) })
			receive.expect(t, hour, 0, test.want)
			lost.expect(t, hour, 0, test.want)
		})
	}
}

func TestReceiveWaitsNoLongerThanAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	for _, outside := range []bool{false, true} {
		r := b.receiver("q", &servicebusapi.ReceiverOptions{RealTime: outside})
		begin := b.clk.Now().Sub(start)
		w := b.start(context.Background(), func(ctx context.Context) ([]*servicebusapi.Received, error) {
			return r.Receive(ctx, 1, time.Minute)
		})
		moved := b.clk.Run(time.Hour)
		if outside { // nobody's reason
			if moved != 0 || w.done {
				t.Errorf("time moved by %v for a client of a server", moved)
			}
			b.clk.Advance(time.Minute)
		}
		w.expect(t, begin+time.Minute, 0, nil)
	}
}

// Virtual time moves while a receiver waits: to the end of a lock that is
// held in virtual time, and to the activation of a scheduled message for the
// receiver. Not the end of a lock that a client of a server holds, nor what
// is settled, nor expiry.
func TestVirtualTimeMovesForReceivers(t *testing.T) {
	t.Parallel()
	outside := &servicebusapi.ReceiverOptions{RealTime: true}
	minute := time.Minute
	scheduled := func(b *bench, entity string) {
		b.do(func(ctx context.Context) error {
			_, err := b.ns.Schedule(ctx, entity, b.clk.Now().Add(minute), &servicebusapi.Message{MessageID: "a"})
			return err
		})
	}
	for _, test := range []struct {
		name  string
		setup func(b *bench) (source string)
		want  time.Duration
	}{
		{"lock held inside", func(b *bench) string {
			b.send("q", "a")
			b.receive(b.receiver("q", nil), 1)
			return "q"
		}, minute},
		{"lock held outside", func(b *bench) string {
			b.send("q", "a")
			b.receive(b.receiver("q", outside), 1)
			return "q"
		}, 0},
		{"lock held outside, and a later one inside", func(b *bench) string {
			b.send("q", "a", "b")
			b.receive(b.receiver("q", outside), 1)
			b.clk.Advance(10 * time.Second)
			b.receive(b.receiver("q", nil), 1)
			b.clk.Advance(20 * time.Second)
			return "q"
		}, 30 * time.Second}, // the one outside ends first, and its message comes
		{"settled in time", func(b *bench) string {
			b.send("q", "a")
			r := b.receiver("q", nil)
			m := b.receive(r, 1)[0]
			b.do(func(ctx context.Context) error { return r.Complete(ctx, m) })
			return "q"
		}, 0},
		{"lock in another queue", func(b *bench) string {
			b.queue(servicebusapi.Queue{Name: "other"})
			b.send("other", "a")
			b.receive(b.receiver("other", nil), 1)
			return "q"
		}, 0},
		{"scheduled", func(b *bench) string { scheduled(b, "q"); return "q" }, minute},
		{"scheduled where it is forwarded", func(b *bench) string {
			b.queue(servicebusapi.Queue{Name: "before", ForwardTo: "q"})
			scheduled(b, "before")
			return "q"
		}, minute},
		{"scheduled in a topic", func(b *bench) string {
			b.do(func(ctx context.Context) error {
				_, err := b.ns.CreateTopic(ctx, servicebusapi.Topic{Name: "t"})
				if err == nil {
					_, err = b.ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "t", Name: "s"}, nil)
				}
				return err
			})
			scheduled(b, "t")
			return "t/Subscriptions/s"
		}, minute},
		{"scheduled elsewhere", func(b *bench) string {
			b.queue(servicebusapi.Queue{Name: "other"})
			scheduled(b, "other")
			return "q"
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, servicebus.Options{})
			b.queue(servicebusapi.Queue{Name: "q"})
			source := test.setup(b)
			w := b.waitFor(b.receiver(source, nil), 1)
			if moved := b.clk.Run(24 * time.Hour); moved != test.want || w.done != (test.want > 0) {
				t.Errorf("time moved by %v, message received: %v, want %v", moved, w.done, test.want)
			}
			b.clk.Advance(2 * time.Hour)
			if w.done {
				return
			}
			b.do(func(ctx context.Context) error { return b.ns.DeleteQueue(ctx, "q") })
		})
	}
}

// A lock that is settled while somebody waits must take the reason back, and one
// that begins then must give it.
func TestReasonsFollowTheLocks(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q"})
	r := b.receiver("q", nil)
	b.send("q", "a")
	m := b.receive(r, 1)[0]
	w := b.waitFor(r, 1)
	b.do(func(ctx context.Context) error { _, err := r.Renew(ctx, m); return err })
	b.do(func(ctx context.Context) error { return r.Complete(ctx, m) })
	if moved := b.clk.Run(time.Hour); moved != 0 || w.done {
		t.Errorf("time moved by %v for a message that was completed", moved)
	}
	b.send("q", "b")
	w.expect(t, 0, 1, nil)
	w = b.waitFor(r, 1) // for b, whose lock nobody settles
	if moved := b.clk.Run(time.Hour); moved != time.Minute {
		t.Errorf("time moved by %v, want the lock's 1m", moved)
	}
	w.expect(t, time.Minute, 1, nil)
}

func TestAcceptSessionWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebus.Options{})
	b.queue(servicebusapi.Queue{Name: "q", RequiresSession: true})
	var sessions []servicebusapi.Session
	accept := func() *wait {
		return b.start(context.Background(), func(ctx context.Context) ([]*servicebusapi.Received, error) {
			s, err := b.ns.AcceptSession(ctx, "q", nil)
			if err == nil {
				sessions = append(sessions, s)
			}
			return nil, err
		})
	}
	first, second := accept(), accept()
	b.clk.Advance(time.Minute)
	x := "x"
	b.do(func(ctx context.Context) error {
		return b.ns.Send(ctx, "q", &servicebusapi.Message{SessionID: &x})
	})
	first.expect(t, time.Minute, 0, nil)
	var held []*servicebusapi.Received
	b.do(func(ctx context.Context) (err error) { held, err = sessions[0].Receive(ctx, 1, 0); return err })
	own := b.waitFor(sessions[0], 1)
	b.do(func(ctx context.Context) error {
		_ = sessions[0].Abandon(ctx, held[0], nil)
		return nil
	})
	own.expect(t, time.Minute, 1, nil)
	own = b.waitFor(sessions[0], 1)
	if second.done {
		t.Fatal("a session was accepted twice")
	}
	// The second waits for a session that the first holds with a message in it.
	if moved := b.clk.Run(time.Hour); moved != time.Minute {
		t.Errorf("time moved by %v, want the 1m of the session's lock", moved)
	}
	second.expect(t, 2*time.Minute, 0, nil)
	own.expect(t, 2*time.Minute, 0, messaging.ErrSessionLockLost)
	b.do(func(ctx context.Context) error { return sessions[1].Close(ctx) })
}
