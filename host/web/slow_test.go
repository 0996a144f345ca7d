package web_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/web"
)

// pipe is a listener with one connection, in memory: in a bubble of synctest it has
// deadlines, and no minute passes.
type pipe struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { p.close(); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// local is the end of a pipe on this machine.
type local struct{ net.Conn }

func (local) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }

// connect starts a host with a function F in a bubble, and connects to its server.
func connect(t *testing.T, dir string, function http.HandlerFunc) net.Conn {
	t.Helper()
	handlers := functions.New()
	handlers.HTTP("F", function)
	h, err := host.New(dir, &host.Options{Clock: clock.System(), Env: []string{}, Handlers: handlers})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	server := web.New(h, nil)
	done := make(chan struct{})
	l := &pipe{conns: make(chan net.Conn), done: done, close: sync.OnceFunc(func() { close(done) })}
	server.ServeAt(l)
	near, far := net.Pipe()
	t.Cleanup(func() {
		near.Close()
		h.Close()
		server.Close()
	})
	l.conns <- local{far}
	return near
}

// A client that begins a body and does not go on is answered after two minutes, and
// holds nothing.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	const hour = "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3600\r\n\r\n"
	for _, row := range []struct {
		name, head string
		parts      int           // that come in time, one every minute
		after      time.Duration // the answer
		status     int
	}{
		{"function", "POST /api/F " + hour, 1, listen.BodyPatience, 400},
		{"function, goes on for a while", "POST /api/F " + hour, 5, 4*time.Minute + listen.BodyPatience, 400},
		{"no function", "POST /api/None " + hour, 1, listen.BodyPatience, 404},
		{"web hook", "POST /runtime/webhooks/eventgrid?functionName=F " + hour, 1, listen.BodyPatience, 400},
		{"admin", "POST /admin/functions/F " + strings.Replace(hour, "\r\n\r\n", "\r\nContent-Type: application/json\r\n\r\n", 1), 1, listen.BodyPatience, 400},
		{"control, all within two minutes", "POST " + prefix + "/queues/orders/messages " + hour, 5, listen.BodyPatience, 400},
		{"control, as long as it goes on", "PUT " + prefix + "/containers/files/blob?name=a " + hour, 5, 4*time.Minute + listen.BodyPatience, 400},
		{"state", "PUT " + prefix + "/state " + hour, 1, listen.BodyPatience, 400},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, app(plainHostJSON))
			synctest.Test(t, func(t *testing.T) {
				near := connect(t, dir, func(http.ResponseWriter, *http.Request) { t.Error("the function runs") })
				since := time.Now()
				var answered sync.WaitGroup
				answered.Go(func() {
					resp, err := http.ReadResponse(bufio.NewReader(near), nil)
					if err != nil {
						t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					if took := time.Since(since); resp.StatusCode != row.status || took != row.after {
						t.Errorf("answered %d after %v, want %d after %v", resp.StatusCode, took, row.status, row.after)
					}
					near.Close()
				})
				fmt.Fprint(near, row.head)
				for i := range row.parts {
					if i > 0 {
						time.Sleep(time.Minute) // in a bubble no time passes
					}
					fmt.Fprint(near, "x")
				}
				answered.Wait()
			})
		})
	}
}

// A caller that does not take a function's answer is cut off after two minutes for a
// part of it, and holds no connection.
func TestSlowCaller(t *testing.T) {
	t.Parallel()
	const part = 256 << 10
	for _, row := range []struct {
		name  string
		pause time.Duration // before each part
		cut   bool
	}{
		{"takes part after part", listen.SendPatience - time.Second, false},
		{"stops", listen.SendPatience + time.Second, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, app(plainHostJSON))
			synctest.Test(t, func(t *testing.T) {
				near := connect(t, dir, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 4*part)) })
				fmt.Fprint(near, "GET /api/F HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
				resp, err := http.ReadResponse(bufio.NewReaderSize(near, 16), nil)
				if err != nil || resp.StatusCode != 200 {
					t.Fatalf("%v, %v", resp, err)
				}
				var n int64
				for err == nil {
					time.Sleep(row.pause) // in a bubble no time passes
					var more int64
					more, err = io.CopyN(io.Discard, resp.Body, part)
					n += more
				}
				if cut := err != io.EOF || n < 4*part; cut != row.cut {
					t.Errorf("%d bytes and %v with pauses of %v: cut %v, want %v", n, err, row.pause, cut, row.cut)
				}
			})
		})
	}
}
