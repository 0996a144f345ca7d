package bus_test

import (
	"encoding/binary"
	"fmt"
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

	credits map[uint32]uint32 // that a link was given, by handle
}

func newController(t *testing.T, address string, properties ...wire.Entry) *controller {
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
	c.frame(&wire.Open{ContainerID: "controller", Properties: properties}, nil)
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
	p, _ := awaitPayload[T](c)
	return p
}

// awaitPayload is await for a frame with a payload.
func awaitPayload[T wire.Performative](c *controller) (T, []byte) {
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
		p, payload, err := wire.ParseBody(f.Body)
		if err != nil {
			c.Fatal(err)
		}
		if want, ok := p.(T); ok {
			return want, payload
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

// receives attaches a link from an entity, of the session if one is named, and returns the
// server's answer.
func (c *controller) receives(handle uint32, entity string, session ...string) *wire.Attach {
	c.Helper()
	source := &wire.Source{Address: wire.Some(entity)}
	for _, id := range session {
		source.Filter = wire.Map{{Key: wire.Symbol("com.microsoft:session-filter"), Value: id}}
	}
	c.frame(&wire.Attach{Name: "from " + entity, Handle: handle, Role: wire.Receiver, Source: source, Target: &wire.Target{Address: wire.Some("answers")}}, nil)
	return await[*wire.Attach](c)
}

// credit lets one message come on a link.
func (c *controller) credit(handle uint32) {
	c.Helper()
	if c.credits == nil {
		c.credits = map[uint32]uint32{}
	}
	c.frame(&wire.Flow{NextIncomingID: wire.Some[uint32](0), IncomingWindow: 1000, OutgoingWindow: 1000, Handle: wire.Some(handle), DeliveryCount: wire.Some(c.credits[handle]), LinkCredit: wire.Some[uint32](1)}, nil)
	c.credits[handle]++
}

// manages asks the $management of an entity within a transaction, over two handles, and
// returns the status and the body of the answer.
func (c *controller) manages(handle uint32, txn []byte, entity, operation string, body wire.Map) (int32, wire.Map) {
	c.Helper()
	if c.credits[handle] == 0 {
		c.receives(handle, entity+"/$management")
		c.attach(handle+1, entity+"/$management")
	}
	c.credit(handle)
	request := wire.Message{
		HasProperties: true, Properties: wire.Properties{MessageID: uint64(1), ReplyTo: wire.Some("answers")},
		ApplicationProperties: wire.Map{{Key: "operation", Value: operation}}, Body: wire.AppendValue(nil, body),
	}
	p := &wire.Transfer{Handle: handle + 1, DeliveryID: wire.Some(c.next), Settled: wire.Some(true)}
	if txn != nil {
		p.State = &wire.State{Kind: wire.StateTransactional, Txn: txn}
	}
	c.next++
	c.frame(p, request.Append(nil))
	_, payload := awaitPayload[*wire.Transfer](c)
	answer, err := wire.ParseMessage(payload)
	if err != nil {
		c.Fatal(err)
	}
	status, _ := answer.ApplicationProperties.Get("statusCode").(int32)
	v, _, err := answer.Value()
	if err != nil {
		c.Fatal(err)
	}
	results, _ := v.(wire.Map)
	return status, results
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

// Requests to $management take part in a transaction: what it cancels, schedules or sets is as
// before when it is rolled back (azure-sdk-for-net: ManagementUtilities.cs enlists each of
// them; TransactionLiveTests.TransactionalCancelScheduleRollback, Sample06_Transactions.md).
func TestManagementWithinATransaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	w.queue(t, servicebus.Queue{Name: "q"})
	w.queue(t, servicebus.Queue{Name: "s", RequiresSession: true})
	c := newController(t, w.address)
	is := func(what string, status int32, want int64) {
		t.Helper()
		if got := w.counts(t, "q").Scheduled; got != want || status != 200 {
			t.Errorf("%s: status %d, %d scheduled messages, want %d", what, status, got, want)
		}
	}
	message := wire.Message{HasProperties: true, Properties: wire.Properties{MessageID: "m"}, MessageAnnotations: wire.Map{{Key: wire.Symbol("x-opt-scheduled-enqueue-time"), Value: wire.TimestampOf(w.clk.Now().Add(time.Hour))}}, Body: wire.AppendData(nil, []byte("x"))}
	schedule := wire.Map{{Key: "messages", Value: wire.List{wire.Map{{Key: "message-id", Value: "m"}, {Key: "message", Value: message.Append(nil)}}}}}
	status, made := c.manages(1, nil, "q", "com.microsoft:schedule-message", schedule)
	is("schedule", status, 1)
	cancel := wire.Map{{Key: "sequence-numbers", Value: made.Get("sequence-numbers")}}
	for _, rolledBack := range []bool{true, false} {
		txn := c.declare()
		status, _ = c.manages(1, txn, "q", "com.microsoft:cancel-scheduled-message", cancel)
		is("cancel, before the discharge", status, 1)
		c.discharge(txn, rolledBack, "")
		if !rolledBack {
			is("cancel, committed", status, 0)
		}
	}
	txn := c.declare()
	if status, _ = c.manages(1, txn, "q", "com.microsoft:cancel-scheduled-message", cancel); status == 200 {
		t.Error("what is no longer scheduled was cancelled")
	}
	c.discharge(txn, false, "amqp:transaction:rollback")

	if status, _ = c.manages(1, c.declare(), "q", "com.microsoft:batch-delete-messages", wire.Map{{Key: "message-count", Value: int32(1)}, {Key: "enqueued-time-utc", Value: wire.TimestampOf(w.clk.Now())}}); status == 200 || status == 204 {
		t.Errorf("what no rollback would undo is done with status %d", status)
	}

	c = newController(t, w.address)
	session := c.receives(1, "s", "one")
	if session.Source == nil {
		t.Fatalf("the session is refused: %+v", session)
	}
	state := func() any {
		t.Helper()
		_, got := c.manages(2, nil, "s", "com.microsoft:get-session-state", wire.Map{{Key: "session-id", Value: "one"}})
		return got.Get("session-state")
	}
	set := func(txn []byte, text string) {
		t.Helper()
		if status, _ := c.manages(2, txn, "s", "com.microsoft:set-session-state", wire.Map{{Key: "session-id", Value: "one"}, {Key: "session-state", Value: []byte(text)}}); status != 200 {
			t.Errorf("the state %q: status %d", text, status)
		}
	}
	set(nil, "old")
	txn = c.declare()
	set(txn, "new")
	c.discharge(txn, true, "")
	if got := state(); string(got.([]byte)) != "old" {
		t.Errorf("after the rollback the state is %q", got)
	}
	txn = c.declare()
	set(txn, "new")
	c.discharge(txn, false, "")
	if got := state(); string(got.([]byte)) != "new" {
		t.Errorf("after the commit the state is %q", got)
	}
}

// A session whose coordinator comes before its links has one entity that its transactions go
// through, the first that it reaches: it receives from no other, and what it sends and settles
// in a transaction may come in any order.
func TestGroupOfASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	for _, name := range []string{"a", "b", "c"} {
		w.queue(t, servicebus.Queue{Name: name})
	}
	w.topic(t, "t", "sub")
	refused := func(c *controller) {
		t.Helper()
		if got := await[*wire.Detach](c); got.Error == nil || got.Error.Condition != wire.CondNotAllowed {
			t.Errorf("detach with %v, want not-allowed", got.Error)
		}
	}

	c := newController(t, w.address)
	c.receives(1, "missing") // reaches nothing
	await[*wire.Detach](c)
	c.attach(2, "b")
	c.attach(3, "c") // is sent to through b
	c.receives(4, "a")
	refused(c)
	if got := c.receives(5, "B"); got.Source == nil {
		t.Error("nothing can be received from b")
	}

	c = newController(t, w.address)
	c.attach(1, "t")
	if got := c.receives(2, "t/Subscriptions/sub"); got.Source == nil {
		t.Error("nothing can be received from the topic's own subscription")
	}

	// First to another entity, then the message that came from the first one.
	c = newController(t, w.address)
	c.receives(1, "a")
	c.attach(2, "a")
	c.attach(3, "b")
	c.send(2, nil, wire.AppendData(nil, []byte("x")))
	c.credit(1)
	got := await[*wire.Transfer](c)
	txn := c.declare()
	c.sent(3, txn)
	c.frame(&wire.Disposition{Role: wire.Receiver, First: got.DeliveryID.V, State: &wire.State{Kind: wire.StateTransactional, Txn: txn, Outcome: &wire.State{Kind: wire.StateAccepted}}}, nil)
	await[*wire.Disposition](c)
	c.discharge(txn, false, "")
	if a, b := w.counts(t, "a").Active, w.counts(t, "b").Active; a != 0 || b != 1 {
		t.Errorf("%d messages in a, %d in b, want 0 and 1", a, b)
	}
}

// What a transaction settles is settled for the client when it is committed. After a rollback
// the delivery is as before, and its receiver settles it again on the same link: one of a
// session has no other way.
func TestSettleAgainAfterARollback(t *testing.T) {
	t.Parallel()
	for _, sessions := range []bool{false, true} {
		t.Run(fmt.Sprint("sessions ", sessions), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, nil)
			w.queue(t, servicebus.Queue{Name: "q", RequiresSession: sessions})
			c := newController(t, w.address)
			c.attach(1, "q")
			message := wire.Message{Body: wire.AppendData(nil, []byte("x"))}
			var session []string
			if sessions {
				message.HasProperties, message.Properties.GroupID, session = true, wire.Some("s"), []string{"s"}
			}
			for range 2 {
				c.send(1, nil, message.Append(nil))
			}
			c.receives(2, "q", session...)
			// settle answers what the server says of a delivery.
			settle := func(id uint32, txn []byte) *wire.Disposition {
				p := &wire.Disposition{Role: wire.Receiver, First: id, State: &wire.State{Kind: wire.StateAccepted}}
				if txn != nil {
					p.State = &wire.State{Kind: wire.StateTransactional, Txn: txn, Outcome: p.State}
				}
				c.frame(p, nil)
				return await[*wire.Disposition](c)
			}
			left := func(when string, want int64) {
				t.Helper()
				if got := w.counts(t, "q").Active; got != want {
					t.Errorf("%s: %d messages, want %d", when, got, want)
				}
			}
			c.credit(2)
			first := await[*wire.Transfer](c).DeliveryID.V
			txn := c.declare()
			for range 2 { // a rollback may come more than once
				if d := settle(first, txn); d.Settled || d.State.Kind != wire.StateTransactional {
					t.Errorf("within the transaction: %+v %+v, want it open", d, d.State)
				}
				c.discharge(txn, true, "")
				txn = c.declare()
			}
			left("after the rollbacks", 2)
			if d := settle(first, nil); !d.Settled || d.State.Kind != wire.StateAccepted {
				t.Errorf("again: %+v %+v, want it settled", d, d.State)
			}
			left("settled again", 1)
			if d := settle(first, nil); d.State.Kind != wire.StateRejected {
				t.Errorf("a third time: %+v %+v, want it refused", d, d.State)
			}

			c.credit(2)
			second := await[*wire.Transfer](c).DeliveryID.V
			if d := settle(second, txn); d.Settled {
				t.Errorf("within the second transaction: %+v %+v", d, d.State)
			}
			left("before the commit", 1)
			c.discharge(txn, false, "")
			if d := await[*wire.Disposition](c); !d.Settled || d.First != second || d.State.Kind != wire.StateTransactional || d.State.Outcome.Kind != wire.StateAccepted {
				t.Errorf("after the commit: %+v %+v, want it settled", d, d.State)
			}
			left("after the commit", 0)
			if d := settle(second, txn); d.State.Kind != wire.StateRejected {
				t.Errorf("after the transaction: %+v %+v, want it refused", d, d.State)
			}
		})
	}
}
