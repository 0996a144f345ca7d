//clock:outside a connection lives in real time; nodes enter the clock

package amqp

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// link is one link. Fields are guarded by conn.mu unless a comment says otherwise.
type link struct {
	s       *session // as are the next four, fixed
	handle  uint32
	role    wire.Role // of the client
	attach  *wire.Attach
	request *AttachRequest

	node     Node // set when attached
	attached bool

	stopping     bool        // it is to end
	err          *wire.Error // with this
	vanished     bool        // without a word
	finishing    bool        // under way
	finished     bool        // it has, except for the client's detach
	peerDetached bool

	credit        uint32 // granted to the sender
	deliveryCount uint32 // of the sender

	// Of a client that sends; of one that receives answers, how large they become.
	maxSize uint64

	// Of a client that sends.
	partial *partial // of the reader

	// Of a client that receives.
	ready   sync.Cond // the goroutine that pulls
	drain   bool
	pulling bool
	asked   uint32 // credit of the pull
	settled bool   // deliveries are sent settled
	open    int    // deliveries of it that are unsettled
	shut    bool   // waits for the window
	blocked bool   // waits for the writer
	replies [][]byte
	begun   reply // the answer that is being sent
}

// attach begins a link. An error ends the session, the second one the
// connection.
func (s *session) attach(p *wire.Attach) (*wire.Error, error) {
	if p.Handle > handleMax {
		return nil, framef("handle %d: at most %d", p.Handle, handleMax)
	}
	c := s.c
	l := &link{s: s, handle: p.Handle, role: p.Role, attach: p}
	l.ready.L = &c.mu
	l.request = &AttachRequest{
		Connection:  c.id,
		Client:      c.client,
		Session:     s.number,
		Coordinator: p.Coordinator,
		Name:        p.Name,
		Role:        p.Role,
		SendMode:    p.SendMode.Or(wire.SendMixed),
		ReceiveMode: p.ReceiveMode.Or(wire.ReceiveFirst),
		Properties:  p.Properties,
		Desired:     p.Desired,
	}
	l.request.Detach = func(err *wire.Error) { l.stop(err, false) }
	if p.Source != nil {
		l.request.Filter = p.Source.Filter
	}
	switch {
	case p.Role == wire.Receiver && p.Source != nil:
		l.request.Address = p.Source.Address.V
	case p.Role == wire.Sender && p.Target != nil:
		l.request.Address = p.Target.Address.V
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := s.links[p.Handle]; old != nil {
		if !old.finished {
			return wire.Errorf(wire.CondHandleInUse, "handle %d has a link already", p.Handle), nil
		}
		// go-amqp frees a handle when our detach arrives, and may attach the next
		// link before it has answered.
		s.owed[p.Handle]++
	}
	if p.Role == wire.Sender {
		l.deliveryCount = p.InitialDeliveryCount.Or(0)
	}
	s.links[p.Handle] = l
	s.live++
	c.links.Add(1)
	go l.run()
	return nil, nil
}

// run is the goroutine of a link: it attaches, and for a Producer goes on to
// send.
func (l *link) run() {
	defer l.s.c.links.Done()
	grant, refused := l.ask()
	if refused != nil {
		l.refuse(refused)
		return
	}
	producer, produces := grant.Node.(Producer)
	if produces {
		l.s.c.links.Add(1)
		go func() {
			defer l.s.c.links.Done()
			if err := producer.Watch(); err != nil {
				l.stop(asError(err), false)
			}
		}()
	}
	l.accept(grant)
	if produces {
		l.produce(producer)
		return
	}
	l.s.c.mu.Lock()
	finish := l.stopping && !l.finishing
	l.finishing = l.finishing || finish
	l.s.c.mu.Unlock()
	if finish { // it was stopped while it attached
		l.finish()
	}
}

// ask asks the backend for a node.
func (l *link) ask() (*Grant, *wire.Error) {
	p := l.attach
	switch {
	case p.Coordinator && l.role == wire.Receiver:
		return nil, wire.Errorf(wire.CondNotAllowed, "nothing can be received from a transaction coordinator")
	case l.request.Address == "" && !p.Coordinator:
		return nil, wire.Errorf(wire.CondInvalidField, "link %q has no address", p.Name)
	}
	grant, err := l.s.c.server.backend.Attach(l.request)
	l.request.OnGone(nil)
	if err != nil {
		return nil, asError(err)
	}
	if _, ok := grant.Node.(Coordinator); ok != p.Coordinator {
		grant.Node.Close(false)
		return nil, wire.Errorf(wire.CondNotImplemented, "transactions are not offered")
	}
	switch grant.Node.(type) {
	case Responder, Coordinator:
	case Consumer:
		if l.role == wire.Receiver {
			grant.Node.Close(false)
			return nil, wire.Errorf(wire.CondNotAllowed, "nothing can be received from %q", l.request.Address)
		}
	case Producer:
		if l.role == wire.Sender {
			grant.Node.Close(false)
			return nil, wire.Errorf(wire.CondNotAllowed, "nothing can be sent to %q", l.request.Address)
		}
	}
	return grant, nil
}

func asError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	return wire.Errorf(wire.CondInternalError, "%v", err)
}

