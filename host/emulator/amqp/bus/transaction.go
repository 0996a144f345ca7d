package bus

import (
	"slices"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// place is where a link is: its connection, and the session of that.
type place struct {
	connection string
	session    int
}

// transactions are the transactions that clients have not discharged.
type transactions struct {
	mu sync.Mutex
	by map[string][]*ongoing // connection, in the order of their beginning
}

// ongoing is one of them.
type ongoing struct {
	servicebus.Transaction
	at place // of the link that began it
	of *coordinator
}

// shared says that a link is in the session of the coordinator, where clients put
// all that may be part of a transaction across entities (azure-messaging-servicebus:
// ServiceBusReactorAmqpConnection, enableCrossEntityTransactions).
func (t *ongoing) shared(at place) bool { return t.at == at }

// maxTransactions is how many transactions one connection has open at once: more than
// any client needs, and few enough to hold.
const maxTransactions = 100

// room makes room for another transaction of a connection, and returns the transaction that
// it forgets: the oldest that has ended by itself, if there are many; else nil. It reports
// false when all are open.
func (ts *transactions) room(connection string) (forgotten *ongoing, ok bool) {
	ts.mu.Lock()
	full := len(ts.by[connection]) >= maxTransactions
	ts.mu.Unlock()
	if !full {
		return nil, true
	}
	forgotten = ts.take(connection, func(t *ongoing) bool { return !t.Open() })
	return forgotten, forgotten != nil
}

func (ts *transactions) put(t *ongoing) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.by == nil {
		ts.by = map[string][]*ongoing{}
	}
	ts.by[t.at.connection] = append(ts.by[t.at.connection], t)
}

// find returns the index of a transaction of its connection, or -1.
func (ts *transactions) find(connection string, is func(*ongoing) bool) int {
	return slices.IndexFunc(ts.by[connection], is)
}

func (ts *transactions) get(connection string, id []byte) *ongoing {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if i := ts.find(connection, named(id)); i >= 0 {
		return ts.by[connection][i]
	}
	return nil
}

// take removes the first transaction of a connection that is meant, nil when there
// is none.
func (ts *transactions) take(connection string, is func(*ongoing) bool) *ongoing {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	i := ts.find(connection, is)
	if i < 0 {
		return nil
	}
	t := ts.by[connection][i]
	if ts.by[connection] = slices.Delete(ts.by[connection], i, i+1); len(ts.by[connection]) == 0 {
		delete(ts.by, connection)
	}
	return t
}

func named(id []byte) func(*ongoing) bool {
	return func(t *ongoing) bool {
		own := t.ID()
		return string(own[:]) == string(id)
	}
}

func noTransaction() *wire.Error {
	return wire.Errorf(wire.CondTransactionUnknown, "the connection has no such transaction")
}

// within runs f with the transaction that a link names.
func (b *Backend) within(at place, id []byte, f func(t *ongoing) error) error {
	t := b.transactions.get(at.connection, id)
	if t == nil {
		return noTransaction()
	}
	return f(t)
}

// coordinator is the node of a link that begins and ends transactions.
type coordinator struct {
	b  *Backend
	at place
}

// Declare implements amqp.Coordinator.
func (c *coordinator) Declare() ([]byte, *wire.Error) {
	forgotten, ok := c.b.transactions.room(c.at.connection)
	if !ok {
		return nil, wire.Errorf(wire.CondResourceLimitExceeded, "the connection has %d transactions open", maxTransactions)
	}
	if forgotten != nil {
		c.b.pins.Release(pinOfTransaction(forgotten.ID()))
	}
	var t servicebus.Transaction
	err := c.b.inside("declare", func() (err error) {
		t, err = c.b.ns.Begin(background, c.b.groups.via(c.at))
		return err
	})
	if err != nil {
		return nil, asCondition(err)
	}
	id := t.ID()
	c.b.pins.Hold(pinOfTransaction(id), servicebus.TransactionTimeout)
	c.b.transactions.put(&ongoing{Transaction: t, at: c.at, of: c})
	return id[:], nil
}

func pinOfTransaction(id bindings.GUID) string { return "transaction " + id.String() }

// Discharge implements amqp.Coordinator.
func (c *coordinator) Discharge(id []byte, fail bool) *wire.Error {
	t := c.b.transactions.take(c.at.connection, named(id))
	if t == nil {
		return noTransaction()
	}
	return c.b.discharge(t, fail)
}

func (b *Backend) discharge(t *ongoing, fail bool) *wire.Error {
	err := b.inside("discharge", func() error {
		if fail {
			return t.Rollback(background)
		}
		return t.Commit(background)
	})
	b.pins.Release(pinOfTransaction(t.ID()))
	return asCondition(err)
}

// coordinator is the node of a client that begins transactions at a place.
func (b *Backend) coordinator(at place) *coordinator {
	b.groups.open(at)
	return &coordinator{b: b, at: at}
}

// Close implements amqp.Node: it rolls open transactions back.
func (c *coordinator) Close(bool) {
	c.b.groups.close(c.at)
	mine := func(t *ongoing) bool { return t.of == c }
	for t := c.b.transactions.take(c.at.connection, mine); t != nil; t = c.b.transactions.take(c.at.connection, mine) {
		_ = c.b.discharge(t, true) // no caller waits for the answer
	}
}
