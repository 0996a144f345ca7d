package listen

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	sniffPatience = 30 * time.Second // for the first byte, and for a TLS handshake
	acceptPause   = 50 * time.Millisecond
)

// sorter is the half of a Server that tells by the first byte what a connection speaks:
// AMQP clients come to their port for administration too, and some with TLS. Its fields
// are guarded by Server.mu.
type sorter struct {
	listeners []net.Listener
	early     map[net.Conn]struct{} // not known yet what they speak
	requests  *handed               // connections that turned out to speak HTTP
}

// sortLocked serves the connections of a listener, of any protocol.
func (s *Server) sortLocked(l net.Listener, secure bool) {
	if s.requests == nil {
		s.early = map[net.Conn]struct{}{}
		s.requests = &handed{ready: make(chan net.Conn), done: make(chan struct{})}
		s.serveHTTP(s.requests)
	}
	s.listeners = append(s.listeners, l)
	s.serving.Go(func() { s.accept(l, secure) })
}

// closeLocked ends the waiting for connections and for what they speak.
func (s *Server) closeLocked() {
	for _, l := range s.listeners {
		l.Close()
	}
	s.listeners = nil
	for nc := range s.early {
		nc.SetReadDeadline(time.Unix(1, 0))
	}
}

// accept serves what connects, until the listener is closed.
func (s *Server) accept(l net.Listener, secure bool) {
	for {
		nc, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // out of file descriptors, say
			s.Logger.Error().Err(err).Str("component", s.Component).Msg("accepting a connection failed")
			time.Sleep(acceptPause)
			continue
		}
		s.serving.Go(func() { // Close waits for this goroutine, and so for the new one
			if secure {
				nc = tls.Server(nc, s.config)
			}
			s.sort(nc, secure)
		})
	}
}

// sort gives a connection to the server of its protocol.
func (s *Server) sort(nc net.Conn, secure bool) {
	first, ok := s.sniff(nc)
	if !ok {
		nc.Close()
		return
	}
	nc = &sniffed{over{nc}, []byte{first}}
	const handshake = 0x16 // the first byte of TLS
	switch {
	case first == handshake && s.TLS != nil && !secure:
		s.sort(tls.Server(nc, s.config), true)
	case s.Other == nil || first >= 'B' && first <= 'Z': // no method of HTTP that we serve begins with an A
		s.requests.hand(nc)
	default: // "AMQP", or something that is told what is spoken here
		s.Other.ServeConn(nc)
	}
}

// sniff reads the first byte; false: none came, or the server is closed.
func (s *Server) sniff(nc net.Conn) (first byte, ok bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return 0, false
	}
	nc.SetReadDeadline(time.Now().Add(sniffPatience))
	s.early[nc] = struct{}{}
	s.mu.Unlock()
	var b [1]byte
	_, err := nc.Read(b[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.early, nc)
	if err != nil || s.closed {
		return 0, false
	}
	nc.SetReadDeadline(time.Time{})
	return b[0], true
}

// sniffed is a connection whose first byte has been read.
type sniffed struct {
	over
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

// handed is a listener that is handed its connections.
type handed struct {
	ready chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// hand gives nc to the accepting server.
func (h *handed) hand(nc net.Conn) {
	select {
	case h.ready <- nc:
	case <-h.done:
		nc.Close()
	}
}

func (h *handed) Accept() (net.Conn, error) {
	select {
	case nc := <-h.ready:
		return nc, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handed) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (h *handed) Addr() net.Addr { return &net.TCPAddr{} }
