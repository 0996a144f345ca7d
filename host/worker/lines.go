package worker

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/listen"
)

// openLines opens an endpoint for lines of proto-JSON. At the same port libraries in the
// worker settle messages over gRPC (spec workers-dotnet-java 4.2).
func openLines(id string, beside *settlement) (endpoint, error) {
	l, err := listen.Port{Service: "language worker"}.Open()
	if err != nil {
		return nil, err
	}
	one := newInvited(id)
	e := newLines(l, one.claim, newServer(beside))
	e.found = one.found
	e.serve()
	return e, nil
}

type linesEndpoint struct {
	listener net.Listener
	claim    claim
	found    chan stream //clock:outside a process dials
	calls    *relay      // connections that speak gRPC
	server   *grpc.Server
	serving  sync.WaitGroup //clock:outside the connections

	mu     sync.Mutex // guards:
	closed bool
	conns  map[net.Conn]bool // of workers, and those of which is not known whose they are
}

func newLines(l net.Listener, c claim, server *grpc.Server) *linesEndpoint {
	return &linesEndpoint{listener: l, claim: c, conns: map[net.Conn]bool{}, calls: newRelay(l.Addr()), server: server}
}

// serve takes connections until close.
func (e *linesEndpoint) serve() {
	e.serving.Add(2)
	go e.accept() //clock:outside waited for by close
	go func() {   //clock:outside waited for by close
		defer e.serving.Done()
		_ = e.server.Serve(e.calls) // it ends by close
	}()
}

func (e *linesEndpoint) addr() *net.TCPAddr { return e.listener.Addr().(*net.TCPAddr) }

func (e *linesEndpoint) accepted() <-chan stream { return e.found } //clock:outside a process dials

// accept takes connections: those of workers that are awaited, and others that speak gRPC.
// All others are dropped.
func (e *linesEndpoint) accept() {
	defer e.serving.Done()
	for {
		nc, err := e.listener.Accept()
		if err != nil {
			return
		}
		if !e.keep(nc) {
			return
		}
		e.serving.Add(1)
		go func() { //clock:outside waited for by close
			defer e.serving.Done()
			s := &lineStream{nc: nc, in: bufio.NewReaderSize(nc, firstLine), most: firstLine}
			if first, err := s.in.Peek(1); err == nil && first[0] == http2Preface {
				e.forget(nc)
				e.calls.hand(buffered{nc, s.in})
				return
			}
			m, err := s.Recv()
			var take func(stream, func())
			if err == nil {
				take, err = e.claim(m)
			}
			if err != nil {
				e.forget(nc)
				_ = nc.Close()
				return
			}
			s.most = call.MaxMessageSize
			take(s, func() {
				e.forget(nc)
				_ = nc.Close()
			})
		}()
	}
}

// keep takes note of a connection; it closes one that comes too late.
func (e *linesEndpoint) keep(nc net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		_ = nc.Close()
		return false
	}
	e.conns[nc] = true
	return true
}

// forget takes a connection that another owns, or nobody, out of those that close ends.
func (e *linesEndpoint) forget(nc net.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, nc)
}

func (e *linesEndpoint) close() {
	e.mu.Lock()
	e.closed = true
	conns := e.conns
	e.conns = nil
	e.mu.Unlock()
	_ = e.listener.Close()
	e.server.Stop()
	for nc := range conns {
		_ = nc.Close()
	}
	e.serving.Wait() //clock:outside ends with the connections
}

// firstLine limits the first message of a connection, in bytes: anybody on this machine may
// come before the worker.
const firstLine = 64 << 10

// lineStream is the stream of one connection.
type lineStream struct {
	nc   net.Conn
	in   *bufio.Reader
	most int    // bytes of a message
	out  []byte // lines that wait for the next one
}

// mostHeld is how many bytes of lines wait for another one, about.
const mostHeld = 64 << 10

// fromLines takes messages of later versions.
var fromLines = protojson.UnmarshalOptions{DiscardUnknown: true} // read only

// lineOf is a message in JSON. It holds zeroes, which a reader of another language would not
// find otherwise, save for invocations: there is one for each attempt, and to write what is
// not there would cost as much as the rest.
func lineOf(m *message) ([]byte, error) {
	line, err := protojson.MarshalOptions{EmitDefaultValues: m.GetInvocationRequest() == nil}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return linesInOrder(line, m)
}

func (s *lineStream) Send(m *message, more bool) error {
	line, err := lineOf(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if s.out = append(append(s.out, line...), '\n'); more && len(s.out) < mostHeld {
		return nil
	}
	_, err = s.nc.Write(s.out)
	if s.out = s.out[:0]; cap(s.out) > mostHeld {
		s.out = nil
	}
	return err
}

func (s *lineStream) Recv() (*message, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > s.most:
			return nil, fmt.Errorf("a line has more than %d bytes", s.most)
		case err == bufio.ErrBufferFull: // the line goes on
			continue
		case err != nil:
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		return messageOf(line)
	}
}
