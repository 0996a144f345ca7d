package eventgrid

import (
	"context"

	"github.com/redeliver/redeliver/host/journal"
)

// GivenUpByHand is the reason of an event that somebody has given up.
const GivenUpByHand Reason = "GivenUpByHand"

// Retry has an event at a subscription tried now, whatever its schedule says. It refuses
// an event that waits for no attempt. A probation of the endpoint still holds.
func (g *Grid) Retry(ctx context.Context, topic, subscription, eventID string) error {
	return byHand(ctx, g, topic, subscription, eventID, func(d *delivery) ([]journal.Record, error) {
		if !d.waits() {
			return nil, busy(eventID)
		}
		d.due = g.now()
		g.pump.queue.wait(d, d.due)
		g.writing.saveState(d)
		return nil, nil
	})
}

// GiveUp ends the attempts of an event at a subscription: it goes to the place of dead
// letters, or is dropped where there is none.
func (g *Grid) GiveUp(ctx context.Context, topic, subscription, eventID string) error {
	return byHand(ctx, g, topic, subscription, eventID, func(d *delivery) ([]journal.Record, error) {
		if !d.waits() {
			return nil, busy(eventID)
		}
		g.pump.queue.remove(d)
		return g.giveUpLocked(d, GivenUpByHand, g.now()), nil
	})
}

// waits reports whether an event is neither at work nor given up.
func (d *delivery) waits() bool { return d.state == waiting || d.state == expiring }

func busy(eventID string) error {
	return unable("event %q waits for no attempt: it is being sent, or given up", eventID)
}

// byHand does something to one event at a subscription, and tells of it.
func byHand(ctx context.Context, g *Grid, topic, subscription, eventID string, do func(*delivery) ([]journal.Record, error)) error {
	return g.change(ctx, func() error {
		var found *delivery
		for _, d := range g.live {
			if d.state != unwritten && d.event.ID == eventID && fold(d.sub.topic.Name) == fold(topic) && fold(d.sub.Name) == fold(subscription) &&
				(found == nil || d.number < found.number) {
				found = d
			}
		}
		if found == nil {
			return notFound("topic %q has no event %q for event subscription %q", topic, eventID, subscription)
		}
		records, err := do(found)
		g.removed = append(g.removed, records...)
		g.pump.kick()
		return err
	})
}
