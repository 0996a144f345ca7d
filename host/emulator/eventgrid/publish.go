package eventgrid

import (
	"context"

	"github.com/redeliver/redeliver/host/journal"
)

// Publish takes events for a topic: all of them or, with an *Error, none. Each
// becomes one delivery for every subscription that wants it. Deliveries run by
// themselves; Publish does not wait for it.
func (g *Grid) Publish(ctx context.Context, topicName string, events ...*Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	made, records, err := g.take(ctx, topicName, events)
	if err == nil {
		// In the journal publishing stands before delivery.
		g.opts.record(records)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.state.withdraw(made)
		return err
	}
	g.enqueueLocked(made)
	return nil
}

// take makes deliveries of events, and returns when they are written.
func (g *Grid) take(ctx context.Context, topicName string, events []*Event) (made []*delivery, records []journal.Record, err error) {
	err = g.change(ctx, func() error {
		t, err := g.state.topic(topicName)
		if err != nil {
			return err
		}
		for i, e := range events {
			if e.schema != t.InputSchema {
				return atEvent(badRequest("topic %q takes events of the schema %s", t.Name, t.InputSchema), i)
			}
		}
		now, missing := g.now(), g.awaited.missing(t)
		for _, e := range events {
			e = e.accepted(t.Resource)
			f := &fields{e: e}
			for _, s := range missing {
				if s.wants(f) {
					records = append(records, s.dropped(e, s.lacks))
				}
			}
			var other *Event // in the other schema
			for _, s := range t.subscriptions {
				if !s.wants(f) {
					continue
				}
				if s.state != Active {
					records = append(records, s.dropped(e, subscriptionNotValidated))
					continue
				}
				out := e
				if s.schema != e.schema {
					if other == nil {
						other = e.as(s.schema)
					}
					out = other
				}
				made = append(made, g.admitLocked(s, out.seal(), now))
				if g.opts.Record != nil {
					records = append(records, made[len(made)-1].record(journal.Enqueued))
				}
			}
		}
		return nil
	})
	return made, records, err
}

// dropped is the record of an event that a subscription cannot take.
func (s *subscription) dropped(e *Event, why Reason) journal.Record {
	return journal.Record{Kind: journal.EventDropped, Service: journal.EventGrid, Source: s.source(), MessageID: e.ID, Cause: string(why)}
}
