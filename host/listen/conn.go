package listen

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// SendPatience is how long, in real time, a client may take for each part of an answer.
// A part is at most sendPart bytes; who takes it has as long for the next one.
const (
	SendPatience = 2 * time.Minute
	sendPart     = 256 << 10
)

// over is a connection over another one.
type over struct{ net.Conn }

// NetConn returns the connection below.
func (c over) NetConn() net.Conn { return c.Conn }

// CloseWrite closes the sending half, where there is such a thing.
func (c over) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// patient is a connection for answers: a client that takes none of a part for
// SendPatience is cut off, and holds nothing. It is written by one goroutine at a time.
type patient struct {
	over
	by time.Time // the deadline that was set last
}

func (c *patient) Write(p []byte) (written int, err error) {
	for {
		// A deadline that is somewhat early costs nothing to leave as it is.
		if by := time.Now().Add(SendPatience); by.Sub(c.by) > time.Second {
			c.by = by
			if err := c.SetWriteDeadline(by); err != nil {
				return written, err
			}
		}
		n, err := c.Conn.Write(p[:min(len(p), sendPart)])
		written += n
		if p = p[n:]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// connKey finds the connection that a request came by.
type connKey struct{}

func (s *Server) withConn(ctx context.Context, c net.Conn) context.Context {
	if s.Context != nil {
		ctx = s.Context(ctx)
	}
	return context.WithValue(ctx, connKey{}, c)
}

// Conn returns the connection that a Server was sent a request by, as its Wrap made it;
// nil elsewhere.
func Conn(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// withTLS tells handlers of the TLS that net/http cannot see below the connections that
// it is given.
func withTLS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := secured(Conn(r)); c != nil {
			state := c.ConnectionState()
			r = r.WithContext(r.Context()) // a copy
			r.TLS = &state
		}
		next.ServeHTTP(w, r)
	})
}

// secured is the TLS connection of c or below it; nil if there is none.
func secured(c net.Conn) *tls.Conn {
	for {
		if t, ok := c.(*tls.Conn); ok {
			return t
		}
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = outer.NetConn()
	}
}