// answerLocked is our attach.
func (l *link) answerLocked() *wire.Attach {
	p := l.attach
	a := &wire.Attach{Name: p.Name, Handle: l.handle, Role: !p.Role, SendMode: p.SendMode, ReceiveMode: p.ReceiveMode}
	if a.Role == wire.Sender {
		a.InitialDeliveryCount = wire.Some[uint32](0)
	}
	return a
}

// refuse answers with an attach that has no terminus, and a detach that says why.
func (l *link) refuse(err *wire.Error) {
	c := l.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if !l.stopping {
		l.err = err
	}
	l.stopping, l.finishing = true, true
	if !l.silentLocked() {
		c.out = wire.AppendFrame(c.out, wire.FrameAMQP, l.s.channel, l.answerLocked())
	}
	l.finishLocked()
}

// accept answers the attach and grants credit to a client that sends.
func (l *link) accept(grant *Grant) {
	c := l.s.c
	p := l.attach
	c.mu.Lock()
	defer c.mu.Unlock()
	l.node = grant.Node
	l.attached = true
	answer := l.answerLocked()
	answer.Properties = grant.Properties
	if p.Source != nil {
		source := *p.Source
		answer.Source = &source
		if grant.Filter != nil {
			source.Filter = grant.Filter
		}
	} else {
		answer.Source = &wire.Source{}
	}
	switch answer.Target = p.Target; {
	case p.Coordinator:
		answer.Coordinator, answer.Capabilities = true, wire.NewArray(coordinatorCapabilities)
	case answer.Target == nil:
		answer.Target = &wire.Target{}
	}
	l.maxSize = grant.MaxMessageSize
	if l.maxSize == 0 {
		l.maxSize = DefaultMaxMessageSize
	}
	if l.role == wire.Sender {
		// The field is the largest message that its sender takes: said to a client that
		// receives, it would make Microsoft.Azure.Amqp refuse the larger ones (AMQP 1.0, 2.7.3).
		answer.MaxMessageSize = wire.Some(l.maxSize)
	}
	if !l.silentLocked() {
		c.out = wire.AppendFrame(c.out, wire.FrameAMQP, l.s.channel, answer)
	}
	if l.role == wire.Sender {
		if !l.stopping {
			l.grantLocked()
		}
	} else {
		l.settled = l.request.SendMode == wire.SendSettled
		if _, produces := l.node.(Producer); !produces {
			if _, answers := l.node.(Responder); answers {
				l.s.answering = append(l.s.answering, l)
			}
			l.answerPullLocked()
		}
	}
	c.flushLocked()
}

// silentLocked says that frames about the link are no longer wanted.
func (l *link) silentLocked() bool { return l.s.c.closing || l.s.ending || l.vanished }

// detach takes the client's detach.
func (s *session) detach(p *wire.Detach) *wire.Error {
	c := s.c
	c.mu.Lock()
	if s.owed[p.Handle] > 0 {
		s.owed[p.Handle]--
		c.mu.Unlock()
		return nil
	}
	l := s.links[p.Handle]
	if l == nil {
		c.mu.Unlock()
		return wire.Errorf(wire.CondUnattachedHandle, "detach of handle %d, which has no link", p.Handle)
	}
	l.peerDetached = true
	// What the client still says of the link's deliveries comes too late: it takes the
	// link for gone, and settles by token if it settles.
	l.dropUnsettledLocked()
	if l.finished {
		delete(s.links, p.Handle)
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	l.stop(nil, false)
	return nil
}

// dropUnsettledLocked forgets the deliveries of the link.
func (l *link) dropUnsettledLocked() {
	if l.open == 0 {
		return // and looks at no other link's
	}
	l.open = 0
	maps.DeleteFunc(l.s.unsettled, func(_ uint32, d *sent) bool { return d.l == l })
}

// stop ends the link: err is why, nil if that is the client's wish; vanished, if
// it did not say so. The runner of the link finishes it; without one, stop has.
// The first call counts.
func (l *link) stop(err *wire.Error, vanished bool) {
	c := l.s.c
	c.mu.Lock()
	if l.stopping {
		c.mu.Unlock()
		return
	}
	l.stopping, l.err, l.vanished = true, err, vanished
	producer, produces := l.node.(Producer)
	interrupt := l.pulling
	finish := l.attached && !produces
	l.finishing = finish
	attached := l.attached
	l.ready.Signal()
	c.mu.Unlock()
	switch {
	case !attached:
		l.request.goAway()
	case interrupt:
		producer.Interrupt()
	case finish:
		l.finish()
	}
}

// finish closes the node and says that the link is gone.
func (l *link) finish() {
	l.node.Close(l.vanished)
	c := l.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	l.finishLocked()
}

func (l *link) finishLocked() {
	c, s := l.s.c, l.s
	l.dropUnsettledLocked()
	l.finished = true
	l.replies, l.begun = nil, reply{}
	s.answering = slices.DeleteFunc(s.answering, func(o *link) bool { return o == l })
	if !l.silentLocked() {
		c.out = wire.AppendFrame(c.out, wire.FrameAMQP, s.channel, &wire.Detach{Handle: l.handle, Closed: true, Error: l.err})
	}
	if l.peerDetached {
		delete(s.links, l.handle)
	}
	s.live--
	s.endedLocked()
	c.flushLocked()
}
