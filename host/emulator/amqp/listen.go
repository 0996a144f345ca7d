//clock:outside a server waits for sockets; nodes enter the clock

package amqp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/redeliver/redeliver/host/listen"
)

// The usual ports.
const (
	DefaultPort    = 5672
	DefaultTLSPort = 5671
)

// Where clients that speak AMQP over WebSockets find it.
const (
	webSocketPath = "/$servicebus/websocket"
)

// webSocketSubprotocols are those of clients: the service's own name, the one of the
// standard, which the examples of the client for Go use.
var webSocketSubprotocols = []string{"AMQPWSB10", "amqp"} // read only

const (
	sniffPatience  = 30 * time.Second // for the first byte, and for a TLS handshake
	headerPatience = 30 * time.Second // for the headers of an HTTP request
	idlePatience   = 10 * time.Minute // between HTTP requests; SDKs pool connections
	acceptPause    = 50 * time.Millisecond
)

// PortError says that the server cannot listen on a port.
type PortError struct {
	Address string
	Port    int
	Err     error
}

func (e *PortError) Error() string {
	if e.Busy() {
		return fmt.Sprintf("AMQP: port %d is in use", e.Port)
	}
	err := e.Err
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return fmt.Sprintf("AMQP: cannot listen on %s: %v", net.JoinHostPort(e.Address, strconv.Itoa(e.Port)), err)
}

// Busy reports whether another process has the port.
func (e *PortError) Busy() bool { return isBusy(e.Err) }

// Unwrap returns the error of package net.
func (e *PortError) Unwrap() error { return e.Err }

// listening is the half of a Server that waits for connections.
type listening struct {
	plain, secure net.Listener
	requests      *requests // connections that turned out to speak HTTP
	http          *http.Server
}

// Start listens on the ports of the options and serves in the background. It
// returns a *PortError, and listens to nothing, when one cannot be had.
func (s *Server) Start() (err error) {
	if s.opts.Port >= 0 {
		if s.plain, err = s.listen(s.opts.Port); err != nil {
			return err
		}
	}
	if s.opts.TLS != nil && s.opts.TLSPort >= 0 {
		if s.secure, err = s.listen(s.opts.TLSPort); err != nil {
			if s.plain != nil {
				s.plain.Close()
				s.plain = nil
			}
			return err
		}
	}
	s.serveRequests()
	for _, l := range []net.Listener{s.plain, s.secure} {
		if l != nil {
			s.serving.Go(func() { s.accept(l) })
		}
	}
	return nil
}

// serveRequests serves connections that turn out to speak HTTP.
func (s *Server) serveRequests() {
	s.requests = &requests{ready: make(chan net.Conn), closed: make(chan struct{})}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: headerPatience,
		IdleTimeout:       idlePatience,
		ConnContext:       withTLS,
		ErrorLog:          log.New(logWriter{s}, "", 0),
	}
	s.serving.Go(func() { s.http.Serve(s.requests) })
}

func (s *Server) listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(s.opts.Address, strconv.Itoa(port)))
	if err != nil {
		return nil, &PortError{s.opts.Address, port, err}
	}
	return l, nil
}

// Addr is the address of the plain port, e.g. "127.0.0.1:5672"; empty before
// Start and without that port.
func (s *Server) Addr() string { return addr(s.plain) }

// TLSAddr is the address of the TLS port, likewise.
func (s *Server) TLSAddr() string { return addr(s.secure) }

func addr(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// accept serves what connects, until the listener is closed.
func (s *Server) accept(l net.Listener) {
	for {
		nc, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of file descriptors, say
			s.opts.Logger.Error().Err(err).Str("component", "amqp").Msg("accepting a connection failed")
			time.Sleep(acceptPause)
			continue
		}
		if !s.enter() {
			nc.Close()
			return
		}
		go func() {
			defer s.serving.Done()
			s.sort(nc, l == s.secure)
		}()
	}
}

