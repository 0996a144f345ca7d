package amqp

import (
	"sync"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Backend gives the nodes behind the addresses of links: one for Service Bus
// entities, another for event hubs. Goroutines of the server call its methods
// and the methods of nodes. They enter a clock by Inside before they touch
// anything under it.
type Backend interface {
	// Attach returns the node for a new link, or refuses it with a *wire.Error (any
	// other error becomes amqp:internal-error). It may take its time, as for a
	// session that is not free yet: each call has a goroutine of its own, and
	// r.OnGone tells when the client no longer waits for the answer.
	Attach(r *AttachRequest) (*Grant, error)
}

// Connections is implemented by a Backend that wants to know of the end of
// connections.
type Connections interface {
	// Ended is called when the connection and all its links are gone.
	Ended(connection string)
}

// AttachRequest is a client's wish for a link.
type AttachRequest struct {
	// Connection names the client's connection, for logs and for state that several links
	// share.
	Connection string
	Session    int // of the connection

	// Client names the client's library: product and user-agent of the open, with a
	// space between them.
	Client string

	Name    string    // of the link
	Role    wire.Role // of the client: a sender, or a receiver
	Address string    // of the target if the client is a sender, else of the source

	SendMode    uint8 // settle modes as asked for, or their defaults
	ReceiveMode uint8
	Filter      wire.Map // of the source
	Desired     any      // capabilities: nil, a wire.Symbol or a *wire.Array of them
	Properties  wire.Map

	// Elsewhere is set by a backend that passes other addresses on: it
	// reports whether an address is for the other backend, and then fails
	// if the address is unknown. It may be nil, and may be called as long
	// as the link lives.
	Elsewhere func(address string) (bool, error)

	// Detach ends the link with an error of the backend's. It may be called from any
	// goroutine, one of a clock included, as long as the link lives; not by Attach.
	Detach func(err *wire.Error)

	// Coordinator says that the link is to a transaction coordinator, and has no address.
	// Its node is a Coordinator; with any other the link is refused.
	Coordinator bool

	mu   sync.Mutex
	gone bool
	f    func()
}

// OnGone has f called, once, when the client takes the wish back: it detaches,
// or its connection ends. If it has, f is called at once. One f at a time; nil
// for none. It is over once Attach has returned.
func (r *AttachRequest) OnGone(f func()) {
	r.mu.Lock()
	r.f = f
	now := r.gone && f != nil
	if now {
		r.f = nil
	}
	r.mu.Unlock()
	if now {
		f()
	}
}

func (r *AttachRequest) goAway() {
	r.mu.Lock()
	f := r.f
	r.gone, r.f = true, nil
	r.mu.Unlock()
	if f != nil {
		f()
	}
}

// Grant is the backend's answer to a link.
type Grant struct {
	// Node is a Consumer for a client that sends, a Producer for one that
	// receives, or for both a Responder.
	Node Node

	// Filter and Properties belong to the server's attach. Nil filters echo the
	// client's.
	Filter     wire.Map
	Properties wire.Map

	// MaxMessageSize in bytes, of a Consumer: a larger message ends the link. A Responder
	// makes no larger answer. 0 is DefaultMaxMessageSize. Clients that send are told.
	MaxMessageSize uint64
}

// Node is one link's end on our side. The server calls Close once, when the link
// is gone: vanished says that the client did not say so.
type Node interface {
	Close(vanished bool)
}

// Consumer takes what a client sends on one link. Only the goroutine of the
// connection calls Consume.
type Consumer interface {
	Node

	// Consume takes deliveries in their order, and sets the Err of rejected ones.
	// It keeps the payloads if it wants, but not the slice.
	Consume(deliveries []Delivery)
}

// Delivery is a whole message on its way in.
type Delivery struct {
	Format  uint32 // 0, or a message-format of the vendor
	Payload []byte
	Txn     []byte // the transaction that it is part of; nil: none

	Err *wire.Error // of the outcome: nil is accepted

	id      uint32
	settled bool
	answer  *wire.State     // other than accepted
	ended   *wire.Discharge // of a transaction, by this message
}

// Producer has what a client receives on one link. Only the goroutine of the link
// calls Pull, only the goroutine of the connection calls Settle; any goroutine
// calls the others.
type Producer interface {
	Node

	// Pull returns up to n messages. With wait it waits until there is one; an
	// error ends the link.
	Pull(n int, wait bool) ([]Outgoing, error)

	// Interrupt makes a Pull that waits return with what it has, perhaps nothing,
	// and if none waits, the next.
	Interrupt()

	// Return takes back messages that were pulled and not sent.
	Return(list []Outgoing)

	// Settle settles messages that were sent, and sets the Err of messages that
	// could not be settled. It does not keep the slice. It may still be called after
	// Close, when a link ends while a settlement is on its way.
	Settle(settlements []Settlement)

	// Watch waits until the link cannot go on, and returns why; nil after Close.
	Watch() error
}

// Deleter is a Producer out of which messages that are sent settled are gone when they
// are pulled.
type Deleter interface {
	Producer

	// Transferred says that such messages have been written to the client's connection.
	// Messages that could not be written come back by Return. Both may come after
	// Close; they come from any goroutine.
	Transferred(list []Outgoing)
}

// Outgoing is a message on its way to a client.
type Outgoing interface {
	// Tag is the delivery tag, of at most 32 bytes.
	Tag() []byte

	// Settled says that the message needs no settlement: it is sent settled.
	Settled() bool

	// Append adds the encoded message to b.
	Append(b []byte) []byte
}

// Settlement is a client's word on a delivery. One that could be done is confirmed with
// the outcome that the client asked for.
type Settlement struct {
	Message Outgoing
	State   *wire.State // nil: the client settles without saying how; never StateTransactional
	Txn     []byte      // the transaction that it is part of; nil: none
	Err     *wire.Error // why it could not be done

	id   uint32
	last bool // the client has settled and waits for no answer
}

// Coordinator begins and ends transactions: it is the node of a link whose target
// is a transaction coordinator. When it is closed, what it began and has not
// discharged is to be rolled back. Only the goroutine of the connection calls
// Declare and Discharge.
type Coordinator interface {
	Node

	// Declare begins a transaction, and returns its identifier.
	Declare() ([]byte, *wire.Error)

	// Discharge commits a transaction, or with fail rolls it back.
	Discharge(txn []byte, fail bool) *wire.Error
}

// Responder answers requests: a client sends them on one link and receives the
// answers on another, both attached to the same address. Respond is called for
// one request of a connection at a time.
type Responder interface {
	Node

	// Respond returns the answer; the server fills in where it goes. The request's
	// slices may be kept. A message larger than limit, in bytes, would end the link on
	// which the client receives answers. Txn is the transaction that the request is part
	// of, or nil.
	Respond(request *wire.Message, limit int, txn []byte) *wire.Message
}
