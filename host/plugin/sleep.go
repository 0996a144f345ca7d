package plugin

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redeliver/redeliver/functions/functionpb"
)

// readAhead bounds what is read of a handler's messages while the host sleeps for
// it, and the sleeps to come that it may withdraw.
const readAhead = 256

// errWithdrawn ends a sleep that the handler no longer waits for.
var errWithdrawn = errors.New("withdrawn")

// sleeps are those that a call has asked for. With the first of them somebody
// else begins to read the handler's messages, so that one which is withdrawn ends at
// once; all other messages wait until the sleep is over.
type sleeps struct {
	ahead chan *functionpb.HandlerMessage //clock:outside nil: nobody reads ahead
	end   error                           // of the stream; set when ahead is closed

	mu        sync.Mutex // guards:
	count     int64      // begun so far
	current   int64      // the sleep in progress; 0: none
	wake      context.CancelFunc
	withdrawn map[int64]bool // of those to come
}

// sleep serves the next sleep. told is the handler's context, streams the one of the
// stream. The error is errWithdrawn or told's.
func (c *conversation) sleep(told, stream context.Context, d time.Duration) error {
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
	if s.ahead == nil {
		s.ahead = make(chan *functionpb.HandlerMessage, readAhead) //clock:outside messages of the handler
		go c.readAhead(stream)                                     //clock:outside ends with the stream, which ends with the call
	}
	if err := c.h.clk.Sleep(ctx, d); err != nil {
		if told.Err() == nil {
			return errWithdrawn
		}
		return err
	}
	return nil
}

// readAhead reads messages until the stream ends.
func (c *conversation) readAhead(stream context.Context) {
	s := &c.sleeps
	defer close(s.ahead) //clock:outside messages of the handler
	for {
		m, err := c.stream.Recv()
		if err != nil {
			s.end = err
			return
		}
		if w := m.GetWithdraw(); w != nil {
			c.withdraw(w.GetSleep())
			continue
		}
		select { //clock:outside messages of the handler
		case s.ahead <- m:
		case <-stream.Done(): //clock:outside Recv says so
		}
	}
}

// withdraw ends the sleep of that number, now or when its turn comes.
func (c *conversation) withdraw(number int64) {
	s := &c.sleeps
	s.mu.Lock()
	wake := s.wake
	current := number == s.current
	if number > s.count && len(s.withdrawn) < readAhead {
		if s.withdrawn == nil {
			s.withdrawn = map[int64]bool{}
		}
		s.withdrawn[number] = true
	}
	s.mu.Unlock()
	if current {
		c.h.clk.Inside("sleep withdrawn", wake)
	}
}
