//clock:outside a connection lives in real time; nodes enter the clock

package amqp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

const (
	readBuffer    = 32 << 10        // bytes, to begin with
	highWater     = 1 << 20         // bytes waiting to be written at which links pause
	floodMark     = 8 << 20         // bytes waiting to be written at which reading stops
	writePatience = 2 * time.Minute // for a client to take what is written
	closePatience = 5 * time.Second // likewise, at the end of a connection
	shutPatience  = time.Second     // and when the server closes
	lingering     = time.Second     // for a client to read our close
	shutLingering = lingering / 5   // when the server closes
)

// conn is one connection.
type conn struct {
	server *Server
	nc     net.Conn
	id     string

	// Of the reader alone.
	in      []byte // read, and not handled
	space   []byte // the buffer in which in lies
	pending []batch
	waiting int  // deliveries and settlements in pending
	greeted bool // headers are exchanged
	opened  bool
	client  string // see AttachRequest.Client
	readBy  time.Time

	shut atomic.Bool // the server closes

	links sync.WaitGroup // goroutines of links

	mu       sync.Mutex
	sessions map[uint16]*session
	begun    int    // sessions so far
	maxFrame uint32 // of frames we send
	closing  bool   // links that end no longer say so
	writer
}

// serve runs the connection until it ends.
func (c *conn) serve() {
	var writing sync.WaitGroup
	writing.Go(c.write)
	err := c.handshake()
	if err == nil {
		err = c.read()
	}
	var closeErr *wire.Error
	vanished := !errors.Is(err, errPeerClosed)
	errors.As(err, &closeErr)
	c.endLinks(vanished)
	if closeErr != nil && c.greeted && !c.opened { // a close needs an open before it
		c.open(&wire.Open{})
	}
	c.finishWriting(c.opened, closeErr)
	writing.Wait()
	c.giveBack()
	c.linger()
	c.nc.Close()
	if b, ok := c.server.backend.(Connections); ok {
		b.Ended(c.id)
	}
	event := c.server.opts.Logger.Debug().Str("component", "amqp").Str("connection", c.id)
	if vanished {
		event = event.Err(err)
	}
	event.Msg("AMQP connection ended")
}

// errPeerClosed ends a connection that the client closes as it should.
var errPeerClosed = errors.New("closed by the client")

// read handles frames until the connection ends, and returns why.
func (c *conn) read() error {
	for {
		for {
			n, err := wire.FrameSize(c.in, c.server.opts.MaxFrameSize)
			if err != nil {
				return c.after(framef("%v", err))
			}
			if n == 0 || n > len(c.in) {
				break
			}
			frame, err := wire.ParseFrame(c.in[:n])
			if err != nil {
				return c.after(framef("%v", err))
			}
			c.in = c.in[n:]
			if err := c.handle(frame); err != nil {
				return c.after(err)
			}
		}
		c.work()
		c.pause()
		if err := c.fill(); err != nil {
			return err
		}
	}
}

// after finishes what was handled before err.
func (c *conn) after(err error) error {
	c.work()
	return err
}

// framef is an error that ends the connection.
func framef(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CondFramingError, format, args...)
}

// fill reads more bytes behind the unhandled ones.
func (c *conn) fill() error {
	c.makeRoom()
	if idle := c.server.opts.IdleTimeout; idle > 0 && c.opened {
		// A deadline that is somewhat early costs nothing to leave as it is.
		if by := time.Now().Add(2 * idle); by.Sub(c.readBy) > idle/4 {
			c.readBy = by
			c.nc.SetReadDeadline(by)
		}
	}
	if c.shut.Load() {
		return errShutDown()
	}
	n, err := c.nc.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	switch {
	case n > 0:
		return nil
	case c.shut.Load():
		return errShutDown()
	case errors.Is(err, os.ErrDeadlineExceeded) && !c.opened:
		return wire.Errorf(wire.CondResourceLimitExceeded, "no open came within %v", handshakePatience)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return wire.Errorf(wire.CondResourceLimitExceeded, "nothing came for longer than the idle time-out of %v", c.server.opts.IdleTimeout)
	case err == nil:
		return io.ErrNoProgress
	default:
		return err
	}
}

func errShutDown() *wire.Error {
	return wire.Errorf(wire.CondConnectionForced, "the server shuts down")
}

