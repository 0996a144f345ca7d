package clock

import (
	"context"
	"sync"
	"time"
)

// Sleep implements Clock.
func (v *Virtual) Sleep(ctx context.Context, d time.Duration) error {
	return v.sleep(ctx, d, "Sleep", waitSleep)
}

// Idle implements Clock.
func (v *Virtual) Idle(ctx context.Context, d time.Duration) error {
	return v.sleep(ctx, d, "Idle", waitIdle)
}

func (v *Virtual) sleep(ctx context.Context, d time.Duration, op string, kind waitKind) error {
	c := known(v, ctx, op)
	v.mu.Lock()
	t := v.holderLocked(op)
	if err := c.errNow(); err != nil {
		v.mu.Unlock()
		return err
	}
	if d <= 0 {
		v.readyLocked(t, nil)
	} else {
		t.doing = kind
		v.setLocked(&t.due, d, kind == waitSleep)
		c.joinLocked(&t.ctx)
	}
	v.waitUnlock(t)
	return t.err
}

// A virtualCond is a queue of tasks.
type virtualCond struct {
	v           *Virtual
	l           sync.Locker
	first, last *task
}

// condLink is a task's place in the queue of a Cond.
type condLink struct {
	in         *virtualCond
	prev, next *task
}

func (v *Virtual) newCond(l sync.Locker) condition { return &virtualCond{v: v, l: l} }

func (c *virtualCond) wait(ctx context.Context, until time.Time, idle bool) error {
	v := c.v
	vc := known(v, ctx, "Cond.Wait")
	v.mu.Lock()
	t := v.holderLocked("Cond.Wait")
	if err := vc.errNow(); err != nil {
		v.mu.Unlock()
		return err
	}
	if d := until.Sub(v.Now()); until.IsZero() || d > 0 {
		t.doing = waitCond
		if !until.IsZero() {
			v.setLocked(&t.due, d, !idle)
		}
		vc.joinLocked(&t.ctx)
		c.join(t)
	} else {
		v.readyLocked(t, nil)
	}
	c.l.Unlock()
	v.waitUnlock(t)
	err := t.err
	c.l.Lock()
	return err
}

func (c *virtualCond) join(t *task) {
	t.cond = condLink{in: c, prev: c.last}
	if c.last == nil {
		c.first = t
	} else {
		c.last.cond.next = t
	}
	c.last = t
}

// leave takes t out of the queue it is in, if any.
func (l *condLink) leave(t *task) {
	c := l.in
	if c == nil {
		return
	}
	if l.prev == nil {
		c.first = l.next
	} else {
		l.prev.cond.next = l.next
	}
	if l.next == nil {
		c.last = l.prev
	} else {
		l.next.cond.prev = l.prev
	}
	*l = condLink{}
}

func (c *virtualCond) signal() {
	c.v.mu.Lock()
	c.v.checkLocked("Cond.Signal")
	if c.first != nil {
		c.v.readyLocked(c.first, nil)
	}
	c.v.kickUnlock()
}

func (c *virtualCond) broadcast() {
	c.v.mu.Lock()
	c.v.checkLocked("Cond.Broadcast")
	for c.first != nil {
		c.v.readyLocked(c.first, nil)
	}
	c.v.kickUnlock()
}
