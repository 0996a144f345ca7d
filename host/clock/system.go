package clock

import (
	"context"
	"sync"
	"time"
)

// System returns the clock of the operating system: package time, package
// context and plain goroutines behind the calls of Clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now() }

func (system) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s system) Idle(ctx context.Context, d time.Duration) error { return s.Sleep(ctx, d) }

func (system) AfterFunc(d time.Duration, name string, f func()) *Timer {
	return &Timer{sys: time.AfterFunc(d, f), name: name}
}

func (system) WithCancel(parent context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}

func (system) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

func (system) Outside(_ context.Context, _ string, f func()) { f() }

func (system) Away(_ context.Context, _ string, f func()) { f() }

func (system) Inside(_ string, f func()) { f() }

func (system) start(_ string, f func()) { go f() }

func (system) newCond(l sync.Locker) condition { return &systemCond{l: l} }

// systemCond keeps one channel per waiter. A waiter that gives up leaves the queue
// first, so a signal always reaches a waiter.
type systemCond struct {
	l sync.Locker

	mu    sync.Mutex
	queue []chan struct{}
}

func (c *systemCond) wait(ctx context.Context, until time.Time, _ bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var due <-chan time.Time
	if !until.IsZero() {
		d := time.Until(until)
		if d <= 0 {
			return nil
		}
		t := time.NewTimer(d)
		defer t.Stop()
		due = t.C
	}
	signalled := make(chan struct{}, 1)
	c.mu.Lock()
	c.queue = append(c.queue, signalled)
	c.mu.Unlock()
	c.l.Unlock()
	defer c.l.Lock()

	var err error
	select {
	case <-signalled:
		return nil
	case <-due:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !c.leave(signalled) {
		return nil // a signal came first and was meant for this wait
	}
	return err
}

// leave takes a waiter out of the queue and reports whether it was in it.
func (c *systemCond) leave(w chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.queue {
		if q == w {
			c.queue = append(c.queue[:i], c.queue[i+1:]...)
			return true
		}
	}
	return false
}

func (c *systemCond) signal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 {
		c.queue[0] <- struct{}{}
		c.queue = append(c.queue[:0], c.queue[1:]...)
	}
}

func (c *systemCond) broadcast() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.queue {
		w <- struct{}{}
	}
	c.queue = nil
}
