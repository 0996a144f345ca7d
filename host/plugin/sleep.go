package plugin

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// maxWithdrawn bounds the sleeps to come that a handler may withdraw. One that keeps
// to the protocol cannot have as many.
const maxWithdrawn = call.Window

// errWithdrawn ends a sleep that the handler no longer waits for, or whose process
// has ended.
var errWithdrawn = errors.New("withdrawn")

// sleeps are the sleeps that a call has asked for.
type sleeps struct {
	mu        sync.Mutex // guards:
	count     int64      // begun so far
	current   int64      // the sleep in progress; 0: none
	wake      context.CancelFunc
	withdrawn map[int64]bool // of those to come
}

// sleep serves the next sleep. told is the handler's context. The error is
// errWithdrawn or told's.
func (c *conversation) sleep(told context.Context, d time.Duration) error {
	s := &c.sleeps
	ctx, wake := c.h.clk.WithCancel(told)
	defer wake()
	s.mu.Lock()
	s.count++
	withdrawn := s.withdrawn[s.count]
	delete(s.withdrawn, s.count)
	s.current, s.wake = s.count, wake
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.current = 0
	}()
	if withdrawn {
		return errWithdrawn
	}
	nap, alive := c.h.FallAsleep(c.p, wake)
	if !alive {
		return errWithdrawn
	}
	defer c.h.Awake(c.p, nap)
	if err := c.h.clk.Sleep(ctx, d); err != nil {
		if told.Err() == nil {
			return errWithdrawn
		}
		return err
	}
	return nil
}

// withdraw ends the sleep of that number, now or when its turn comes.
func (c *conversation) withdraw(number int64) {
	s := &c.sleeps
	s.mu.Lock()
	wake := s.wake
	current := number == s.current
	if number > s.count && len(s.withdrawn) < maxWithdrawn {
		if s.withdrawn == nil {
			s.withdrawn = map[int64]bool{}
		}
		s.withdrawn[number] = true
	}
	s.mu.Unlock()
	if current {
		// The receiver, which calls this, must not wait for the baton.
		go c.h.clk.Inside("sleep withdrawn", wake) //clock:outside ends when it has had its turn
	}
}
