package bus_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// controller is a client that writes frames of transactions, which the client for Go
// has not: one connection with one session, handle 0 the coordinator's.
type controller struct {
	*testing.T
	nc   net.Conn
	next uint32 // delivery
}

func newController(t *testing.T, address string) *controller {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() { nc.Close() })
	c := &controller{T: t, nc: nc}
	c.write([]byte(wire.ProtocolAMQP))
	if _, err := io.ReadFull(nc, make([]byte, wire.HeaderSize)); err != nil {
		t.Fatal(err)
	}
	c.frame(&wire.Open{ContainerID: "controller"}, nil)
	c.frame(&wire.Begin{IncomingWindow: 1000, OutgoingWindow: 1000}, nil)
	c.frame(&wire.Attach{Name: "coordinator", Coordinator: true, Source: &wire.Source{}}, nil)
	if a := await[*wire.Attach](c); !a.Coordinator || a.Capabilities == nil {
		t.Errorf("the coordinator's attach is %+v", a)
	}
	return c
}

func (c *controller) write(b []byte) {
	c.Helper()
	if _, err := c.nc.Write(b); err != nil {
		c.Fatal(err)
	}
}

func (c *controller) frame(p wire.Performative, payload []byte) {
	c.Helper()
	c.write(wire.EndFrame(append(p.Append(wire.BeginFrame(nil, wire.FrameAMQP, 0)), payload...), 0))
}

// await reads a frame of a type, and skips others.
func await[T wire.Performative](c *controller) T {
	c.Helper()
	for {
		size := make([]byte, 4)
		if _, err := io.ReadFull(c.nc, size); err != nil {
			c.Fatalf("waiting for a %T: %v", *new(T), err)
		}
		b := append(size, make([]byte, binary.BigEndian.Uint32(size)-4)...)
		if _, err := io.ReadFull(c.nc, b[4:]); err != nil {
			c.Fatal(err)
		}
		f, err := wire.ParseFrame(b)
		if err != nil {
			c.Fatal(err)
		}
		if len(f.Body) == 0 {
			continue
		}
		p, _, err := wire.ParseBody(f.Body)
		if err != nil {
			c.Fatal(err)
		}
		if want, ok := p.(T); ok {
			return want
		}
	}
}

// send sends a message on a link and returns its outcome.
func (c *controller) send(handle uint32, txn, message []byte) *wire.State {
	c.Helper()
	p := &wire.Transfer{Handle: handle, DeliveryID: wire.Some(c.next), Tag: []byte{byte(c.next)}}
	if txn != nil {
		p.State = &wire.State{Kind: wire.StateTransactional, Txn: txn}
	}
	c.next++
	c.frame(p, message)
	return await[*wire.Disposition](c).State
}

func (c *controller) declare() []byte {
	c.Helper()
	s := c.send(0, nil, wire.AppendDeclare(wire.AppendDescriptor(nil, wire.DescValue)))
	if s.Kind != wire.StateDeclared || len(s.Txn) == 0 {
		c.Fatalf("declare: %+v", s)
	}
	return s.Txn
}

// discharge ends a transaction, and expects a condition, or none.
func (c *controller) discharge(txn []byte, fail bool, want wire.Symbol) {
	c.Helper()
	d := &wire.Discharge{Txn: txn, Fail: fail}
	s := c.send(0, nil, d.Append(wire.AppendDescriptor(nil, wire.DescValue)))
	switch {
	case want == "" && s.Kind != wire.StateAccepted:
		c.Errorf("discharge: %v %v, want accepted", s.Kind, s.Error)
	case want != "" && (s.Kind != wire.StateRejected || s.Error.Condition != want):
		c.Errorf("discharge: %v %v, want rejected with %s", s.Kind, s.Error, want)
	}
}

func (c *controller) attach(handle uint32, queue string) {
	c.Helper()
	c.frame(&wire.Attach{Name: queue, Handle: handle, Source: &wire.Source{}, Target: &wire.Target{Address: wire.Some(queue)}}, nil)
	await[*wire.Attach](c)
}

