//clock:outside clients are told the time of the real world too

package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web/control"
)

// dueShown is how many deadlines a clock is shown with.
const dueShown = 5

// timeNow is the time without what is due.
func (s *Server) timeNow() control.ClockStatus {
	clk := s.host.Clock()
	st := control.ClockStatus{Now: clk.Now(), Wall: time.Now()}
	if v, ok := clk.(*clock.Virtual); ok {
		virtual, real := v.Elapsed()
		st.Virtual, st.VirtualElapsedMS, st.RealElapsedMS = true, virtual.Milliseconds(), real.Milliseconds()
		st.Mode = v.Pace()
	}
	return st
}

// timeAndDue is the time with what is due next.
func (s *Server) timeAndDue() control.ClockStatus {
	s.host.Clock().Inside("clock", func() {}) // a pace catches up with the wall
	st := s.timeNow()
	if v, ok := s.host.Clock().(*clock.Virtual); ok {
		for _, w := range due(v, dueShown) {
			st.Due = append(st.Due, control.Due{At: w.Until, Name: w.Name, Wait: w.For})
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

func (s *Server) clockStatus(context.Context, control.GetClock) (control.ClockStatus, error) {
	return s.timeAndDue(), nil
}

// virtual is the host's clock, which can be moved.
func (s *Server) virtual() (*clock.Virtual, error) {
	v, ok := s.host.Clock().(*clock.Virtual)
	if !ok {
		return nil, refuse(http.StatusConflict, "the host runs on the clock of the system: it cannot be moved", "")
	}
	return v, nil
}

func (s *Server) advance(_ context.Context, in control.AdvanceClock) (out control.ClockStatus, err error) {
	if _, err = s.virtual(); err != nil {
		return out, err
	}
	s.host.Advance(in.By)
	return s.timeAndDue(), nil
}

func (s *Server) nextDeadline(context.Context, control.NextDeadline) (out control.ClockStatus, err error) {
	v, err := s.virtual()
	if err != nil {
		return out, err
	}
	next := due(v, 1)
	if len(next) == 0 {
		return out, refuse(http.StatusConflict, "nothing is due at any time: the clock has nowhere to go", "")
	}
	s.host.Advance(max(next[0].Until.Sub(v.Now()), 0))
	return s.timeAndDue(), nil
}

func (s *Server) setClock(_ context.Context, in control.SetClock) (out control.ClockStatus, err error) {
	switch in.Mode {
	case clock.Real, clock.Debug, clock.Auto, clock.Manual:
	default:
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("mode %q: want real, debug, auto or manual", in.Mode), "")
	}
	v, err := s.virtual()
	if err != nil {
		return out, err
	}
	if s.opts.Pace == nil {
		v.SetPace(in.Mode)
	} else if err = s.opts.Pace(in.Mode); err != nil {
		return out, refuse(http.StatusConflict, err.Error(), "")
	}
	s.host.Journal().Append(journal.Record{Kind: journal.ClockMoved, Cause: "mode", Name: string(in.Mode)})
	return s.timeAndDue(), nil
}
