package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/web/view"
)

// mostDue is how many things that are due are listed.
const mostDue = 200

func (s *Server) dues(ctx context.Context, _ view.GetDue) (view.Dues, error) {
	out := view.Dues{Now: s.host.Clock().Now(), Items: slices.Concat(s.retriesDue(), s.timersDue(), s.breakersDue(), s.eventsDue())}
	for _, of := range []func(context.Context) ([]view.DueItem, int, error){s.queuesDue, s.busDue} {
		items, more, err := of(ctx)
		if err != nil {
			return out, err
		}
		out.Items, out.More = append(out.Items, items...), out.More+more
	}
	out.Items = slices.DeleteFunc(out.Items, func(i view.DueItem) bool { return i.At.Before(out.Now) })
	slices.SortStableFunc(out.Items, func(a, b view.DueItem) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Text, b.Text)) })
	if more := len(out.Items) - mostDue; more > 0 {
		out.Items, out.More = out.Items[:mostDue], out.More+more
	}
	if out.Items == nil {
		out.Items = []view.DueItem{}
	}
	return out, nil
}

// retriesDue are the waits of retry policies, as the journal has them.
func (s *Server) retriesDue() (out []view.DueItem) {
	type wait struct {
		seq  uint64
		item view.DueItem
	}
	waiting, j := map[string]wait{}, s.host.Journal()
	j.FindKind(1, journal.RetryScheduled, func(rec *journal.Record) bool {
		waiting[rec.Delivery] = wait{rec.Seq, view.DueItem{
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
func (s *Server) timersDue() (out []view.DueItem) {
	v, ok := s.host.Clock().(*clock.Virtual)
	if !ok {
		return nil
	}
	for _, w := range v.Due(mostDue, func(w clock.Wait) bool { return strings.HasPrefix(w.Name, "listener ") }) {
		h := s.appOf(strings.TrimPrefix(w.Name, "listener "))
		if h == nil {
			continue
		}
		f := h.App().Function(w.Name[max(strings.LastIndexAny(w.Name, "/ "), 0)+1:])
		if f != nil && f.Trigger != nil && scheduled(f.Trigger.Type) {
			name := qualified(h, f.Name)
			out = append(out, view.DueItem{At: w.Until, Kind: "timer", Function: name, Text: "the schedule of " + name + " ticks"})
		}
	}
	return out
}

// scheduled reports whether functions of a trigger run at times of their own.
func scheduled(trigger string) bool {
	kind := served.Of(trigger)
	return kind != nil && kind.Scheduled
}

func (s *Server) breakersDue() (out []view.DueItem) {
	for name, rec := range s.circuits() {
		if rec.Kind == journal.CircuitOpened {
			out = append(out, view.DueItem{At: rec.Time.Add(rec.Delay), Kind: "breaker", Function: name, Text: "the circuit of " + name + " half-opens"})
		}
	}
	return out
}

func (s *Server) eventsDue() (out []view.DueItem) {
	for _, d := range s.host.Services().EventGrid().Deliveries("", "") {
		if d.Next.IsZero() {
			continue
		}
		text := fmt.Sprintf("Event Grid sends event %s to %s, attempt %d", d.EventID, d.Subscription, len(d.Attempts)+1)
		if d.Reason != "" {
			text = fmt.Sprintf("Event Grid gives event %s for %s up: %s", d.EventID, d.Subscription, d.Reason)
		}
		out = append(out, view.DueItem{At: d.Next, Kind: "event", MessageID: d.EventID, Service: "eventgrid", Entity: d.Topic + "/" + d.Subscription, Text: text})
	}
	return out
}

// queuesDue are the hidden messages of the queues, the first of each, and how many more
// there are.
func (s *Server) queuesDue(ctx context.Context) (out []view.DueItem, more int, err error) {
	storage := s.host.AppStorage()
	names, err := storage.Queues(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		hidden, err := storage.HiddenMessages(ctx, name)
		if err != nil {
			continue // deleted meanwhile
		}
		more += max(len(hidden)-mostDue, 0)
		for _, m := range hidden[:min(len(hidden), mostDue)] {
			item := view.DueItem{At: m.NextVisible, Kind: "redelivery", MessageID: m.ID, Service: "queue", Entity: name,
				Text: fmt.Sprintf("queue %s delivers message %s again, unless it is done before", name, m.ID)}
			if m.DequeueCount == 0 {
				item.Kind, item.Text = "delayed", fmt.Sprintf("message %s appears in queue %s", m.ID, name)
			}
			out = append(out, item)
		}
	}
	return out, more, nil
}

// busDue is queuesDue for the locks and scheduled messages of Service Bus.
func (s *Server) busDue(ctx context.Context) (out []view.DueItem, more int, err error) {
	entities, err := s.busEntities(ctx)
	if err != nil {
		return nil, 0, err
	}
	ns := s.host.Services().ServiceBus()
	for i := range entities {
		e := &entities[i]
		if e.Locked > 0 && e.Kind != setting.Topic {
			held, err := ns.Held(ctx, e.Path)
			if err != nil {
				continue // deleted meanwhile
			}
			more += max(len(held)-mostDue, 0)
			for _, h := range held[:min(len(held), mostDue)] {
				out = append(out, view.DueItem{At: h.Until, Kind: "lock", MessageID: h.MessageID, Service: "servicebus", Entity: e.Path,
					Text: fmt.Sprintf("the lock of message %s of %s ends, unless it is done or renewed before", h.MessageID, e.Path)})
			}
		}
		if e.Scheduled == 0 {
			continue
		}
		n := 0
		if err := s.eachOfBus(ctx, e.Path, func(m *view.ShownMessage, _ []byte) bool {
			if m.State == "scheduled" {
				n++
				out = append(out, view.DueItem{At: m.VisibleAt, Kind: "scheduled", MessageID: m.MessageID, Service: "servicebus", Entity: e.Path,
					Text: fmt.Sprintf("message %s of %s becomes active", m.MessageID, e.Path)})
			}
			return n < mostDue
		}); err != nil {
			continue // deleted meanwhile
		}
		more += max(int(e.Scheduled)-n, 0)
	}
	return out, more, nil
}