// sent expects a transactional outcome of a send.
func (c *controller) sent(handle uint32, txn []byte) {
	c.Helper()
	s := c.send(handle, txn, wire.AppendData(nil, []byte("x")))
	if s.Kind != wire.StateTransactional || string(s.Txn) != string(txn) || s.Outcome == nil || s.Outcome.Kind != wire.StateAccepted {
		c.Errorf("send: %+v, want accepted within the transaction", s)
	}
}

func TestTransactionsOnTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	for _, name := range []string{"q", "other"} {
		w.queue(t, servicebus.Queue{Name: name})
	}
	there := func(what string, want int64) {
		t.Helper()
		if got := w.counts(t, "q").Active; got != want {
			t.Errorf("%s: %d messages, want %d", what, got, want)
		}
	}
	c := newController(t, w.address)
	c.attach(1, "q")
	c.attach(2, "other")

	txn := c.declare()
	c.sent(1, txn)
	there("before the discharge", 0)
	c.discharge(txn, false, "")
	there("after it", 1)
	c.discharge(txn, false, "amqp:transaction:unknown-id")
	if s := c.send(1, txn, wire.AppendData(nil, nil)); s.Kind != wire.StateRejected || s.Error.Condition != "amqp:transaction:unknown-id" {
		t.Errorf("send after the discharge: %+v", s)
	}

	txn = c.declare()
	c.sent(1, txn)
	c.discharge(txn, true, "")
	there("after the rollback", 1)

	txn = c.declare()
	c.sent(1, txn)
	c.sent(2, txn) // its session is the coordinator's
	c.discharge(txn, false, "")
	there("after both", 2)
	if got := w.counts(t, "other").Active; got != 1 {
		t.Errorf("%d messages in the other queue, want 1", got)
	}

	txn = c.declare()
	c.sent(1, txn)
	w.clk.Advance(servicebus.TransactionTimeout)
	c.discharge(txn, false, "amqp:transaction:timeout")

	// Transactions that a vanished coordinator leaves open are rolled back.
	c.sent(1, c.declare())
	c.frame(&wire.Detach{Closed: true}, nil)
	await[*wire.Detach](c)
	there("after the coordinator", 2)

	if s := c.send(1, nil, wire.AppendData(nil, nil)); s.Kind != wire.StateAccepted {
		t.Errorf("send without a transaction: %+v", s)
	}
	c.frame(&wire.Attach{Name: "again", Handle: 3, Coordinator: true, Source: &wire.Source{}}, nil)
	await[*wire.Attach](c)
	if s := c.send(3, nil, wire.AppendData(nil, nil)); s.Kind != wire.StateRejected || s.Error.Condition != wire.CondDecodeError {
		t.Errorf("a message that is no declare: %+v", s)
	}
}

// A connection has at most 100 transactions open. A transaction that has timed out does not
// count, though its client may never discharge it; the latest of them are remembered.
func TestOpenTransactionsOfAConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	c := newController(t, w.address)
	c.attach(1, "q")
	refused := func() {
		t.Helper()
		s := c.send(0, nil, wire.AppendDeclare(wire.AppendDescriptor(nil, wire.DescValue)))
		if s.Kind != wire.StateRejected || s.Error.Condition != "amqp:resource-limit-exceeded" {
			t.Errorf("one more: %+v, want it refused", s)
		}
	}
	var late, open [][]byte
	for range 100 {
		late = append(late, c.declare())
	}
	refused()
	w.clk.Advance(servicebus.TransactionTimeout)
	for range 99 {
		open = append(open, c.declare())
	}
	c.discharge(late[98], false, "amqp:transaction:unknown-id") // forgotten for the last one
	c.discharge(late[99], false, "amqp:transaction:timeout")
	open = append(open, c.declare())
	refused()
	for _, txn := range open {
		c.sent(1, txn)
		c.discharge(txn, false, "")
	}
	if got := w.counts(t, "q").Active; got != 100 {
		t.Errorf("%d messages, want the messages of 100 transactions", got)
	}
}
