//clock:outside a server waits for sockets; nodes enter the clock

package amqp

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// The usual ports.
const (
	DefaultPort    = 5672
	DefaultTLSPort = 5671
)

// Defaults, and fixed limits.
const (
	DefaultMaxFrameSize   = 256 << 10
	DefaultIdleTimeout    = 2 * time.Minute
	DefaultMaxMessageSize = 256 << 10

	maxFrameOut = 1 << 20 // of sent frames, even if a client takes larger ones
)

// Options of a Server. Nil options are the zero value.
type Options struct {
	// ContainerID is our name in the open; empty for "redeliver".
	ContainerID string

	// MaxFrameSize is the largest frame that is taken, in bytes; 0 for
	// DefaultMaxFrameSize.
	MaxFrameSize uint32

	// IdleTimeout is the time, in real time, within which clients are asked to send something;
	// after twice that they are disconnected. 0 for DefaultIdleTimeout, negative for none.
	IdleTimeout time.Duration

	// Logger receives the life of connections, at debug level. The zero value is silent.
	Logger zerolog.Logger
}

// Server serves AMQP connections, for instance of a listen.Server. Its
// methods may be called concurrently.
type Server struct {
	backend Backend
	opts    Options

	serving sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   uint64 // number of a connection
	conns  map[*conn]struct{}
}

// NewServer returns a server of what backend has. It serves the connections that it is
// given, and has nothing to close before the first.
func NewServer(backend Backend, opts *Options) *Server {
	s := &Server{backend: backend, conns: map[*conn]struct{}{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.ContainerID == "" {
		s.opts.ContainerID = "redeliver"
	}
	if s.opts.MaxFrameSize == 0 {
		s.opts.MaxFrameSize = DefaultMaxFrameSize
	}
	if s.opts.IdleTimeout == 0 {
		s.opts.IdleTimeout = DefaultIdleTimeout
	}
	return s
}

// ServeConn serves one connection, and returns when it has ended and is closed.
func (s *Server) ServeConn(nc net.Conn) {
	if !s.enter() {
		nc.Close()
		return
	}
	defer s.serving.Done()
	s.mu.Lock()
	s.last++
	c := &conn{server: s, nc: nc, id: strconv.FormatUint(s.last, 10), sessions: map[uint16]*session{}}
	c.wake.L, c.drained.L = &c.mu, &c.mu
	s.conns[c] = struct{}{}
	if s.closed {
		c.shutDown()
	}
	s.mu.Unlock()
	c.serve()
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// enter counts one more goroutine for which Close waits; false: it is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving.Add(1)
	return true
}

// Close ends all connections and waits until they are gone: clients are told
// amqp:connection:forced. Requests that its Handler serves are waited for.
func (s *Server) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		for c := range s.conns {
			c.shutDown()
		}
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// shutDown makes the reader end, and does not let a client that takes nothing hold
// the writer up.
func (c *conn) shutDown() {
	c.shut.Store(true)
	c.nc.SetReadDeadline(time.Unix(1, 0))
	c.nc.SetWriteDeadline(time.Now().Add(shutPatience))
}