// makeRoom moves unhandled bytes to the front of the buffer when there is little
// room behind them, and makes the buffer as large as the frame that is coming in.
func (c *conn) makeRoom() {
	if len(c.in) == 0 {
		c.in = c.space[:0]
	}
	if cap(c.in)-len(c.in) >= readBuffer/4 {
		return
	}
	size := readBuffer
	if n, err := wire.FrameSize(c.in, c.server.opts.MaxFrameSize); err == nil {
		size = max(size, n)
	}
	switch {
	case len(c.space) < size:
		c.space = make([]byte, size)
	case cap(c.in) == cap(c.space):
		return // it lies at the front already
	}
	c.in = c.space[:copy(c.space, c.in)]
}

// handle works on one frame. An error ends the connection: a *wire.Error is told
// to the client.
func (c *conn) handle(f wire.Frame) error {
	if f.Type != wire.FrameAMQP {
		return framef("frame of type %d", f.Type)
	}
	if len(f.Body) == 0 {
		return nil // heartbeat
	}
	p, payload, err := wire.ParseBody(f.Body)
	if unknown, ok := errors.AsType[*wire.UnknownPerformativeError](err); ok {
		return wire.Errorf(wire.CondNotImplemented, "%v", unknown)
	}
	if err != nil {
		return wire.Errorf(wire.CondDecodeError, "%v", err)
	}
	if _, ok := p.(*wire.Transfer); !ok && len(payload) > 0 {
		return wire.Errorf(wire.CondDecodeError, "%d bytes after a performative", len(payload))
	}
	if !c.opened {
		open, ok := p.(*wire.Open)
		if !ok {
			return wire.Errorf(wire.CondIllegalState, "%T before open", p)
		}
		return c.open(open)
	}
	switch p := p.(type) {
	case *wire.Open:
		return wire.Errorf(wire.CondIllegalState, "a second open")
	case *wire.Begin:
		return c.begin(f.Channel, p)
	case *wire.Close:
		if p.Error != nil {
			c.server.opts.Logger.Debug().Str("component", "amqp").Str("connection", c.id).Err(p.Error).Msg("the client closes with an error")
		}
		return errPeerClosed
	}
	c.mu.Lock()
	s := c.sessions[f.Channel]
	ended := s != nil && (s.endSent || s.ending)
	c.mu.Unlock()
	if s == nil {
		return framef("%T on channel %d, which has no session", p, f.Channel)
	}
	if ended {
		if _, ok := p.(*wire.End); ok {
			c.mu.Lock()
			s.peerEnded = true
			c.mu.Unlock()
		}
		return nil
	}
	return c.inSession(s, f, p, payload)
}

// inSession works on a frame of a session that is open.
func (c *conn) inSession(s *session, f wire.Frame, p wire.Performative, payload []byte) error {
	var refused *wire.Error
	switch p := p.(type) {
	case *wire.Attach:
		// It outlives the buffer from which it was read.
		again, _, _ := wire.ParseBody(bytes.Clone(f.Body))
		var err error
		if refused, err = s.attach(again.(*wire.Attach)); err != nil {
			return err
		}
	case *wire.Flow:
		refused = s.flow(p)
	case *wire.Transfer:
		refused = s.transfer(p, payload)
	case *wire.Disposition:
		s.disposition(p)
	case *wire.Detach:
		c.work()
		refused = s.detach(p)
	case *wire.End:
		c.work()
		c.mu.Lock()
		s.peerEnded = true
		c.mu.Unlock()
		s.end(nil)
	}
	if refused != nil {
		c.work()
		s.end(refused)
	}
	return nil
}

// endLinks stops all links and waits until they are gone.
func (c *conn) endLinks(vanished bool) {
	var all []*link
	c.mu.Lock()
	c.closing = true
	for _, s := range c.sessions {
		for _, l := range s.links {
			all = append(all, l)
		}
	}
	c.mu.Unlock()
	for _, l := range all {
		l.stop(nil, vanished)
	}
	c.links.Wait()
}

// linger waits a moment for the client to read what was written last: closing a
// socket with unread input would take it away from under the client.
func (c *conn) linger() {
	if c.isBroken() {
		return
	}
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	patience := lingering
	if c.shut.Load() {
		patience = shutLingering
	}
	c.nc.SetReadDeadline(time.Now().Add(patience))
	for len(c.space) > 0 {
		if _, err := c.nc.Read(c.space); err != nil {
			return
		}
	}
}
