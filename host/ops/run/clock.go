package run

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// GetClock tells the time of the host.
type GetClock struct {
	ops.Op[ClockStatus] `route:"GET /clock" clock:"own"`
}

func (GetClock) Do(_ context.Context, e *ops.Env) (ClockStatus, error) {
	return timeAndDue(e), nil
}

// AdvanceClock moves a virtual clock and returns when what became due has been worked
// off; 409 when the clock is not virtual. Time stands still while a handler runs, for as long
// as it runs, except in the modes real and auto, where it waits a second for each. A caller
// who leaves stops time where it is.
type AdvanceClock struct {
	ops.Op[ClockStatus] `route:"POST /clock/advance" clock:"own"`

	By time.Duration `query:"by,required" min:"1ns" max:"8784h" want:"a duration above 0 and at most 8784h (P366D)" fault:"by %q: want a duration above 0 and at most 8784h" hint:"its units are h, m, s and ms, for instance \"15m\", \"1h30m\" or \"192h\""`
}

func (in AdvanceClock) Do(ctx context.Context, e *ops.Env) (out ClockStatus, err error) {
	if _, err = virtual(e); err == nil {
		err = host.AdvanceFor(ctx, e.Host, in.By)
	}
	if err != nil {
		return out, err
	}
	return timeAndDue(e), nil
}

// NextDeadline moves a virtual clock to what is due next, through every deadline on the
// way, and returns when that has been worked off, handlers included; 409 when the clock
// is not virtual, or nothing is due.
type NextDeadline struct {
	ops.Op[ClockStatus] `route:"POST /clock/next" clock:"own"`
}

func (NextDeadline) Do(ctx context.Context, e *ops.Env) (out ClockStatus, err error) {
	v, err := virtual(e)
	if err != nil {
		return out, err
	}
	next := due(v, 1)
	if len(next) == 0 {
		return out, ops.Refuse(http.StatusConflict, "nothing is due at any time: the clock has nowhere to go", "")
	}
	if err = host.AdvanceFor(ctx, e.Host, max(next[0].Until.Sub(v.Now()), 0)); err != nil {
		return out, err
	}
	return timeAndDue(e), nil
}

// SetClock changes how a virtual clock moves by itself, from its present time on: "real"
// follows the wall, "debug" too, but stands still while a handler runs, "auto" skips
// every wait, and "manual" stands still until it is moved; 409 when the clock is not
// virtual, or the host cannot have that mode.
type SetClock struct {
	ops.Op[ClockStatus] `route:"PUT /clock" clock:"own"`

	Mode clock.Pace `query:"mode,required"`
}

func (in SetClock) Do(_ context.Context, e *ops.Env) (out ClockStatus, err error) {
	switch in.Mode {
	case clock.Real, clock.Debug, clock.Auto, clock.Manual:
	default:
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("mode %q: want real, debug, auto or manual", in.Mode), "")
	}
	v, err := virtual(e)
	if err != nil {
		return out, err
	}
	if e.Pace == nil {
		v.SetPace(in.Mode)
	} else if err = e.Pace(in.Mode); err != nil {
		return out, ops.Refuse(http.StatusConflict, err.Error(), "")
	}
	e.Host.Journal().Append(journal.Record{Kind: journal.ClockMoved, Cause: "mode", Name: string(in.Mode)})
	return timeAndDue(e), nil
}

// ClockStatus is the time of a host. Elapsed times count from the making of the
// clock, in milliseconds.
type ClockStatus struct {
	Now              time.Time  `json:"now"`
	Wall             time.Time  `json:"wall"`
	Virtual          bool       `json:"virtual"`
	Mode             clock.Pace `json:"mode,omitempty"` // of a virtual clock: real, debug, auto or manual
	Due              []Due      `json:"due,omitempty"`  // the next five, where the clock was asked for; the first is the one of NextDeadline
	VirtualElapsedMS int64      `json:"virtualElapsedMs,omitempty"`
	RealElapsedMS    int64      `json:"realElapsedMs,omitempty"`
}

// Due is a time that work waits for, or a listener; when there is none, any deadline.
type Due struct {
	At   time.Time `json:"at"`
	Name string    `json:"name,omitempty"` // who waits; a timeout has none
	Wait string    `json:"wait"`           // sleep: work waits for it; idle: a poll or tick; timer; lapse: the end of a lock or message; timeout
}

// dueShown is how many deadlines a clock is shown with.
const dueShown = 5

// timeNow is the time without what is due.
func timeNow(e *ops.Env) ClockStatus {
	clk := e.Host.Clock()
	st := ClockStatus{Now: clk.Now(), Wall: time.Now()} //clock:outside clients are told the time of the real world too
	if v, ok := clk.(*clock.Virtual); ok {
		virtual, real := v.Elapsed()
		st.Virtual, st.VirtualElapsedMS, st.RealElapsedMS = true, virtual.Milliseconds(), real.Milliseconds()
		st.Mode = v.Pace()
	}
	return st
}

// timeAndDue is the time with what is due next.
func timeAndDue(e *ops.Env) ClockStatus {
	e.Host.Clock().Inside("clock", func() {}) // a pace catches up with the wall
	st := timeNow(e)
	if v, ok := e.Host.Clock().(*clock.Virtual); ok {
		for _, w := range due(v, dueShown) {
			st.Due = append(st.Due, Due{At: w.Until, Name: w.Name, Wait: w.For})
		}
	}
	return st
}

// due is the next times at which functions have something to do: work waits for them, or
// a listener does, as for the tick of a schedule. Without any it is what else is due,
// except what a host does for itself.
func due(v *clock.Virtual, n int) []clock.Wait {
	list := v.Due(n, func(w clock.Wait) bool {
		return w.Work || w.For == "idle" && strings.HasPrefix(w.Name, "listener ")
	})
	if len(list) == 0 {
		list = v.Due(n, func(w clock.Wait) bool { return w.Name != "primary host" && !strings.HasPrefix(w.Name, "renewal of ") })
	}
	return list
}

// virtual is the host's clock, which can be moved.
func virtual(e *ops.Env) (*clock.Virtual, error) {
	v, ok := e.Host.Clock().(*clock.Virtual)
	if !ok {
		return nil, ops.Refuse(http.StatusConflict, host.ErrNotVirtual.Error(), "")
	}
	return v, nil
}
