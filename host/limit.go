package host

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
)

// limit is the function timeout of one attempt (spec host-and-retry 8). It begins when a
// process has taken the call, and not while the call waits for one: that time is not the
// handler's. On the
// platform nothing waits so long, since the host ends when its processes keep crashing
// (host: WorkerFunctionInvoker.cs); here the pauses between starts can be longer than any
// timeout.
type limit struct {
	clk    clock.Clock
	length time.Duration // 0: none
	begun  time.Time     // of the attempt
	left   time.Duration // what an injected delay has left of length
	ctx    context.Context
	cancel context.CancelFunc
	over   bool // before the handler was called
}

func newLimit(clk clock.Clock, length time.Duration) *limit {
	return &limit{clk: clk, length: length, begun: clk.Now()}
}

// arm has the limit begin when req is taken. What a fault has let the call wait before
// stands for a slow handler, and counts; the error says that nothing is left.
func (l *limit) arm(req *call.Request) error {
	if l.length == 0 {
		return nil
	}
	if l.left = l.length - l.clk.Now().Sub(l.begun); l.left <= 0 {
		l.over = true
		return context.DeadlineExceeded
	}
	req.OnTaken = func(ctx context.Context) context.Context {
		req.Now = l.clk.Now()
		req.Deadline = req.Now.Add(l.left)
		l.ctx, l.cancel = l.clk.WithTimeout(ctx, l.left)
		return l.ctx
	}
	return nil
}

// exceeded reports whether the time is over.
func (l *limit) exceeded() bool {
	return l.over || l.ctx != nil && errors.Is(l.ctx.Err(), context.DeadlineExceeded)
}

// end is the end of the attempt.
func (l *limit) end() {
	if l.cancel != nil {
		l.cancel()
	}
}
