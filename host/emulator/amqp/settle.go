package amqp

import (
	"bytes"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// condLockLost is the answer to a client that settles an unknown delivery.
const condLockLost wire.Symbol = "com.microsoft:message-lock-lost"

// Conditions of failures that pass.
const (
	condServerBusy wire.Symbol = "com.microsoft:server-busy"
	condTimeout    wire.Symbol = "com.microsoft:timeout"
)

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
		within := p.State != nil && p.State.Kind == wire.StateTransactional
		if d != nil && !(within && !p.Settled && d.message != nil) {
			s.forgetLocked(id)
		}
		switch {
		case d == nil && p.Settled:
		case d == nil:
			if int32(id-s.nextDelivery) < 0 {
				s.answerLocked(wire.Sender, id, id, &wire.State{Kind: wire.StateRejected, Error: wire.Errorf(condLockLost, "delivery %d was settled before", id)})
			}
		case d.message == nil: // an answer to a request
			if !p.Settled {
				answers.add(id, outcomeOf(p.State))
			}
		default:
			b := c.batchFor(d.l)
			b.out = append(b.out, Settlement{Message: d.message, State: p.State, id: id, last: p.Settled})
			if within {
				out := &b.out[len(b.out)-1]
				out.State, out.Txn = p.State.Outcome, p.State.Txn
			}
			full = c.waiting >= batchLimit
		}
	}
	answers.end()
	c.mu.Unlock()
	if full {
		c.work()
	}
}

// settle has the node settle, and tells the client what came of it. Of a settlement
// that could not be decided the client is not told by a disposition, which would end
// the delivery for it, but by the end of the link: then it settles over another.
func (l *link) settle(list []Settlement) {
	l.node.(Producer).Settle(list)
	if undecided := l.answerSettled(list); undecided != nil {
		l.stop(wire.Errorf(wire.CondDetachForced, "a delivery could not be settled, and may be again: %s", undecided.Description), false)
	}
}

// isUndecided reports whether a failure leaves the delivery as it was: what was asked
// for may be done later.
func isUndecided(err *wire.Error) bool {
	switch err.Condition {
	case wire.CondInternalError, condServerBusy, condTimeout:
		return true
	}
	return false
}

// answerSettled tells the client of what was decided, and returns why something was
// not.
func (l *link) answerSettled(list []Settlement) (undecided *wire.Error) {
	c, s := l.s.c, l.s
	c.mu.Lock()
	defer c.mu.Unlock()
	done := run{s: s, role: wire.Sender}
	for i := range list {
		switch d := &list[i]; {
		case d.last:
		case d.Err != nil && isUndecided(d.Err):
			undecided = d.Err
		case d.Err != nil:
			done.end()
			s.forgetLocked(d.id)
			s.answerLocked(wire.Sender, d.id, d.id, &wire.State{Kind: wire.StateRejected, Error: d.Err})
		case d.Txn != nil && d.State != nil:
			done.end()
			if kept := s.unsettled[d.id]; kept != nil {
				kept.txn = bytes.Clone(d.Txn) // of a frame, whose bytes are used again
			}
			s.tellLocked(wire.Sender, d.id, d.id, inTransaction(d.Txn, d.State.Kind), false)
		default:
			done.add(d.id, outcomeOf(d.State))
		}
	}
	done.end()
	return undecided
}

// outcome is the answer for a delivery that was settled without a failure.
type outcome struct {
	kind                              wire.StateKind
	deliveryFailed, undeliverableHere bool
}

// outcomeOf is the outcome that confirms a settlement: the requested outcome,
// without its error and its annotations (spec messaging 3.6). The clients for Java
// and Python take another for a failure (azure-core-amqp:
// ReceiverUnsettledDeliveries; azure-servicebus: _pyamqp/receiver.py); all clients
// take a rejected with an error for a failure.
func outcomeOf(s *wire.State) outcome {
	if s.Kind == wire.StateUnknown {
		return outcome{kind: wire.StateAccepted}
	}
	return outcome{s.Kind, s.DeliveryFailed, s.UndeliverableHere}
}

// forgetLocked ends a delivery, if it has not ended.
func (s *session) forgetLocked(id uint32) {
	if d := s.unsettled[id]; d != nil {
		delete(s.unsettled, id)
		d.l.open--
	}
}

// dischargedLocked ends the deliveries that a transaction has settled. After a rollback they
// are as before, and the client settles them again: a receiver of a session has no other way
// (azure-sdk-for-net: AmqpReceiver.DisposeMessageAsync).
func (c *conn) dischargedLocked(d *wire.Discharge) {
	for _, channel := range slices.Sorted(maps.Keys(c.sessions)) {
		s := c.sessions[channel]
		for _, id := range slices.Sorted(maps.Keys(s.unsettled)) {
			switch sent := s.unsettled[id]; {
			case sent.txn == nil || !bytes.Equal(sent.txn, d.Txn):
			case d.Fail:
				sent.txn = nil
			default:
				s.forgetLocked(id)
				s.answerLocked(wire.Sender, id, id, inTransaction(d.Txn, wire.StateAccepted))
			}
		}
	}
}

// answerLocked settles deliveries.
func (s *session) answerLocked(role wire.Role, first, last uint32, state *wire.State) {
	s.tellLocked(role, first, last, state, true)
}

// tellLocked tells of the state of deliveries.
func (s *session) tellLocked(role wire.Role, first, last uint32, state *wire.State, settled bool) {
	p := wire.Disposition{Role: role, First: first, Settled: settled, State: state}
	if last != first {
		p.Last = wire.Some(last)
	}
	start := len(s.c.out)
	s.c.out = wire.EndFrame(p.Append(wire.BeginFrame(s.c.out, wire.FrameAMQP, s.channel)), start)
}

// run collects consecutive deliveries with the same outcome, to be told in one
// frame.
type run struct {
	s           *session
	role        wire.Role
	first, next uint32
	any         bool
	how         outcome
}

func (r *run) add(id uint32, how outcome) {
	if r.any && (id != r.next || how != r.how) {
		r.end()
	}
	if !r.any {
		r.any, r.first, r.how = true, id, how
	}
	r.next = id + 1
}

func (r *run) end() {
	if r.any {
		r.s.answerLocked(r.role, r.first, r.next-1, &wire.State{Kind: r.how.kind, DeliveryFailed: r.how.deliveryFailed, UndeliverableHere: r.how.undeliverableHere})
		r.any = false
	}
}
