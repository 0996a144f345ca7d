package watch

import (
	"context"
	"time"
)

// leastPatience is what a load has after one that gave way without a result. It doubles:
// a program that writes its own sources comes to an end.
const leastPatience = 5 * time.Second

// A load is one reload under way.
type load struct {
	began time.Time
	end   context.CancelFunc
	done  chan struct{}
	half  bool // set before done is closed
}

// ended is closed when the load is over; nil without one.
func (l *load) ended() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.done
}

// begin starts a reload, while events go on.
func (w *watching) begin(ctx context.Context) { //clock:outside a load waits for programs
	ctx, end := context.WithCancel(ctx) //clock:outside a load waits for programs
	l := &load{began: time.Now(), end: end, done: make(chan struct{})}
	w.load = l
	go func() { //clock:outside giveUp and follow wait for it
		defer close(l.done)
		l.half = w.Reload(ctx)
	}()
}

// giveWay makes way for the next reload. It gives up the load that is under way, whose
// result nobody wants any more if the app has changed again: its code may never come to
// an end. Wait, if not 0, is when to ask again.
func (w *watching) giveWay(ctx context.Context) (wait time.Duration) {
	switch {
	case w.load == nil:
		return 0
	case !w.Differs(ctx):
		return configQuiet
	}
	if wait = w.patience - time.Since(w.load.began); wait > 0 {
		return wait
	}
	w.giveUp()
	w.patience = max(leastPatience, 2*w.patience)
	return 0
}

// giveUp ends the load that is under way, and waits for that.
func (w *watching) giveUp() { //clock:outside a load waits for programs
	if w.load != nil {
		w.load.end()
		<-w.load.done //clock:outside a load waits for programs
		w.load = nil
	}
}
