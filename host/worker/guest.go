package worker

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/process"
)

// connect is the connection of a host with the worker at the seat, once that has come. The
// error is a *process.StartError.
func (s *Seat) connect(ctx context.Context, spec *Spec, number int) (*conn, error) {
	failed := func(reason string, err error) error {
		return &process.StartError{Name: spec.Name, Path: s.name, Reason: reason, Err: err}
	}
	limit := time.NewTimer(spec.StartTimeout) //clock:outside another program dials
	defer limit.Stop()
	select { //clock:outside another program dials
	case <-s.here: //clock:outside another program dials
	case <-s.gone: //clock:outside another program dials
	case <-ctx.Done(): //clock:outside another program dials
		return nil, failed("the host is closed", ctx.Err())
	case <-limit.C: //clock:outside another program dials
		return nil, failed(fmt.Sprintf("nobody has connected to %v within %v", s.port.Addr(), spec.StartTimeout), errNobody)
	}
	c := &conn{
		spec: spec, request: rand.Text(), seat: s, out: &s.out,
		answers: map[string]*process.Inbox[*message]{}, calls: map[string]*conversation{},
	}
	c.end = (*guestEnd)(c)
	c.child = process.NewGuest(spec.Spec, number, func() { s.leave(c) })
	known, err := s.admit(c)
	if err != nil {
		return nil, failed(err.Error(), err)
	}
	if spec.Life != nil {
		c.unlife = context.AfterFunc(spec.Life, c.child.Kill) //clock:outside ends a process
	}
	if known != nil {
		err = c.recall(known)
	} else {
		err = c.init()
	}
	if err != nil {
		return nil, c.child.Failed(nil, err.Error(), "")
	}
	s.mu.Lock()
	s.last = c
	s.mu.Unlock()
	return c, nil
}

// admit adds a host to those that use the worker. It returns one that has used it before.
func (s *Seat) admit(c *conn) (known *conn, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return nil, errLeft
	case s.closing:
		return nil, errNoSeat
	}
	s.conns, s.env = append(s.conns, c), c.spec.Env
	return s.last, nil
}

// leave takes a host from those that use the worker.
func (s *Seat) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, c); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}

// recall has a host know of the worker what one before it has learned.
func (c *conn) recall(before *conn) (err error) {
	before.mu.Lock()
	c.can, c.declared, c.loaded = before.can, before.declared, maps.Clone(before.loaded)
	if before.indexed != nil && before.indexed.err == nil {
		c.indexed = before.indexed
	}
	before.mu.Unlock()
	c.server, err = serverOf(c.can, c.spec.IdleLimit)
	return err
}

// guestEnd is the end of a connection that stays when the host goes.
type guestEnd conn

func (e *guestEnd) addr() *net.TCPAddr { return e.seat.port.Addr() }

func (e *guestEnd) accepted() <-chan stream { return nil } //clock:outside it is there already

func (e *guestEnd) close() {
	if e.unlife != nil {
		e.unlife()
	}
	e.seat.leave((*conn)(e))
}
