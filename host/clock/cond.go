package clock

import (
	"context"
	"sync"
	"time"
)

// A Cond lets goroutines wait for a change of state that a lock guards. Unlike
// sync.Cond it wakes first in, first out, and a wait also ends with a context or
// at a time. A signal ends one wait that had begun before it, if there is one.
// It passes over cancelled and expired waits to the next in line, and is never
// left over for a later wait.
//
// As with sync.Cond, wait in a loop that checks the state.
type Cond struct {
	impl condition
}

type condition interface {
	// wait has no deadline when until is zero; idle says that the deadline is no
	// reason for time to jump.
	wait(ctx context.Context, until time.Time, idle bool) error
	signal()
	broadcast()
}

// NewCond returns a Cond for the state that l guards.
func NewCond(clk Clock, l sync.Locker) *Cond {
	return &Cond{impl: clk.newCond(l)}
}

// Wait gives up the lock, waits for a signal and takes the lock again. It
// returns nil when signalled and ctx's error when ctx ended first; with a ctx
// that has ended already it returns at once. The lock is held on call and on
// return, with any result.
func (c *Cond) Wait(ctx context.Context) error { return c.impl.wait(ctx, time.Time{}, false) }

// WaitUntil is Wait that also returns nil at time t. Work depends on t, so virtual
// time may jump to it. A zero t is no deadline.
func (c *Cond) WaitUntil(ctx context.Context, t time.Time) error {
	return c.impl.wait(ctx, t, false)
}

// IdleUntil is WaitUntil for a time that no work depends on, such as the next poll
// of an empty queue: like Idle, it never makes virtual time jump.
func (c *Cond) IdleUntil(ctx context.Context, t time.Time) error {
	return c.impl.wait(ctx, t, true)
}

// Signal ends the wait that has lasted longest, if there is any. It is usual,
// and not required, to hold the lock.
func (c *Cond) Signal() { c.impl.signal() }

// Broadcast ends all waits that have begun; they run in the order in which they began.
func (c *Cond) Broadcast() { c.impl.broadcast() }
