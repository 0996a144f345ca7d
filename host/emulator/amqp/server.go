//clock:outside a server waits for sockets; nodes enter the clock

package amqp

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host/listen"
)

// Defaults, and what is not negotiable.
const (
	DefaultMaxFrameSize   = 256 << 10
	DefaultIdleTimeout    = 2 * time.Minute
	DefaultMaxMessageSize = 256 << 10

	closeGrace  = 5 * time.Second // for HTTP requests being served
	maxFrameOut = 1 << 20         // of frames we send, whatever a client would take
)

// Options of a Server. Nil options are the zero value.
type Options struct {
	// Address is the IP address to listen on; empty for 127.0.0.1.
	Address string

	// Port is the port of Start: 0 for any free one (the usual one is DefaultPort),
	// negative for none.
	Port int

	// TLS, if not nil, opens a second port to clients that know nothing but TLS, and lets
	// them use the first one too. TLSPort is like Port (the usual one is DefaultTLSPort).
	TLS     *tls.Config
	TLSPort int

	// HTTP serves HTTP requests that come to the ports: administration. Nil answers
	// them 404. AMQP over WebSockets is served in any case.
	HTTP http.Handler

	// Guard says which HTTP requests and WebSockets are taken from browsers; nil is the
	// zero Guard. Who connects to speak AMQP itself is no browser.
	Guard *listen.Guard

	// ContainerID is our name in the open; empty for "redeliver".
	ContainerID string

	// MaxFrameSize is the largest frame that is taken, in bytes; 0 for
	// DefaultMaxFrameSize.
	MaxFrameSize uint32

	// IdleTimeout is what clients are asked to send something within, in real time; after twice that they
	// are disconnected. 0 for DefaultIdleTimeout, negative for none.
	IdleTimeout time.Duration

	// Logger receives the life of connections, at debug level. The zero value is silent.
	Logger zerolog.Logger
}

// Server serves AMQP connections. Its methods may be called concurrently, except
// Start, which comes first if it does.
type Server struct {
	backend Backend
	opts    Options
	listening

	serving sync.WaitGroup

	mu     sync.Mutex
	closed bool
	last   uint64 // number of a connection
	conns  map[*conn]struct{}
	early  map[net.Conn]struct{} // not known yet what they speak
}

// NewServer returns a server of what backend has. It serves the connections that
// come once it is started, and those that it is given; it has nothing to close before
// the first.
func NewServer(backend Backend, opts *Options) *Server {
	s := &Server{backend: backend, conns: map[*conn]struct{}{}, early: map[net.Conn]struct{}{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Address == "" {
		s.opts.Address = "127.0.0.1"
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

// watch has Close close nc, as long as nobody else does.
func (s *Server) watch(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.early[nc] = struct{}{}
	return !s.closed
}

// sniffBy sets the deadline of a connection that is watched; false: the server is
// closed, and has set its own.
func (s *Server) sniffBy(nc net.Conn, by time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		nc.SetReadDeadline(by)
	}
	return !s.closed
}

func (s *Server) unwatch(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.early, nc)
}

// Close stops listening, ends all connections and waits until they are gone:
// clients are told amqp:connection:forced. HTTP requests that are being served are
// waited for.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.serving.Wait()
		return
	}
	s.closed = true
	for c := range s.conns {
		c.shutDown()
	}
	for nc := range s.early {
		nc.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	for _, l := range []net.Listener{s.plain, s.secure} {
		if l != nil {
			l.Close()
		}
	}
	if s.http != nil {
		close(s.requests.closed)
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		if s.http.Shutdown(ctx) != nil {
			s.http.Close()
		}
		cancel()
	}
	s.serving.Wait()
}

// shutDown makes the reader end, and does not let a client that takes nothing hold
// the writer up.
func (c *conn) shutDown() {
	c.shut.Store(true)
	c.nc.SetReadDeadline(time.Unix(1, 0))
	c.nc.SetWriteDeadline(time.Now().Add(shutPatience))
}
