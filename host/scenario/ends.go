package scenario

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// ends are how the messages of a function ended, each by its identity: the members of a
// batch, two messages of one ID, and an event at two subscriptions each have their own.
type ends struct {
	function string
	order    []*ending // by first delivery
	of       map[explain.Identity]*ending
	members  map[string][]explain.Identity // of deliveries in work

	run  int // the host was started so often again
	last uint64
}

// An ending is how a message ended, so far.
type ending struct {
	word string          // empty: nothing has decided yet
	work map[string]bool // deliveries that have it, by name
	gone bool            // it does not come again by itself
}

func newEnds(function string) *ends {
	return &ends{function: function, of: map[explain.Identity]*ending{}, members: map[string][]explain.Identity{}}
}

// words are the ends of all messages, in the order of their first delivery.
func (e *ends) words() []string {
	list := make([]string, len(e.order))
	for i, m := range e.order {
		if list[i] = m.word; !m.gone && len(m.work) > 0 {
			list[i] = inWork
		}
	}
	return list
}

// inWork is the end, so far, of a message that was received and not settled.
const inWork = "in work"

// look takes what a record says of the ends.
func (e *ends) look(r *journal.Record) {
	if r.Seq <= e.last {
		e.run++
		clear(e.members) // another run begins the names of deliveries anew
		for _, m := range e.order {
			if len(m.work) > 0 {
				clear(m.work)
				m.work["lost"] = true
			}
		}
	}
	e.last = r.Seq
	if strings.EqualFold(r.Function, e.function) && (r.Kind == journal.Received || r.Kind == journal.Settled) {
		if r.Kind == journal.Received {
			e.received(r)
		} else {
			e.settled(r)
		}
		return
	}
	e.byService(r)
}

func (e *ends) received(r *journal.Record) {
	members := explain.Members(r)
	if r.MessageID == "" { // a request, a tick: the delivery is all of it
		members = []explain.Identity{{ID: fmt.Sprint(e.run, " ", r.Delivery)}}
	}
	e.members[r.Delivery] = members
	for _, id := range members {
		m := e.of[id]
		if m == nil {
			m = &ending{work: map[string]bool{}}
			e.of[id], e.order = m, append(e.order, m)
		}
		delete(m.work, "lost")
		m.work[r.Delivery], m.gone = true, false
	}
}

func (e *ends) settled(r *journal.Record) {
	members := e.members[r.Delivery]
	delete(e.members, r.Delivery)
	decisions := explain.Decisions(r, len(members))
	for i, id := range members {
		m := e.of[id]
		delete(m.work, r.Delivery)
		if m.gone { // its service, or another delivery, has ended it meanwhile
			continue
		}
		if decisions[i] != triggers.LockLost || m.word == "" {
			m.word = string(decisions[i])
		}
		m.gone = r.Error == "" && explain.Removes(decisions[i])
	}
}

// byService notes the end of a message that a service decided.
func (e *ends) byService(r *journal.Record) {
	word := ""
	switch r.Kind {
	case journal.DeadLettered:
		word = "dead_lettered"
	case journal.EventDropped:
		word = "dropped"
	case journal.Expired:
		word = "expired"
	default:
		return
	}
	if m := e.of[explain.IdentityOf(r)]; m != nil {
		m.word, m.gone = word, true
	}
}
