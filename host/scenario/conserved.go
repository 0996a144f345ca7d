package scenario

import (
	"fmt"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
)

// keptMessages are the messages that storage queues and Service Bus have taken, and
// what took them away, as the journal tells.
type keptMessages struct {
	order []journal.Record         // enqueued
	ended map[explain.Identity]int // settlements that remove a message
	maybe map[explain.Identity]bool
	at    map[queueOf]int // which of order were removed by hand: those before
}

// queueOf is a queue of a service as a record names it.
type queueOf struct{ service, source string }

func newKept() *keptMessages {
	return &keptMessages{ended: map[explain.Identity]int{}, maybe: map[explain.Identity]bool{}, at: map[queueOf]int{}}
}

// settled notes what a delivery took away. After a failed settlement the message may be
// there or not.
func (k *keptMessages) settled(r *journal.Record, members []explain.Identity) {
	for i, d := range explain.Decisions(r, len(members)) {
		switch {
		case !explain.Removes(d):
		case r.Error == "":
			k.ended[members[i]]++
		default:
			k.maybe[members[i]] = true
		}
	}
}

// byService notes what a service did by itself, or for somebody outside.
func (k *keptMessages) byService(r *journal.Record) {
	id := explain.IdentityOf(r)
	switch r.Kind {
	case journal.Enqueued:
		// A duplicate is none, and a scheduled message comes under another number.
		if r.Status == "" && (r.Service == journal.Queues || r.Service == journal.ServiceBus) {
			k.order = append(k.order, *r)
		}
	case journal.Settled:
		if r.Decision == "completed" {
			k.ended[id]++
		}
	case journal.Forwarded:
		k.maybe[id] = true // it is another message now
	case journal.Expired:
		if k.maybe[id] = true; r.MessageID == "" { // the entity has expired
			k.at[queueOf{r.Service, r.Source}] = len(k.order)
		}
	case journal.Purged:
		k.at[queueOf{r.Service, r.Source}] = len(k.order)
	case journal.StateLoaded:
		k.order = nil
	}
}

// conserved checks that each message of a queue is in one place: gone by one settlement,
// or still there once. A fault or a crash may have brought it a second time, never taken
// it away.
func (r inspection) conserved(at string, c *checker) {
	there := r.there()
	disturbed := r.h.Faults().Taken() > 0
	for _, starts := range c.run {
		disturbed = disturbed || starts > 1
	}
	for i := range c.kept.order {
		rec := &c.kept.order[i]
		id := explain.IdentityOf(rec)
		n := there[id] + c.kept.ended[id]
		lost := n == 0 && !c.kept.maybe[id] && i >= c.kept.at[queueOf{rec.Service, rec.Source}]
		if lost || n > 1 && !disturbed {
			r.mismatch(at, "message "+rec.MessageID+" of "+rec.Source+" is not in one place", "1", fmt.Sprint(n),
				func() []string { return r.lives(explain.Subject{Message: rec.MessageID}) })
			return
		}
	}
}

// there are the messages of all queues and entities, and how often each is there.
func (r inspection) there() map[explain.Identity]int {
	there := map[explain.Identity]int{}
	for _, queue := range r.h.Queues() {
		for _, m := range append(r.h.Messages(queue), r.h.Hidden(queue)...) {
			there[explain.Identity{Service: journal.Queues, ID: m.ID}]++
		}
	}
	for _, path := range r.busPaths() {
		for _, m := range r.h.ServiceBusMessages(path) {
			there[explain.Identity{
				Service: journal.ServiceBus, Entity: explain.Place(journal.ServiceBus, path), ID: m.MessageID, Number: m.SequenceNumber,
			}]++
		}
	}
	return there
}
