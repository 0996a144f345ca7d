package amqp

import (
	"bytes"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

const (
	creditGranted = 1000 // to a client that sends; topped up at half
	batchLimit    = 512  // deliveries and settlements that are worked on together
)

// partial is a delivery of which not all transfers have come.
type partial struct {
	Delivery
	tooLarge bool // its bytes are not kept any more
}

// batch is consecutive work for one link: deliveries from it or settlements of it.
type batch struct {
	l   *link
	in  []Delivery
	out []Settlement
}

// batchFor returns the batch to which work for l is to be added.
func (c *conn) batchFor(l *link) *batch {
	c.waiting++
	if n := len(c.pending); n > 0 && c.pending[n-1].l == l {
		return &c.pending[n-1]
	}
	if n := len(c.pending); n < cap(c.pending) {
		c.pending = c.pending[:n+1]
	} else {
		c.pending = append(c.pending, batch{})
	}
	b := &c.pending[len(c.pending)-1]
	b.l = l
	return b
}

// work has nodes do what has gathered.
func (c *conn) work() {
	for i := range c.pending {
		b := &c.pending[i]
		if len(b.in) > 0 {
			b.l.consume(b.in)
		}
		if len(b.out) > 0 {
			b.l.settle(b.out)
		}
		clear(b.in)
		clear(b.out)
		b.l, b.in, b.out = nil, b.in[:0], b.out[:0]
	}
	c.pending, c.waiting = c.pending[:0], 0
}

// transfer takes one transfer frame.
func (s *session) transfer(p *wire.Transfer, payload []byte) *wire.Error {
	c := s.c
	c.mu.Lock()
	// The window is opened again long before it shuts, so that no client can go
	// beyond it: the credit of its links limits a client.
	s.inWindow--
	s.nextIn++
	if s.inWindow < incomingWindow/2 {
		s.flowLocked(nil, false)
	}
	l := s.links[p.Handle]
	if l == nil {
		c.mu.Unlock()
		return wire.Errorf(wire.CondUnattachedHandle, "transfer on handle %d, which has no link", p.Handle)
	}
	if l.stopping {
		c.mu.Unlock()
		return nil
	}
	begins := l.partial == nil
	noCredit := begins && l.credit == 0
	if begins && !noCredit {
		l.credit--
		l.deliveryCount++
	}
	c.mu.Unlock()

	var refused *wire.Error
	switch {
	case l.role != wire.Sender:
		refused = wire.Errorf(wire.CondNotAllowed, "transfer on a link on which the client receives")
	case noCredit:
		refused = wire.Errorf(wire.CondTransferLimitExceeded, "transfer without credit")
	case begins && !p.DeliveryID.Set:
		refused = wire.Errorf(wire.CondInvalidField, "the first transfer of a delivery has no delivery-id")
	case !begins && p.DeliveryID.Set && p.DeliveryID.V != l.partial.id:
		refused = wire.Errorf(wire.CondInvalidField, "delivery %d begins before delivery %d has ended", p.DeliveryID.V, l.partial.id)
	case p.Aborted:
		l.partial = nil
	default:
		refused = l.gather(p, payload)
	}
	if refused != nil {
		c.work()
		l.stop(refused, false)
	}
	return nil
}

// gather adds a transfer to its delivery.
func (l *link) gather(p *wire.Transfer, payload []byte) *wire.Error {
	c := l.s.c
	have := 0
	if l.partial != nil {
		have = len(l.partial.Payload)
	}
	if l.partial != nil && l.partial.tooLarge || uint64(have)+uint64(len(payload)) > l.maxSize {
		return l.skip(p)
	}
	d := Delivery{Format: p.Format.V, id: p.DeliveryID.V, settled: p.Settled.V}
	if s := p.State; s != nil && s.Kind == wire.StateTransactional {
		d.Txn = s.Txn
	}
	if part := l.partial; part != nil {
		part.Payload = append(part.Payload, payload...)
		part.settled = part.settled || p.Settled.V
		if p.More {
			return nil
		}
		d = part.Delivery
		l.partial = nil
	} else {
		d.Payload = bytes.Clone(payload)
		if p.More {
			l.partial = &partial{Delivery: d}
			return nil
		}
	}
	b := c.batchFor(l)
	if len(b.out) > 0 { // never so: a link has one direction
		c.work()
		b = c.batchFor(l)
	}
	b.in = append(b.in, d)
	if c.waiting >= batchLimit {
		c.work()
	}
	return nil
}

// skip takes a transfer of a message that is too large, and rejects the message
// once all of it has come. The link goes on, although the protocol would have it
// end: clients for JavaScript and Python hear of the reason in no other way, and
// the service rejects too (azure-sdk-for-python: test_queues.py,
// fail_send_messages; azure-sdk-for-js issue 23623). A client that wants no
// answer loses the link.
func (l *link) skip(p *wire.Transfer) *wire.Error {
	c, s := l.s.c, l.s
	if l.partial == nil {
		l.partial = &partial{Delivery: Delivery{id: p.DeliveryID.V}}
	}
	l.partial.Payload, l.partial.tooLarge = nil, true
	l.partial.settled = l.partial.settled || p.Settled.V
	if p.More {
		return nil
	}
	d := l.partial.Delivery
	l.partial = nil
	refused := wire.Errorf(wire.CondMessageSizeExceeded, "the received message exceeds the limit of %d bytes allowed on the link", l.maxSize)
	if d.settled {
		return refused
	}
	c.work() // what came before is answered before
	c.mu.Lock()
	defer c.mu.Unlock()
	s.answerLocked(wire.Receiver, d.id, d.id, &wire.State{Kind: wire.StateRejected, Error: refused})
	if l.credit < creditGranted/2 && !l.stopping {
		l.grantLocked()
	}
	return nil
}

// consume has the node take deliveries, and tells the client what came of them.
func (l *link) consume(list []Delivery) {
	c, s := l.s.c, l.s
	switch node := l.node.(type) {
	case Consumer:
		node.Consume(list)
	case Responder:
		l.respond(node, list)
	case Coordinator:
		coordinate(node, list)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := run{s: s, role: wire.Receiver}
	for i := range list {
		switch d := &list[i]; {
		case d.settled:
		case d.Err == nil && d.answer != nil:
			taken.end()
			s.answerLocked(wire.Receiver, d.id, d.id, d.answer)
		case d.Err == nil && d.Txn != nil:
			taken.end()
			s.answerLocked(wire.Receiver, d.id, d.id, inTransaction(d.Txn, wire.StateAccepted))
		case d.Err == nil:
			taken.add(d.id, outcome{kind: wire.StateAccepted})
		default:
			taken.end()
			s.answerLocked(wire.Receiver, d.id, d.id, &wire.State{Kind: wire.StateRejected, Error: d.Err})
		}
	}
	taken.end()
	for i := range list {
		if list[i].ended != nil {
			c.dischargedLocked(list[i].ended)
		}
	}
	if l.credit < creditGranted/2 && !l.stopping {
		l.grantLocked()
	}
}

// grantLocked gives the client credit to send.
func (l *link) grantLocked() {
	l.credit = creditGranted
	l.s.flowLocked(l, false)
}
