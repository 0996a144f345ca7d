package worker

import (
	"bufio"
	"net"
	"sync"
)

// http2Preface is the first byte of a connection that speaks HTTP/2; a line of JSON begins
// with another one.
const http2Preface = 'P'

// relay is a listener whose connections another one has accepted.
type relay struct {
	at    net.Addr
	conns chan net.Conn //clock:outside sockets
	done  chan struct{} //clock:outside sockets
	once  sync.Once
}

func newRelay(at net.Addr) *relay {
	return &relay{at: at, conns: make(chan net.Conn), done: make(chan struct{})} //clock:outside sockets
}

// hand gives the server a connection; when the listener is closed it closes that.
func (h *relay) hand(nc net.Conn) {
	select { //clock:outside sockets
	case h.conns <- nc: //clock:outside sockets
	case <-h.done: //clock:outside sockets
		_ = nc.Close()
	}
}

// Accept implements net.Listener.
func (h *relay) Accept() (net.Conn, error) {
	select { //clock:outside sockets
	case nc := <-h.conns: //clock:outside sockets
		return nc, nil
	case <-h.done: //clock:outside sockets
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. More than once is no harm.
func (h *relay) Close() error {
	h.once.Do(func() { close(h.done) }) //clock:outside sockets
	return nil
}

// Addr implements net.Listener.
func (h *relay) Addr() net.Addr { return h.at }

// buffered is a connection of which something was read ahead.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.in.Read(p) }
