package servicebus_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
)

// lateBus calls before just before a receive returns messages.
type lateBus struct {
	servicebusapi.Namespace
	before func()
}

func (l lateBus) Receiver(ctx context.Context, source string, opts *servicebusapi.ReceiverOptions) (servicebusapi.Receiver, error) {
	r, err := l.Namespace.Receiver(ctx, source, opts)
	return lateReceiver{r, l.before}, err
}

func (l lateBus) AcceptSession(ctx context.Context, source string, opts *servicebusapi.SessionOptions) (servicebusapi.Session, error) {
	s, err := l.Namespace.AcceptSession(ctx, source, opts)
	if err != nil {
		return nil, err
	}
	return lateSession{s, lateReceiver{s, l.before}}, nil
}

type lateReceiver struct {
	servicebusapi.Receiver
	before func()
}

func (r lateReceiver) Receive(ctx context.Context, n int, wait time.Duration) ([]*servicebusapi.Received, error) {
	ms, err := r.Receiver.Receive(ctx, n, wait)
	if len(ms) > 0 {
		r.before()
	}
	return ms, err
}

type lateSession struct {
	servicebusapi.Session
	late lateReceiver
}

func (s lateSession) Receive(ctx context.Context, n int, wait time.Duration) ([]*servicebusapi.Received, error) {
	return s.late.Receive(ctx, n, wait)
}

// Messages that arrive with the stop are abandoned at once, and said (spec messaging
// 2.3); their deliveries are counted.
func TestMessagesThatComeTooLateAreAbandoned(t *testing.T) {
	t.Parallel()
	late := triggers.Settlement{Decision: triggers.Abandoned, Note: servicebus.NoteLate}
	for _, test := range []struct {
		name  string
		queue servicebusapi.Queue
		opts  *servicebus.Options
		want  []triggers.Settlement
	}{
		{"single messages", servicebusapi.Queue{}, nil, []triggers.Settlement{late, late}},
		{"batch", servicebusapi.Queue{}, &servicebus.Options{Batch: true}, []triggers.Settlement{late}},
		{"session", servicebusapi.Queue{RequiresSession: true}, &servicebus.Options{Sessions: true}, []triggers.Settlement{late}},
		{"batch of a session", servicebusapi.Queue{RequiresSession: true}, &servicebus.Options{Sessions: true, Batch: true}, []triggers.Settlement{late}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.queue)
			if test.queue.RequiresSession {
				b.sendTo("s", "a", "b")
			} else {
				b.send("a", "b")
			}
			b.wrap = func(ns servicebusapi.Namespace) servicebusapi.Namespace { return lateBus{ns, func() { b.cancel() }} }
			b.start(test.opts, succeed)
			if !b.ended || len(b.sink.Handled()) != 0 {
				t.Errorf("ended %v, handled %d: want no run", b.ended, len(b.sink.Handled()))
			}
			var got []triggers.Settlement
			for _, s := range b.sink.Settlements() {
				got = append(got, s.Settlement)
				if m := s.Event.Messages[0]; s.Event.DeliveryCount != 1 || m.ID == "" || s.Event.Source != "orders" {
					t.Errorf("settled %+v, want a first delivery from the queue with its message's ID", s.Event)
				}
			}
			if diff := cmp.Diff(got, test.want); diff != "" {
				t.Errorf("settlements (-got +want):\n%s", diff)
			}
			if got := b.counts(); got.Active != 2 {
				t.Errorf("counts %+v, want both messages in the queue", got)
			}
		})
	}
}

// A batch that loses its session's lock while it waits for more is said to be lost: its
// delivery has been counted.
func TestBatchThatLosesItsSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, servicebusapi.Queue{RequiresSession: true})
	b.sendTo("s", "a")
	b.start(&servicebus.Options{Sessions: true, Batch: true, MinMessageBatchSize: 2, MaxBatchWait: 2 * time.Minute}, succeed)
	b.clk.Advance(90 * time.Second)
	if diff := cmp.Diff(b.decisions(), []triggers.Decision{triggers.LockLost}); diff != "" {
		t.Errorf("decisions (-got +want):\n%s", diff)
	}
	if len(b.sink.Handled()) != 0 {
		t.Errorf("handled %d, want none", len(b.sink.Handled()))
	}
}
