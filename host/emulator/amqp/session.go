package amqp

import (
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

const (
	channelMax     = 4999
	handleMax      = 1<<16 - 1
	incomingWindow = 16384 // transfer frames that a client may send ahead
	outgoingWindow = 1<<31 - 1
)

// session is one session. Its fields are guarded by conn.mu.
type session struct {
	c       *conn
	channel uint16 // the client's number, and ours too
	number  int    // of the session in its connection, never given twice

	links map[uint32]*link // by handle; theirs is also ours
	live  int              // links that are not finished
	// owed are the detaches that the client has still to send for links that the
	// server ended, and whose handle it already uses for the next link.
	owed map[uint32]int

	ending    bool        // links are being stopped; then comes our end
	endErr    *wire.Error // to be in it
	endSent   bool
	peerEnded bool

	// Transfers in.
	nextIn   uint32 // id of the next transfer frame
	inWindow uint32 // how many more the client may send

	// Transfers out.
	nextOut      uint32 // id of our next transfer frame
	outWindow    uint32 // how many more the client takes
	nextDelivery uint32
	unsettled    map[uint32]*sent
	windowShut   []*link // wait for the window
	answering    []*link // send answers to requests
}

// sent is a delivery that the client has not settled.
type sent struct {
	l       *link
	message Outgoing // nil: an answer to a request
	txn     []byte   // the transaction that settles it, if that is committed; nil: none
}

func (s *session) unsettledLocked(id uint32, d *sent) {
	s.unsettled[id] = d
	d.l.open++
}

func (c *conn) begin(channel uint16, p *wire.Begin) error {
	if channel > channelMax {
		return framef("channel %d: at most %d", channel, channelMax)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[channel]; s != nil && !(s.endSent && s.peerEnded) {
		return framef("channel %d has a session already", channel)
	}
	c.begun++
	c.sessions[channel] = &session{
		c: c, channel: channel, number: c.begun,
		links:    map[uint32]*link{},
		owed:     map[uint32]int{},
		nextIn:   p.NextOutgoingID,
		inWindow: incomingWindow, outWindow: p.IncomingWindow,
		unsettled: map[uint32]*sent{},
	}
	c.out = wire.AppendFrame(c.out, wire.FrameAMQP, channel, &wire.Begin{
		RemoteChannel:  wire.Some(channel),
		IncomingWindow: incomingWindow,
		OutgoingWindow: outgoingWindow,
		HandleMax:      wire.Some[uint32](handleMax),
	})
	return nil
}

// end stops the session: at the client's wish, or with an error. Our end is sent when the links
// are gone.
func (s *session) end(err *wire.Error) {
	s.c.mu.Lock()
	if s.ending {
		s.c.mu.Unlock()
		return
	}
	s.ending, s.endErr = true, err
	links := make([]*link, 0, len(s.links))
	for _, l := range s.links {
		links = append(links, l)
	}
	s.endedLocked()
	s.c.mu.Unlock()
	for _, l := range links {
		l.stop(nil, false)
	}
}

// endedLocked sends our end if all links are gone.
func (s *session) endedLocked() {
	if !s.ending || s.endSent || s.live > 0 || s.c.closing {
		return
	}
	// It stays on its channel, where clients may go on about it (the one for Python
	// detaches its links after the end), until the next begin there.
	s.endSent = true
	s.links, s.unsettled, s.windowShut, s.answering = nil, nil, nil, nil
	s.c.out = wire.AppendFrame(s.c.out, wire.FrameAMQP, s.channel, &wire.End{Error: s.endErr})
	s.c.flushLocked()
}

// flow takes over what a flow says of the session and of one of its links.
func (s *session) flow(p *wire.Flow) *wire.Error {
	s.c.mu.Lock()
	// The client's position when it wrote this; it is unknown before the server's
	// begin arrived.
	s.outWindow = p.NextIncomingID.Or(0) + p.IncomingWindow - s.nextOut
	if int32(s.outWindow) < 0 && p.IncomingWindow < 1<<31 {
		s.outWindow = 0
	}
	if s.outWindow > 0 {
		for _, l := range s.windowShut {
			l.shut = false
			l.ready.Signal()
		}
		s.windowShut = s.windowShut[:0]
		s.pumpRepliesLocked()
	}
	if !p.Handle.Set {
		if p.Echo {
			s.flowLocked(nil, false)
		}
		s.c.mu.Unlock()
		return nil
	}
	l := s.links[p.Handle.V]
	if l == nil {
		s.c.mu.Unlock()
		return wire.Errorf(wire.CondUnattachedHandle, "flow on handle %d, which has no link", p.Handle.V)
	}
	interrupt := l.flowLocked(p)
	s.c.mu.Unlock()
	if interrupt {
		l.node.(Producer).Interrupt()
	}
	return nil
}

// flowLocked sends a flow: of the session, and of l if that is not nil.
func (s *session) flowLocked(l *link, drained bool) {
	s.inWindow = incomingWindow
	p := wire.Flow{
		NextIncomingID: wire.Some(s.nextIn),
		IncomingWindow: s.inWindow,
		NextOutgoingID: s.nextOut,
		OutgoingWindow: outgoingWindow,
	}
	if l != nil {
		p.Handle = wire.Some(l.handle)
		p.DeliveryCount = wire.Some(l.deliveryCount)
		p.LinkCredit = wire.Some(l.credit)
		p.Drain = drained
	}
	s.c.out = wire.AppendFrame(s.c.out, wire.FrameAMQP, s.channel, &p)
}
