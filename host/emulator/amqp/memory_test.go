package amqp_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// memory is a trivial backend: an address is a queue of encoded messages. Some
// addresses are special: see Attach.
type memory struct {
	mu       sync.Mutex
	changed  sync.Cond
	queues   map[string][]*stored
	next     uint64
	log      []string // settlements and the ends of nodes
	attaches []*amqp.AttachRequest
	broken   *wire.Error // ends every producer
}

type stored struct {
	tag     uint64
	payload []byte
	settled bool
}

func (m *stored) Tag() []byte            { return binary.BigEndian.AppendUint64(nil, m.tag) }
func (m *stored) Settled() bool          { return m.settled }
func (m *stored) Append(b []byte) []byte { return append(b, m.payload...) }

func newMemory() *memory {
	m := &memory{queues: map[string][]*stored{}}
	m.changed.L = &m.mu
	return m
}

func (m *memory) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
	m.changed.Broadcast()
}

// wait waits until the log has an entry that begins with prefix.
func (m *memory) wait(prefix string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		for _, line := range m.log {
			if strings.HasPrefix(line, prefix) {
				return line
			}
		}
		m.changed.Wait()
	}
}

func (m *memory) put(address string, payloads ...[]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range payloads {
		m.next++
		m.queues[address] = append(m.queues[address], &stored{tag: m.next, payload: p})
	}
	m.changed.Broadcast()
}

func (m *memory) length(address string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queues[address])
}

// Attach: "missing" does not exist, "slow" answers when the client has gone,
// "echo" answers requests, "reject..." rejects what it is sent.
func (m *memory) Attach(r *amqp.AttachRequest) (*amqp.Grant, error) {
	m.mu.Lock()
	m.attaches = append(m.attaches, r)
	m.mu.Unlock()
	switch {
	case r.Address == "missing":
		return nil, wire.Errorf(wire.CondNotFound, "there is no %q", r.Address)
	case r.Address == "slow":
		gone := make(chan struct{})
		r.OnGone(func() { close(gone) })
		<-gone
		m.mu.Lock()
		m.note("gone %s", r.Name)
		m.mu.Unlock()
		return nil, wire.Errorf(wire.CondInternalError, "nobody waits")
	case r.Address == "echo":
		return &amqp.Grant{Node: echo{}}, nil
	case r.Role == wire.Sender:
		return &amqp.Grant{Node: &sink{m, r.Address}, Properties: wire.Map{{Key: wire.Symbol("granted"), Value: int32(1)}}}, nil
	default:
		return &amqp.Grant{Node: &source{m: m, address: r.Address, delete: r.SendMode == wire.SendSettled}}, nil
	}
}

type echo struct{}

func (echo) Close(bool) {}

func (echo) Respond(q *wire.Message, _ int, _ []byte) *wire.Message {
	return &wire.Message{Body: q.Body, ApplicationProperties: wire.Map{{Key: "status-code", Value: int32(202)}}}
}

type sink struct {
	m       *memory
	address string
}

func (s *sink) Close(vanished bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.m.note("sink %s closed vanished=%t", s.address, vanished)
}

func (s *sink) Consume(list []amqp.Delivery) {
	for i := range list {
		if strings.HasPrefix(s.address, "reject") {
			list[i].Err = wire.Errorf("com.microsoft:entity-disabled", "no")
			continue
		}
		s.m.put(s.address, list[i].Payload)
	}
}

type source struct {
	m           *memory
	address     string
	delete      bool
	interrupted bool
	closed      bool
}

func (s *source) Close(vanished bool) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.closed = true
	s.m.note("source %s closed vanished=%t", s.address, vanished)
}

func (s *source) Pull(n int, wait bool) ([]amqp.Outgoing, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for wait && len(s.m.queues[s.address]) == 0 && !s.interrupted {
		s.m.changed.Wait()
	}
	s.interrupted = false
	q := s.m.queues[s.address]
	n = min(n, len(q))
	s.m.queues[s.address] = q[n:]
	list := make([]amqp.Outgoing, n)
	for i := range list {
		q[i].settled = s.delete
		list[i] = q[i]
	}
	return list, nil
}

func (s *source) Interrupt() {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.interrupted = true
	s.m.changed.Broadcast()
}

func (s *source) Return(list []amqp.Outgoing) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	var back []*stored
	for _, o := range list {
		back = append(back, o.(*stored))
	}
	s.m.queues[s.address] = append(back, s.m.queues[s.address]...)
	s.m.note("returned %d", len(list))
}

func (s *source) Settle(list []amqp.Settlement) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for i := range list {
		d := &list[i]
		kind := "nothing"
		if d.State != nil {
			kind = d.State.Kind.String()
		}
		if s.address == "lost" {
			d.Err = wire.Errorf("com.microsoft:message-lock-lost", "too late")
		}
		s.m.note("%s %d", kind, d.Message.(*stored).tag)
	}
}

func (s *source) Watch() error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for !s.closed {
		if s.m.broken != nil {
			return s.m.broken
		}
		s.m.changed.Wait()
	}
	return nil
}

// start returns a running server and a function that connects to it.
func start(t *testing.T, b amqp.Backend, opts *amqp.Options) (dial func() net.Conn) {
	t.Helper()
	server := amqp.NewServer(b, opts)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { server.ServeConn(nc) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		server.Close()
		serving.Wait()
	})
	return func() net.Conn {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return nc
	}
}

// connect returns a connection and a session of go-amqp.
func connect(t *testing.T, dial func() net.Conn, opts *goamqp.ConnOptions) (context.Context, *goamqp.Conn, *goamqp.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	conn, err := goamqp.NewConn(ctx, dial(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	session, err := conn.NewSession(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ctx, conn, session
}
