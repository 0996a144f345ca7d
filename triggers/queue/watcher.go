package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// Watcher tells the listeners of one host that something in the same host added
// a message to a queue: an output binding, or the copy to a poison queue. It goes by the
// queue's name and does not compare accounts, as the original (source:
// Shared/Queues/SharedQueueWatcher.cs). Its methods may be called concurrently.
//
// It also hands on what a listener that has stopped receiving leaves to the next
// one: when a message that it still had in work comes back.
type Watcher struct {
	mu     sync.Mutex
	queues map[string][]*watch
	left   map[string]time.Time // by queue; when its last message comes back
}

// watch is one call of Watch. Its address is its identity.
type watch struct {
	wake func()
	back func(time.Time) // nil: of no interest
}

// NewWatcher returns a Watcher without listeners.
func NewWatcher() *Watcher {
	return &Watcher{queues: map[string][]*watch{}, left: map[string]time.Time{}}
}

// Notify wakes everybody who watches the queue, in order of their coming.
func (w *Watcher) Notify(queue string) {
	w.mu.Lock()
	watches := w.queues[queue] // never changed in place
	w.mu.Unlock()
	for _, x := range watches {
		x.wake()
	}
}

// Watch calls wake at each Notify for the queue until stop is called. wake must
// not block.
func (w *Watcher) Watch(queue string, wake func()) (stop func()) {
	return w.add(queue, &watch{wake: wake})
}

// leave tells the others on the queue, and those to come, that a message comes
// back at t.
func (w *Watcher) leave(queue string, t time.Time) {
	w.mu.Lock()
	if t.After(w.left[queue]) {
		w.left[queue] = t
	}
	watches := w.queues[queue]
	w.mu.Unlock()
	for _, x := range watches {
		if x.back != nil {
			x.back(t)
		}
	}
}

func (w *Watcher) add(queue string, x *watch) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queues[queue] = append(w.queues[queue], x)
	if t, ok := w.left[queue]; ok && x.back != nil {
		x.back(t)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		rest := slices.DeleteFunc(slices.Clone(w.queues[queue]), func(o *watch) bool { return o == x })
		if len(rest) == 0 {
			delete(w.queues, queue)
			return
		}
		w.queues[queue] = rest
	}
}

// alarm is a wait that can be ended early. A wake during a receive is kept, so
// that the wait after it ends at once and no message is overlooked.
type alarm struct {
	clk     clock.Clock
	mu      sync.Mutex
	changed *clock.Cond
	woken   bool
}

func newAlarm(clk clock.Clock) *alarm {
	a := &alarm{clk: clk}
	a.changed = clock.NewCond(clk, &a.mu)
	return a
}

func (a *alarm) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.woken = true
	a.changed.Signal()
}

// clear forgets wakes: what they announced is about to be received.
func (a *alarm) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.woken = false
}

// poke makes a wait look again at whether it matters.
func (a *alarm) poke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed.Signal()
}

// wait returns at a time, or at the first wake since clear, or with ctx's error. next
// says at which time, and is asked again after each poke; false: at none. Polling an empty
// queue is no reason for virtual time to jump. Waiting for a message that is known to
// come back is: matters says so, also when that changes during the wait.
func (a *alarm) wait(ctx context.Context, next func() (time.Time, bool), matters func() bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.woken {
		until, ok := next()
		var err error
		switch {
		case !ok:
			err = a.changed.Wait(ctx)
		case matters():
			err = a.changed.WaitUntil(ctx, until)
		default:
			err = a.changed.IdleUntil(ctx, until)
		}
		if err != nil {
			return err
		}
		if ok && !a.clk.Now().Before(until) {
			break
		}
	}
	return ctx.Err()
}
