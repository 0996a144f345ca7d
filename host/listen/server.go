package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	headerPatience = 30 * time.Second // for the headers of a request
	usualIdle      = 10 * time.Minute // SDKs pool connections
	closeGrace     = 5 * time.Second  // for requests that are being served
)

// Server serves HTTP, and what else its fields say, at the ports that Listen opens. The
// fields are not changed once it does; the methods may be called concurrently. It may
// not be copied.
type Server struct {
	// Handler serves requests; nil answers them 404. No Guard is asked before: see
	// Guard.Protect.
	Handler http.Handler

	// Other serves connections that speak neither HTTP nor, where TLS is given, TLS. Nil
	// takes them for HTTP.
	Other Protocol

	// TLS, if not nil, lets clients speak TLS at every port.
	TLS *tls.Config

	// Idle is how long a connection may wait for its next request; 0 for 10 minutes.
	Idle time.Duration

	// Wrap, if not nil, is given each connection that speaks HTTP, deciphered, and returns
	// what is used in its place. Handlers find it by Conn.
	Wrap func(net.Conn) net.Conn

	// Context, if not nil, makes the context of each connection that speaks HTTP. All its
	// requests have theirs below that, and are served by one goroutine.
	Context func(context.Context) context.Context

	// Component is the server's name in lines of the Logger, which receives what goes
	// wrong below HTTP.
	Component string
	Logger    zerolog.Logger

	serving sync.WaitGroup

	mu     sync.Mutex
	closed bool
	http   *http.Server // nil before the first listener
	config *tls.Config  // nil without TLS
	sorter
}

// Protocol is another protocol than HTTP.
type Protocol interface {
	// ServeConn serves a connection, and returns when it is closed.
	ServeConn(nc net.Conn)

	// Close ends all connections that are served; others are closed as they come.
	Close()
}

// Listen listens on a port, serves in the background what comes there, and returns its
// address. The error is a *PortError.
func (s *Server) Listen(p Port) (net.Addr, error) {
	l, err := p.Open()
	if err != nil {
		return nil, err
	}
	s.Serve(l, p.TLS)
	return l.Addr(), nil
}

// Serve serves the connections of a listener in the background; secure is the
// configuration of Port.TLS.
func (s *Server) Serve(l net.Listener, secure bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.Close()
		return
	}
	s.startLocked()
	switch {
	case s.Other != nil, s.TLS != nil && !secure:
		s.sortLocked(l, secure)
		return
	case secure:
		l = tls.NewListener(l, s.config)
	}
	s.serveHTTP(l)
}

// startLocked makes the HTTP server.
func (s *Server) startLocked() {
	if s.http != nil {
		return
	}
	handler := s.Handler
	if handler == nil {
		handler = http.NotFoundHandler()
	}
	if s.config = s.TLS; s.TLS != nil {
		handler = withTLS(handler)
		if s.Other == nil { // later versions lose the case of names
			s.config = s.TLS.Clone()
			s.config.NextProtos = []string{"http/1.1"}
		}
	}
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerPatience,
		IdleTimeout:       cmp.Or(s.Idle, usualIdle),
		ErrorLog:          log.New(logWriter{s}, "", 0),
		ConnContext:       s.withConn,
		ConnState: func(c net.Conn, state http.ConnState) {
			if noting, ok := c.(*spellingConn); ok && state == http.StateIdle {
				noting.next()
			}
		},
	}
}

// serveHTTP serves connections that speak HTTP.
func (s *Server) serveHTTP(l net.Listener) {
	s.serving.Go(func() {
		if err := s.http.Serve(answering{l, s.Wrap}); !errors.Is(err, http.ErrServerClosed) {
			s.Logger.Error().Err(err).Str("component", s.Component).Msg("the HTTP server ended")
		}
	})
}

// answering is a listener whose connections are patient and wrapped.
type answering struct {
	net.Listener
	wrap func(net.Conn) net.Conn
}

func (l answering) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	nc = &patient{over: over{nc}}
	if l.wrap != nil {
		nc = l.wrap(nc)
	}
	return nc, nil
}

// Close stops listening, ends the connections of the other protocol and waits for
// requests that are being served, at most 5 s; then it cuts them.
func (s *Server) Close() error {
	s.mu.Lock()
	serving := s.http != nil && !s.closed
	s.closed = true
	s.closeLocked()
	s.mu.Unlock()
	if s.Other != nil {
		s.serving.Go(s.Other.Close) // it may wait for requests
	}
	var err error
	if serving {
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		if err = s.http.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			err = s.http.Close()
		}
		cancel()
	}
	s.serving.Wait()
	return err
}

// logWriter turns lines of net/http into log lines.
type logWriter struct{ s *Server }

func (w logWriter) Write(p []byte) (int, error) {
	w.s.Logger.Debug().Str("component", w.s.Component).Msg(strings.TrimSpace(string(p)))
	return len(p), nil
}
