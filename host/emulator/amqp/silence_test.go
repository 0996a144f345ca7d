package amqp_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/listen"
)

// one is a listener with one connection.
type one struct {
	conn net.Conn
	done chan struct{}
}

func (l *one) Accept() (nc net.Conn, err error) {
	if nc, l.conn = l.conn, nil; nc == nil {
		<-l.done
		err = net.ErrClosed
	}
	return nc, err
}

func (l *one) Close() error   { close(l.done); return nil }
func (l *one) Addr() net.Addr { return &net.TCPAddr{} }

// A client that connects and falls silent is let go: soon before the open, with any
// bytes in its place, and after it by the idle time-out. In a bubble no time
// passes.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	heartbeat := "\x00\x00\x00\x08\x02\x00\x00\x00"
	open := string(wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Open{ContainerID: "c"}))
	const handshake = 30 * time.Second
	for _, row := range []struct {
		name  string
		sent  []string // the first at once, each other 20 s later
		after time.Duration
	}{
		{"nothing", nil, handshake},
		{"a part of the header", []string{wire.ProtocolAMQP[:4]}, handshake},
		{"a header", []string{wire.ProtocolAMQP}, handshake},
		{"a header, and heartbeats", []string{wire.ProtocolAMQP, heartbeat, heartbeat, heartbeat}, handshake},
		{"a header, and a part of an open", []string{wire.ProtocolAMQP, open[:9]}, handshake},
		{"an open", []string{wire.ProtocolAMQP + open}, 2 * amqp.DefaultIdleTimeout},

		{"a part of a request", []string{"PUT /orders HTTP/1.1\r\nHost: local"}, handshake},
		{"a request and no more", []string{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"}, 10 * time.Minute},
		{"a part of a body", []string{"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", "x"}, 20*time.Second + listen.BodyPatience},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &listen.Server{Other: amqp.NewServer(newMemory(), nil), Handler: listen.Bodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						w.WriteHeader(http.StatusBadRequest)
					}
				}))}
				near, far := net.Pipe()
				defer near.Close()
				l := &one{conn: far, done: make(chan struct{})}
				server.Serve(l, false)
				defer server.Close()
				begun := time.Now()
				var writing sync.WaitGroup
				defer writing.Wait()
				writing.Go(func() {
					for i, text := range row.sent {
						if i > 0 {
							time.Sleep(20 * time.Second) // of the bubble: the test is about time
						}
						if _, err := io.WriteString(near, text); err != nil {
							return
						}
					}
				})
				_, err := io.Copy(io.Discard, near)
				took := time.Since(begun)
				// The last words may take a second.
				if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) || took < row.after || took > row.after+2*time.Second {
					t.Errorf("let go after %v (%v), want %v", took, err, row.after)
				}
			})
		})
	}
}
