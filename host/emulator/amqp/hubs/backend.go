package hubs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Namespace is the served namespace. Its readers must have a method Lost, which waits
// until the reader cannot go on and returns why; nil after Close.
type Namespace interface {
	eventhubs.Namespace

	// Has reports whether there is a hub of that name.
	Has(name string) bool

	// MadeOnUse reports whether a hub that is not there is made when it is used.
	MadeOnUse() bool
}

// Backend serves a namespace. It implements amqp.Backend and amqp.Connections.
type Backend struct {
	clk   clock.Clock
	ns    Namespace
	other Other
}

// Other is the backend of a namespace of Service Bus at the same address.
type Other interface {
	amqp.Backend

	// IsEntity reports whether there is a queue or a topic of that name. It is called
	// outside of the clock.
	IsEntity(name string) bool
}

// New returns a backend for ns, which lives under clk. Links that are not for a hub are
// other's; with nil they are refused. Where both have a name, a client that says it is one
// of Event Hubs means the hub, and any other the entity (spec messaging 1.11).
func New(clk clock.Clock, ns Namespace, other Other) *Backend {
	return &Backend{clk: clk, ns: ns, other: other}
}

// background is the context of calls that are not to be given up.
var background = context.Background()

// inside runs f in the clock.
func (b *Backend) inside(name string, f func() error) (err error) {
	b.clk.Inside("AMQP "+name, func() { err = f() })
	return err
}

// Attach implements amqp.Backend.
func (b *Backend) Attach(r *amqp.AttachRequest) (*amqp.Grant, error) {
	address := trimAddress(r.Address)
	if r.Coordinator && b.other != nil {
		return b.other.Attach(r)
	}
	if strings.EqualFold(address, "$management") {
		return &amqp.Grant{Node: &management{b}}, nil
	}
	a, ok := eventhubs.ParseAddress(address)
	if mine := ok && (a.Group != "" || b.means(a.Hub, r.Client) || b.makes(a, r)); !mine {
		if b.other == nil {
			return nil, asCondition(messaging.NewEntityNotFound(address))
		}
		r.Elsewhere = func(address string) (bool, error) { return b.find(address, ofEventHubs(r.Client)) }
		return b.other.Attach(r)
	}
	var grant *amqp.Grant
	err := b.inside("attach", func() (err error) {
		switch {
		case r.Role == wire.Sender && a.Group == "":
			grant, err = b.sender(a)
		case r.Role == wire.Receiver && a.Group != "":
			grant, err = b.receiver(a, r)
		default:
			err = wire.Errorf(wire.CondNotAllowed, "%q: events are sent to a hub or one of its partitions, and received from a partition for a consumer group", address)
		}
		return err
	})
	if err != nil {
		return nil, asCondition(err)
	}
	return grant, nil
}

// means reports whether a client that names a hub means it.
func (b *Backend) means(hub, client string) (ok bool) {
	b.clk.Inside("AMQP look up", func() { ok = b.ns.Has(hub) })
	return ok && (ofEventHubs(client) || b.other == nil || !b.other.IsEntity(hub))
}

// makes reports whether a hub is made for what a client sends to an address of none: the
// client is one of Event Hubs, by its own word. One of Service Bus means a queue, and
// $cbs is no hub's name.
func (b *Backend) makes(a eventhubs.Address, r *amqp.AttachRequest) (ok bool) {
	if r.Role != wire.Sender || strings.HasPrefix(a.Hub, "$") || !ofEventHubs(r.Client) {
		return false
	}
	b.clk.Inside("AMQP look up", func() { ok = b.ns.MadeOnUse() })
	return ok
}

// ofEventHubs reports whether a client says that it is one of Event Hubs.
func ofEventHubs(client string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(client), "-", ""), "eventhub")
}

// find reports whether an address is for a hub, and if that is not there fails. Where hubs
// are made on use, what a client of Event Hubs names is one: it claims rights before it
// attaches.
func (b *Backend) find(address string, client bool) (mine bool, err error) {
	name, _ := messaging.CutManagement(address)
	hub, group, _ := strings.Cut(name, "/")
	named := len(group) > len(groupsWord) && strings.EqualFold(group[:len(groupsWord)], groupsWord)
	b.clk.Inside("AMQP look up", func() {
		switch {
		case b.ns.Has(hub):
			mine = true
		case named && !b.ns.MadeOnUse():
			mine, err = true, messaging.NewEntityNotFound(hub)
		case named, client && b.ns.MadeOnUse():
			mine = true
		}
	})
	return mine, err
}

// groupsWord follows the hub in an address that names a consumer group.
const groupsWord = "ConsumerGroups/"

// Ended implements amqp.Connections.
func (b *Backend) Ended(connection string) {
	if other, ok := b.other.(amqp.Connections); ok {
		other.Ended(connection)
	}
}

// trimAddress drops what comes before the path in an absolute URI, and slashes.
func trimAddress(address string) string {
	if _, after, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(after, "/")
	}
	return strings.Trim(address, "/")
}

// asCondition makes err one for the wire.
func asCondition(err error) *wire.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	e := messaging.ErrorOf(err)
	return &wire.Error{Condition: wire.Symbol(e.Condition), Description: e.ClientText()}
}

// argumentf refuses what means nothing to the service.
func argumentf(format string, args ...any) error {
	return messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf(format, args...))
}
