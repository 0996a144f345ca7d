//clock:outside the callers of a kit are of the real world

package kit

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/worker"
)

// ClockWait waits for virtual time, for a handler that sleeps: exactly one of for and until
// says how long. While the handler of that invocation waits, time may go on, in a call that
// moves it; when the time has come, the handler runs again, and time stands still for it again.
// An invocation waits once at a time: another wait of it replaces the one before, and a request
// that its caller gives up is a wait that has ended. A wait without an invocation is a tick: it
// is served on the way, nothing moves time for it, and nothing stands still after it.
type ClockWait struct {
	ops.Op[Waited] `route:"POST /hosts/{id}/clock/wait" body:"json"`

	ID         string     `path:"id" json:"-"`
	For        *Span      `json:"for,omitempty"`
	Until      *time.Time `json:"until,omitempty"`
	Invocation string     `json:"invocation,omitempty"` // of the handler that waits
	Drive      bool       `json:"drive,omitempty"`      // while no other call moves time, this one does: for a caller who cannot make another one meanwhile
}

// Waited is how a wait has ended.
type Waited struct {
	Stopped string    `json:"stopped"` // met; cancelled: the invocation has to end, or has ended; replaced: it waits for another time
	Now     time.Time `json:"now"`
}

// Do implements the operation.
func (in ClockWait) Do(ctx context.Context, h *Host) (out Waited, err error) {
	if (in.For == nil) == (in.Until == nil) {
		return out, refuse(http.StatusBadRequest, BadRequest, "say one of for and until")
	}
	if err := h.ready(ctx); err != nil {
		return out, err
	}
	alive, leave := context.WithCancel(ctx)
	defer leave()
	defer context.AfterFunc(h.life, leave)()
	if in.Invocation == "" {
		return in.tick(alive, h)
	}
	wait, runs := h.sleepers.Begin(ctx, in.Invocation, in.end)
	if !runs {
		return out, refuse(http.StatusNotFound, NotFound, "no handler runs for invocation %q", in.Invocation).hinted("a wait without an invocation is a tick, for which nothing moves time")
	}
	defer context.AfterFunc(ctx, wait.Leave)()
	if in.Drive {
		h.driveUntil(alive, wait.Over())
	}
	<-wait.Over() // at the latest when the host has ended
	how, now := wait.End()
	return Waited{string(how), tick(now)}, nil
}

// end is the time that is waited for.
func (in ClockWait) end(now time.Time) time.Time {
	if in.Until != nil {
		return *in.Until
	}
	return now.Add(asTime(*in.For))
}

// tick waits without a handler that waits.
func (in ClockWait) tick(ctx context.Context, h *Host) (out Waited, err error) {
	if !h.ticking() {
		return out, unknownHost(h.id)
	}
	defer h.ticks.Done()
	clk := h.session.Host().Clock()
	own, end := clk.WithCancel(context.Background())
	defer context.AfterFunc(ctx, func() { clk.Inside("end of a tick", end) })()
	begun, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		clk.Inside("tick", func() {
			close(begun)
			err = clk.Idle(own, in.end(clk.Now()).Sub(clk.Now()))
			out = Waited{string(worker.Met), tick(clk.Now())}
		})
	}()
	<-begun
	if in.Drive {
		h.driveUntil(ctx, over)
	}
	<-over
	if err != nil {
		out.Stopped = string(worker.Cancelled)
	}
	return out, nil
}

// ticking begins a tick, for which the end of the host waits; false: it ends.
func (h *Host) ticking() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.life.Err() != nil {
		return false
	}
	h.ticks.Add(1)
	return true
}

// farthest is how far a wait moves time by itself.
const farthest = 10 * 365 * 24 * time.Hour

// driveUntil moves time, as soon as nobody else does, until over is closed.
func (h *Host) driveUntil(ctx context.Context, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
		return
	case h.turn <- struct{}{}:
	}
	defer h.turn.Unlock()
	if h.life.Err() != nil || h.session.Crashed() {
		return
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() { // the handler that wakes up holds time still, and the drive does not wait for it
		select {
		case <-over:
			leave()
		case <-ctx.Done():
		}
	}()
	ended := func() bool { return closed(over) || h.session.Crashed() }
	_ = h.call(func() { _, _ = h.session.Host().For(ctx).Until(ended, farthest) }) // who waits learns how it ended
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A turn is a lock that can be waited for beside other things.
type turn chan struct{}

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

func (t turn) TryLock() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

// ofClock is the path below which handlers wait that know no token, but the clock of their
// host: what a worker process of an app is told with each call.
const ofClock = Prefix + "/clock/"

// clockOf is the host whose clock has that key; nil: there is none.
func (k *Kit) clockOf(key string) *Host {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.hosts {
		if equal(h.key, key) {
			return h
		}
	}
	return nil
}

// clock serves the waits of handlers that know no token. The key is as good, for this alone.
func (k *Kit) clock(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, ofClock), "/wait")
	h := k.clockOf(key)
	if h == nil || r.Method != http.MethodPost || r.URL.Path != ofClock+key+"/wait" {
		answer(w, refuse(http.StatusNotFound, UnknownHost, "there is no clock here: its host has ended, or never was"))
		return
	}
	wait := of(ClockWait{})
	r.SetPathValue("id", h.id)
	k.serve(w, r, wait)
}
