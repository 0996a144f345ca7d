package worker

import (
	"context"
	"sync"
	"time"
)

// Sleepers are the handlers that wait for the host's time. A handler that runs holds virtual time
// still; one that waits for a later time, by the clock of its host instead of its machine, says
// so here, and time goes on meanwhile. When it has come, the handler runs again, and holds time
// still again.
//
// A wait comes in as the answer of a call would: after everything that the handler has said
// before, and in its turn among the calls that are out. So the same seed gives the same
// journal. The zero Sleepers is ready for use; its methods may be called by any goroutine, from
// outside the clock.
type Sleepers struct {
	// Address is told to handlers with each call, as the attribute redeliver.clock of its trace
	// context, beside redeliver.now.
	Address string

	mu    sync.Mutex               // guards:
	calls map[string]*conversation // that run, by invocation ID
}

// A Sleep is one wait of a handler.
type Sleep struct {
	call  *conversation
	until func(now time.Time) time.Time
	over  chan struct{} //clock:outside the handler is in another process

	// Guarded by the mutex of the call.
	wake  func()    // ends the sleep that has begun; nil: none
	at    time.Time // the time waited for, once the sleep has begun
	end   SleepEnd
	ended time.Time
}

// SleepEnd says how a wait has ended.
type SleepEnd string

// The ends of waits.
const (
	Met       SleepEnd = "met"       // its time has come
	Cancelled SleepEnd = "cancelled" // the call has to end, or has ended
	Replaced  SleepEnd = "replaced"  // the same call waits for another time now
	Left      SleepEnd = "left"      // who waited does so no more
)

// statusLimit is how long, in real time, a worker may take to show that all is in what it has
// said before.
const statusLimit = 10 * time.Second

// Begin begins the wait of a call for the time that until makes of the present one. A call
// waits once at a time: a wait that has begun before is replaced. It reports false for a call
// that does not run.
func (w *Sleepers) Begin(ctx context.Context, invocation string, until func(now time.Time) time.Time) (*Sleep, bool) {
	w.mu.Lock()
	c := w.calls[invocation]
	w.mu.Unlock()
	if c == nil {
		return nil, false
	}
	limited, end := context.WithTimeout(ctx, statusLimit) //clock:outside the answer of a process
	_ = c.c.health(limited)                               // a worker that does not answer has its lines come when they come
	end()
	wait := &Sleep{call: c, until: until, over: make(chan struct{})} //clock:outside the handler is in another process
	sign := &message{}
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return nil, false
	}
	before := c.wait
	c.wait = wait
	if c.waits == nil {
		c.waits = map[*message]*Sleep{}
	}
	c.waits[sign] = wait
	c.mu.Unlock()
	c.box.Put(sign)
	before.leave(Replaced)
	return wait, true
}

// Until is the time for which a call waits; false: it does not wait.
func (w *Sleepers) Until(invocation string) (time.Time, bool) {
	w.mu.Lock()
	c := w.calls[invocation]
	w.mu.Unlock()
	if c == nil {
		return time.Time{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wait == nil || c.wait.end != "" || c.wait.at.IsZero() {
		return time.Time{}, false
	}
	return c.wait.at, true
}

// Runs is how long, in real time, a call has been out; false: it does not run.
func (w *Sleepers) Runs(invocation string) (time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.calls[invocation]
	if c == nil {
		return 0, false
	}
	return time.Since(c.out), true //clock:outside people wait in real time
}

// enter has the waits of a call found, leave no more.
func (w *Sleepers) enter(c *conversation) {
	if w == nil {
		return
	}
	w.mu.Lock()
	c.out = time.Now() //clock:outside people wait in real time
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]*conversation{}
	}
	w.calls[c.req.InvocationID] = c
}

func (w *Sleepers) leave(c *conversation) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls[c.req.InvocationID] == c {
		delete(w.calls, c.req.InvocationID)
	}
}

// attributes are what the trace context of a call says of the host's time.
func (w *Sleepers) attributes(now time.Time) map[string]string {
	if w == nil {
		return nil
	}
	out := map[string]string{"redeliver.now": now.UTC().Format("2006-01-02T15:04:05.0000000Z07:00")}
	if w.Address != "" {
		out["redeliver.clock"] = w.Address
	}
	return out
}

// Over is closed when the wait has ended.
func (w *Sleep) Over() <-chan struct{} { return w.over } //clock:outside the handler is in another process

// End says how the wait has ended, and the host's time then. It is called when it has.
func (w *Sleep) End() (SleepEnd, time.Time) {
	w.call.mu.Lock()
	defer w.call.mu.Unlock()
	return w.end, w.ended
}

// Leave ends the wait, because nobody wants its end any more.
func (w *Sleep) Leave() { w.leave(Left) }

func (w *Sleep) leave(how SleepEnd) {
	if w == nil {
		return
	}
	clk := w.call.w.clk
	w.call.mu.Lock()
	wake := w.wake
	w.finishLocked(how, clk.Now())
	w.call.mu.Unlock()
	if wake != nil {
		clk.Inside("end of a wait", wake)
	}
}

// finishLocked notes how the wait has ended, once.
func (w *Sleep) finishLocked(how SleepEnd, now time.Time) {
	if w.end != "" {
		return
	}
	w.end, w.ended = how, now
	close(w.over) //clock:outside the handler is in another process
}

// waiting is the wait that a message in the box stands for; nil: it stands for itself.
func (c *conversation) waiting(m *message) *Sleep {
	if m.GetContent() != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waits[m]
	delete(c.waits, m)
	return w
}

// sleep is a wait, inside the clock. The call is not out meanwhile.
func (c *conversation) sleep(ctx context.Context, w *Sleep) {
	clk := c.w.clk
	asleep, wake := clk.WithCancel(ctx)
	defer wake()
	now := clk.Now()
	c.mu.Lock()
	if w.end != "" { // before it began
		c.mu.Unlock()
		return
	}
	w.wake, w.at = wake, w.until(now)
	c.mu.Unlock()
	err := clk.Sleep(asleep, w.at.Sub(now))
	how := Met
	if err != nil {
		how = Cancelled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.wake = nil
	w.finishLocked(how, clk.Now())
}
