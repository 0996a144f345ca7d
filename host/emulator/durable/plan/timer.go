package plan

import (
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// timer makes a timer, in pieces when it is long (spec durable 4.7). A cancelled one is
// done, and its present piece leaves the clock.
//
// Source: ext ContextImplementations/DurableOrchestrationContext.cs.
func (m *Machine) timer(a *Action) *task {
	long := a.FireAt.Sub(m.now) > durable.LongTimer
	if long && m.st.Schema < V3 {
		return m.walk.stop("The Azure Storage provider supports a maximum of 6 days for time-based delays (Parameter 'fireAt')")
	}
	outer := &task{}
	if a.Canceled {
		if long && m.in.Runtime == "node" {
			m.note(longTimerCancel, fmt.Sprintf("%s cancels timer #%d of more than 6 days: once a piece of it has fired, the replay gives its numbers to other actions and the instance fails (azure-functions-durable-python#573); wait in steps of at most 6 days", m.in.Name, m.n))
		}
		due, what := m.piece(a, long)
		s := m.schedule(durable.Event{Type: durable.TimerCreated, FireAt: due}, Scheduled{What: what})
		delete(m.open, s.event.ID)
		m.cancelled = append(m.cancelled, s.event.ID)
		outer.done = true
		return outer
	}
	m.pieces(a, long, outer)
	return outer
}

// piece is the next piece of a timer.
func (m *Machine) piece(a *Action, long bool) (due time.Time, what string) {
	rest := a.FireAt.Sub(m.now)
	if !long {
		return a.FireAt, "timer"
	}
	if rest > durable.TimerPiece {
		return m.now.Add(durable.TimerPiece), "piece"
	}
	return a.FireAt, "piece"
}

// pieces schedules a timer's next piece, and the others behind it.
func (m *Machine) pieces(a *Action, long bool, outer *task) {
	due, what := m.piece(a, long)
	t := m.schedule(durable.Event{Type: durable.TimerCreated, FireAt: due}, Scheduled{What: what}).task
	t.await(func() {
		if long && a.FireAt.After(m.now) {
			m.pieces(a, long, outer)
			return
		}
		outer.resolve(false, t.end)
	})
}
