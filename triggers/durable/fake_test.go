package durable_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

// fakeWork hands out what a test puts in, and keeps what comes back.
type fakeWork struct {
	mu         sync.Mutex
	changed    *clock.Cond
	turns      []*durable.Turn
	activities []*durable.Activity
	finished   []durable.Reply
	reported   []string
	full       bool // the store refuses
}

func newWork(clk clock.Clock) *fakeWork {
	w := &fakeWork{}
	w.changed = clock.NewCond(clk, &w.mu)
	return w
}

var errFull = errors.New("the disk is full")

func (w *fakeWork) put(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	w.changed.Broadcast()
}

func (w *fakeWork) Serve(string, durable.Functions) {}

func (w *fakeWork) NextTurn(ctx context.Context, _ durable.Function) (*durable.Turn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.turns) == 0 {
		if err := w.changed.Wait(ctx); err != nil {
			return nil, err
		}
	}
	t := w.turns[0]
	w.turns = w.turns[1:]
	return t, nil
}

func (w *fakeWork) Finish(_ context.Context, _ *durable.Turn, r durable.Reply) error {
	w.put(func() { w.finished = append(w.finished, r) })
	return nil
}

func (w *fakeWork) NextActivity(ctx context.Context, _ string) (*durable.Activity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.activities) == 0 {
		if err := w.changed.Wait(ctx); err != nil {
			return nil, err
		}
	}
	a := w.activities[0]
	w.activities = w.activities[1:]
	return a, nil
}

func (w *fakeWork) Report(_ context.Context, a *durable.Activity, r durable.Reply) error {
	if w.full {
		return errFull
	}
	text := r.Value
	switch {
	case r.Aborted != nil:
		text = "aborted"
	case r.Failed:
		text = "failed: " + r.Message + "|" + r.Stack
	}
	w.put(func() { w.reported = append(w.reported, fmt.Sprintf("%s#%d %s", a.Instance, a.Number, text)) })
	return nil
}

// callSink is a sink whose function is asked without deliveries too.
type callSink struct {
	*triggertest.Sink
	call func(ev *triggers.Event) triggers.Result
}

func (s callSink) Call(ev *triggers.Event) triggers.Result { return s.call(ev) }

// stage runs a listener on a virtual clock.
type stage struct {
	clk  *clock.Virtual
	work *fakeWork
	stop func()
	err  error
}

func newStage(t *testing.T) *stage {
	s := &stage{clk: clock.NewVirtual(time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true})}
	s.work = newWork(s.clk)
	return s
}

func (s *stage) run(l triggers.Listener, sink triggers.Sink) {
	s.clk.Do("start", func() {
		ctx, cancel := s.clk.WithCancel(context.Background())
		s.stop = func() { s.clk.Do("stop", cancel) }
		clock.NewGroup(s.clk, 0).Go("listener", func() { s.err = l.Run(ctx, sink) })
	})
}