// sort tells by the first byte what a connection speaks, and has it served:
// clients come to the AMQP port for administration too, and some with TLS.
func (s *Server) sort(nc net.Conn, secure bool) {
	if secure {
		nc = tls.Server(nc, s.opts.TLS)
	}
	if !s.watch(nc) {
		nc.Close()
		return
	}
	defer s.unwatch(nc)
	for {
		first := make([]byte, 1)
		if !s.sniffBy(nc, time.Now().Add(sniffPatience)) {
			nc.Close()
			return
		}
		if _, err := nc.Read(first); err != nil {
			nc.Close()
			return
		}
		nc.SetReadDeadline(time.Time{})
		const handshake = 0x16 // the first byte of TLS
		nc = &sniffed{Conn: nc, first: first}
		switch b := first[0]; {
		case b == handshake && s.opts.TLS != nil && !secure:
			secure = true
			nc = tls.Server(nc, s.opts.TLS)
			continue
		case b >= 'B' && b <= 'Z':
			s.requests.hand(nc)
			return
		default: // "AMQP", or something that is told what we speak
			s.ServeConn(nc)
			return
		}
	}
}

// sniffed is a connection whose first byte has been read.
type sniffed struct {
	net.Conn
	first []byte
}

func (c *sniffed) Read(p []byte) (int, error) {
	if len(c.first) == 0 || len(p) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// secured is the key of the TLS connection that requests came by, in their contexts.
type secured struct{}

// withTLS keeps the TLS connection that net/http cannot see behind the one that it
// was handed.
func withTLS(ctx context.Context, nc net.Conn) context.Context {
	if c, ok := nc.(*sniffed); ok {
		if t, ok := c.Conn.(*tls.Conn); ok {
			return context.WithValue(ctx, secured{}, t)
		}
	}
	return ctx
}

// CloseWrite closes the sending half, where there is such a thing.
func (c *sniffed) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// serveHTTP serves AMQP over WebSockets, and leaves all else to Options.HTTP.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		panic(http.ErrAbortHandler)
	}
	defer s.serving.Done()
	if err := s.opts.Guard.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if !strings.EqualFold(strings.TrimSuffix(r.URL.Path, "/"), webSocketPath) {
		if s.opts.HTTP == nil {
			http.NotFound(w, r)
			return
		}
		if c, ok := r.Context().Value(secured{}).(*tls.Conn); ok {
			state := c.ConnectionState()
			r = r.WithContext(r.Context()) // a copy
			r.TLS = &state
		}
		listen.Bodies(s.opts.HTTP).ServeHTTP(w, r)
		return
	}
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       webSocketSubprotocols,
		InsecureSkipVerify: true, // of the origin: the guard has looked at it
	})
	if err != nil {
		return // and Accept has answered
	}
	if c.Subprotocol() == "" {
		c.Close(websocket.StatusPolicyViolation, "want one of the sub-protocols "+strings.Join(webSocketSubprotocols, ", "))
		return
	}
	// The request's context ends with the request, and so with this call.
	s.ServeConn(websocket.NetConn(r.Context(), c, websocket.MessageBinary))
}

// requests is a listener that is handed its connections.
type requests struct {
	ready  chan net.Conn
	closed chan struct{}
}

// hand gives nc to whoever accepts.
func (r *requests) hand(nc net.Conn) {
	select {
	case r.ready <- nc:
	case <-r.closed:
		nc.Close()
	}
}

func (r *requests) Accept() (net.Conn, error) {
	select {
	case nc := <-r.ready:
		return nc, nil
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

// Close does nothing: the server closes the channel when it does.
func (r *requests) Close() error { return nil }

func (r *requests) Addr() net.Addr { return &net.TCPAddr{} }

// logWriter turns lines of net/http into log lines.
type logWriter struct{ s *Server }

func (w logWriter) Write(p []byte) (int, error) {
	w.s.opts.Logger.Debug().Str("component", "amqp http").Msg(strings.TrimSpace(string(p)))
	return len(p), nil
}
