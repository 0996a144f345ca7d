// Package timelimit is the function timeout of one attempt (spec host-and-retry 8). Read
// [Limit.Arm] first. Left out: what the end of the time means for the attempt (package
// host), and for the process (the invokers).
package timelimit

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
)

// Limit is the limit of one attempt. It begins when a process has taken the call, and not
// while the call waits for one: that time is not the handler's. On the platform nothing
// waits so long, since the host ends when its processes keep crashing (host:
// WorkerFunctionInvoker.cs); here the pauses between starts can be longer than any
// timeout.
//
// Its methods are called by the goroutine of the attempt. The attempts of a delivery, of
// which one runs at a time, can share a Limit: [Limit.Begin] makes it that of the next.
type Limit struct {
	clk    clock.Clock
	length time.Duration
	taken  func(context.Context) context.Context // the method begin

	req    *call.Request // of the attempt
	begun  time.Time     // the attempt
	left   time.Duration // of length, after an injected delay
	ctx    context.Context
	cancel context.CancelFunc
	over   bool // before the handler was called
}

// Begin makes l the limit of an attempt that begins now; length 0 is none.
func (l *Limit) Begin(clk clock.Clock, length time.Duration) {
	*l = Limit{clk: clk, length: length, taken: l.taken, begun: clk.Now()}
}

// Arm has the limit begin when req is taken. What a fault has let the call wait before
// stands for a slow handler, and counts; the error says that nothing is left.
func (l *Limit) Arm(req *call.Request) error {
	if l.length == 0 {
		return nil
	}
	if l.left = l.length - l.clk.Now().Sub(l.begun); l.left <= 0 {
		l.over = true
		return context.DeadlineExceeded
	}
	if l.taken == nil {
		l.taken = l.begin
	}
	l.req, req.OnTaken = req, l.taken
	return nil
}

func (l *Limit) begin(ctx context.Context) context.Context {
	l.req.Now = l.clk.Now()
	l.req.Deadline = l.req.Now.Add(l.left)
	l.ctx, l.cancel = l.clk.WithTimeout(ctx, l.left)
	return l.ctx
}

// Exceeded reports whether the time is over.
func (l *Limit) Exceeded() bool {
	return l.over || l.ctx != nil && errors.Is(l.ctx.Err(), context.DeadlineExceeded)
}

// End is the end of the attempt.
func (l *Limit) End() {
	if l.cancel != nil {
		l.cancel()
	}
}
