package amqp

import (
	"slices"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// condLockLost is what a client is told that settles a delivery of which nothing
// is known any more.
const condLockLost wire.Symbol = "com.microsoft:message-lock-lost"

// disposition gathers what the client says of deliveries it was sent.
func (s *session) disposition(p *wire.Disposition) {
	if p.Role != wire.Receiver || (p.State == nil && !p.Settled) {
		return // what it says of its own deliveries follows from our word on them
	}
	if p.State != nil && p.State.Kind == wire.StateReceived {
		return
	}
	c := s.c
	c.mu.Lock()
	var ids []uint32 // known ones, when the range is longer than all we know
	first, last := p.First, p.Last.Or(p.First)
	count := last - first + 1
	if last-first >= uint32(len(s.unsettled)) && first != last {
		for id := range s.unsettled {
			if id-first <= last-first {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b uint32) int { return int(int32(a - b)) })
		count = uint32(len(ids))
	}
	answers := run{s: s, role: wire.Sender}
	full := false
	for i := range count {
		id := first + i
		if ids != nil {
			id = ids[i]
		}
		d := s.unsettled[id]
		delete(s.unsettled, id)
		switch {
		case d == nil && p.Settled:
		case d == nil:
			if int32(id-s.nextDelivery) < 0 {
				s.answerLocked(wire.Sender, id, id, &wire.State{Kind: wire.StateRejected, Error: wire.Errorf(condLockLost, "delivery %d was settled before", id)})
			}
		case d.message == nil: // an answer to a request
			if !p.Settled {
				answers.add(id)
			}
		default:
			b := c.batchFor(d.l)
			b.out = append(b.out, Settlement{Message: d.message, State: p.State, id: id, last: p.Settled})
			full = c.waiting >= batchLimit
		}
	}
	answers.end()
	c.mu.Unlock()
	if full {
		c.work()
	}
}

// settle has the node settle, and tells the client what came of it.
func (l *link) settle(list []Settlement) {
	l.node.(Producer).Settle(list)
	c, s := l.s.c, l.s
	c.mu.Lock()
	defer c.mu.Unlock()
	done := run{s: s, role: wire.Sender}
	for i := range list {
		switch d := &list[i]; {
		case d.last:
		case d.Err != nil:
			done.end()
			s.answerLocked(wire.Sender, d.id, d.id, &wire.State{Kind: wire.StateRejected, Error: d.Err})
		case d.Answer != nil:
			done.end()
			s.answerLocked(wire.Sender, d.id, d.id, d.Answer)
		default:
			done.add(d.id)
		}
	}
	done.end()
}

// answerLocked settles deliveries.
func (s *session) answerLocked(role wire.Role, first, last uint32, state *wire.State) {
	p := wire.Disposition{Role: role, First: first, Settled: true, State: state}
	if last != first {
		p.Last = wire.Some(last)
	}
	start := len(s.c.out)
	s.c.out = wire.EndFrame(p.Append(wire.BeginFrame(s.c.out, wire.FrameAMQP, s.channel)), start)
}

// run collects consecutive deliveries to be accepted in one frame.
type run struct {
	s           *session
	role        wire.Role
	first, next uint32
	any         bool
}

func (r *run) add(id uint32) {
	if r.any && id != r.next {
		r.end()
	}
	if !r.any {
		r.any, r.first = true, id
	}
	r.next = id + 1
}

func (r *run) end() {
	if r.any {
		r.s.answerLocked(r.role, r.first, r.next-1, &wire.State{Kind: wire.StateAccepted})
		r.any = false
	}
}
