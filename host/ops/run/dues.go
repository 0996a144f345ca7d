package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops"
)

// GetDue lists what is due next, the earliest first, at most 200.
type GetDue struct {
	ops.Op[Dues] `route:"GET /due"`
}

func (GetDue) Do(ctx context.Context, e *ops.Env) (Dues, error) {
	out := Dues{Now: e.Host.Clock().Now(), Items: slices.Concat(retriesDue(e), timersDue(e), breakersDue(e))}
	for _, s := range e.Services {
		if s.Due == nil {
			continue
		}
		items, more, err := s.Due(ctx, e)
		if err != nil {
			return out, err
		}
		out.Items, out.More = append(out.Items, items...), out.More+more
	}
	out.Items = slices.DeleteFunc(out.Items, func(i ops.DueItem) bool { return i.At.Before(out.Now) })
	slices.SortStableFunc(out.Items, func(a, b ops.DueItem) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
	if more := len(out.Items) - ops.MostDue; more > 0 {
		out.Items, out.More = out.Items[:ops.MostDue], out.More+more
	}
	if out.Items == nil {
		out.Items = []ops.DueItem{}
	}
	return out, nil
}

// Dues are what is due next.
type Dues struct {
	Now   time.Time     `json:"now"`
	Items []ops.DueItem `json:"items"`
	More  int           `json:"more,omitempty"` // so many come later
}

// retriesDue are the waits of retry policies, as the journal has them.
func retriesDue(e *ops.Env) (out []ops.DueItem) {
	type wait struct {
		seq  uint64
		item ops.DueItem
	}
	waiting, j := map[string]wait{}, e.Host.Journal()
	j.FindKind(1, journal.RetryScheduled, func(rec *journal.Record) bool {
		waiting[rec.Delivery] = wait{rec.Seq, ops.DueItem{
			At: rec.Time.Add(rec.Delay), Kind: "retry", Function: rec.Function, Delivery: rec.Delivery, MessageID: rec.MessageID, Entity: rec.Source,
			Text: fmt.Sprintf("%s tries %s again, attempt %d", rec.Function, rec.Delivery, rec.Attempt),
		}}
		return false
	})
	for _, kind := range []journal.Kind{journal.AttemptStarted, journal.RetryCancelled, journal.Settled} {
		if len(waiting) == 0 {
			return nil
		}
		j.FindKind(1, kind, func(rec *journal.Record) bool {
			if w, ok := waiting[rec.Delivery]; ok && rec.Seq > w.seq {
				delete(waiting, rec.Delivery)
			}
			return false
		})
	}
	for _, w := range waiting {
		out = append(out, w.item)
	}
	return out
}

// timersDue are the ticks of schedules: their listeners wait for them.
func timersDue(e *ops.Env) (out []ops.DueItem) {
	v, ok := e.Host.Clock().(*clock.Virtual)
	if !ok {
		return nil
	}
	for _, w := range v.Due(ops.MostDue, func(w clock.Wait) bool { return strings.HasPrefix(w.Name, "listener ") }) {
		h := e.AppOf(strings.TrimPrefix(w.Name, "listener "))
		if h == nil {
			continue
		}
		f := h.App().Function(w.Name[max(strings.LastIndexAny(w.Name, "/ "), 0)+1:])
		if f != nil && f.Trigger != nil && scheduled(f.Trigger.Type) {
			name := ops.Qualified(h, f.Name)
			out = append(out, ops.DueItem{At: w.Until, Kind: "timer", Function: name, Text: "the schedule of " + name + " ticks"})
		}
	}
	return out
}

// scheduled reports whether functions of a trigger run at times of their own.
func scheduled(trigger string) bool {
	kind := served.Of(trigger)
	return kind != nil && kind.Scheduled
}

func breakersDue(e *ops.Env) (out []ops.DueItem) {
	for name, rec := range circuits(e) {
		if rec.Kind == journal.CircuitOpened {
			out = append(out, ops.DueItem{At: rec.Time.Add(rec.Delay), Kind: "breaker", Function: name, Text: "the circuit of " + name + " half-opens"})
		}
	}
	return out
}
