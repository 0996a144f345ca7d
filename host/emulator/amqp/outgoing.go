package amqp

import (
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// pullLimit is how many messages a link takes from its node at a time.
const pullLimit = 256

// flowLocked takes over a flow. It reports whether the node has to be interrupted.
func (l *link) flowLocked(p *wire.Flow) (interrupt bool) {
	if l.role == wire.Receiver && !l.stopping {
		if p.LinkCredit.Set {
			// The frames that the client had not seen when it wrote this.
			ahead := l.deliveryCount - p.DeliveryCount.Or(0)
			if int32(ahead) < 0 {
				ahead = 0
			}
			l.credit = p.LinkCredit.V - min(ahead, p.LinkCredit.V)
		}
		l.drain = p.Drain
		if _, produces := l.node.(Producer); produces {
			interrupt = l.pulling && (l.drain || l.credit < l.asked)
			l.ready.Signal()
		} else if l.attached {
			l.answerPullLocked()
		}
	}
	if p.Echo && !p.Drain {
		l.s.flowLocked(l, false)
	}
	return interrupt
}

// answerPullLocked does what a flow asks of a link that sends answers to requests.
func (l *link) answerPullLocked() {
	l.pumpLocked()
	if l.drain {
		l.drainedLocked()
	}
}

// drainedLocked uses up the credit that is left, and says so.
func (l *link) drainedLocked() {
	l.deliveryCount += l.credit
	l.credit = 0
	l.s.flowLocked(l, true)
	l.drain = false
	l.s.c.flushLocked()
}

// produce sends what the node has, as far as there is credit, until the link
// stops.
func (l *link) produce(node Producer) {
	c := l.s.c
	var scratch []byte
	c.mu.Lock()
	for !l.stopping {
		if l.credit == 0 {
			if l.drain {
				l.drainedLocked()
			}
			l.ready.Wait()
			continue
		}
		n, drain := min(l.credit, pullLimit), l.drain
		if l.settled { // pulled messages are gone: pull only what there is room for
			if !l.roomLocked() {
				if !l.stopping { // the connection is broken, and the link about to stop
					l.ready.Wait()
				}
				continue
			}
			if n, drain = min(l.credit, l.s.outWindow, pullLimit), l.drain; n == 0 {
				continue
			}
		}
		l.pulling, l.asked = !drain, n
		c.mu.Unlock()
		list, err := node.Pull(int(n), !drain)
		c.mu.Lock()
		l.pulling = false
		sent := 0
		for sent < len(list) && l.sendLocked(list[sent], &scratch) {
			sent++
		}
		c.flushLocked()
		if sent < len(list) {
			c.mu.Unlock()
			node.Return(list[sent:])
			c.mu.Lock()
		}
		if err != nil && !l.stopping {
			l.stopping, l.err = true, asError(err)
		}
		if drain && l.drain && len(list) < int(n) && !l.stopping {
			l.drainedLocked()
		}
	}
	if l.drain && !l.silentLocked() {
		l.drainedLocked() // whoever waits for that is not left to wait for it on a link that is gone
	}
	l.finishing = true
	c.mu.Unlock()
	l.finish()
}

// sendLocked sends a message, waiting for the session's window if it must. It
// reports false when there is no more credit for it.
func (l *link) sendLocked(m Outgoing, scratch *[]byte) bool {
	c, s := l.s.c, l.s
	if !l.roomLocked() || l.credit == 0 {
		return false
	}
	l.credit--
	l.deliveryCount++
	settled := l.settled || m.Settled()
	p := wire.Transfer{
		Handle: l.handle, DeliveryID: wire.Some(s.nextDelivery), Tag: m.Tag(),
		Format: wire.Some[uint32](0), Settled: wire.Some(settled),
	}
	s.nextDelivery++
	if !settled {
		s.unsettledLocked(p.DeliveryID.V, &sent{l: l, message: m})
	}
	start := len(c.out)
	c.out = m.Append(p.Append(wire.BeginFrame(c.out, wire.FrameAMQP, s.channel)))
	if len(c.out)-start <= int(c.maxFrame) {
		c.out = wire.EndFrame(c.out, start)
		s.countLocked()
		c.trackLocked(l, m)
		return true
	}
	c.out = c.out[:start]
	*scratch = m.Append((*scratch)[:0])
	for rest := *scratch; len(rest) > 0; {
		if !l.roomLocked() {
			return !m.Settled() // the link goes, and the delivery with it
		}
		rest = l.fragmentLocked(&p, rest)
	}
	c.trackLocked(l, m)
	if cap(*scratch) > highWater {
		*scratch = nil
	}
	return true
}

// fragmentLocked sends as much of the payload as fits into one frame and returns the rest.
func (l *link) fragmentLocked(p *wire.Transfer, payload []byte) []byte {
	c, s := l.s.c, l.s
	start := len(c.out)
	c.out = wire.BeginFrame(c.out, wire.FrameAMQP, s.channel)
	p.More = true
	c.out = p.Append(c.out)
	room := int(c.maxFrame) - (len(c.out) - start)
	if len(payload) <= room {
		p.More = false
		c.out = p.Append(c.out[:start+wire.HeaderSize])
		room = len(payload)
	}
	c.out = wire.EndFrame(append(c.out, payload[:room]...), start)
	s.countLocked()
	// Only the first transfer says what delivery it is of.
	p.DeliveryID, p.Tag, p.Format = wire.Opt[uint32]{}, nil, wire.Opt[uint32]{}
	return payload[room:]
}

// countLocked counts a transfer frame sent.
func (s *session) countLocked() {
	s.nextOut++
	s.outWindow--
}

// roomLocked waits until a transfer may be written; false: the link stops.
func (l *link) roomLocked() bool {
	c, s := l.s.c, l.s
	for !l.stopping && !c.broken {
		switch {
		case s.outWindow == 0:
			if !l.shut {
				l.shut = true
				s.windowShut = append(s.windowShut, l)
			}
		case len(c.out) > highWater:
			if !l.blocked {
				l.blocked = true
				c.blocked = append(c.blocked, l)
			}
		default:
			return true
		}
		c.flushLocked()
		l.ready.Wait()
	}
	return false
}
