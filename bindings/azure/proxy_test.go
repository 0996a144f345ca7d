package azure_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy is the way to a server, which a test can break and mend. Connections that
// come while it hangs are taken and hear nothing.
type proxy struct {
	to string
	in net.Listener

	mu    sync.Mutex
	hangs bool // new connections and open ones
	open  []net.Conn
	work  sync.WaitGroup
}

func openProxy(t testing.TB, to string) *proxy {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: to, in: in}
	p.work.Go(p.serve)
	t.Cleanup(func() {
		_ = in.Close()
		p.cut()
		p.work.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.in.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.in.Accept()
		if err != nil {
			return
		}
		if !p.keep(client) {
			continue // and says nothing
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.keep(server)
		p.work.Go(func() { p.pass(client, server) })
		p.work.Go(func() { p.pass(server, client) })
	}
}

func (p *proxy) pass(to, from net.Conn) {
	_, _ = io.Copy(swallow{p, to}, from)
	_ = to.Close()
	_ = from.Close()
}

// swallow is one side of a connection, which hears nothing while the proxy hangs.
type swallow struct {
	p *proxy
	net.Conn
}

func (s swallow) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	hangs := s.p.hangs
	s.p.mu.Unlock()
	if hangs {
		return len(b), nil
	}
	return s.Conn.Write(b)
}

// keep remembers a connection, and reports whether it is served.
func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, c)
	return !p.hangs
}

// cut ends every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// hang makes all connections, also new ones, stay open and hear nothing.
func (p *proxy) hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangs = true
}
