package bus

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Namespace is the served namespace.
type Namespace interface {
	servicebus.Namespace
	servicebus.Admin
	servicebus.Management
	servicebus.Transactions

	// DeleteMessages removes up to n messages of a source that nobody holds and that were
	// enqueued before a time, of one session if it is not nil, and returns how many.
	DeleteMessages(ctx context.Context, source string, session *string, n int, before time.Time) (int, error)
}

// Options changes how a namespace is served. Nil options are the zero value.
type Options struct {
	// RequireClaims refuses links to entities for which the connection has put no
	// token to $cbs, as the service in the cloud does.
	RequireClaims bool

	// CheckToken, if not nil, decides on tokens: an error refuses the claim with
	// status 401. Kind is "servicebus.windows.net:sastoken" or "jwt". Without it every
	// token is believed.
	CheckToken func(audience, kind, token string) error
}

// Backend serves a namespace. It implements amqp.Backend and amqp.Connections.
type Backend struct {
	clk     clock.Clock
	ns      Namespace
	opts    Options
	claims  claims
	holders holders
	pins    *clock.Pins // of open transactions

	transactions transactions
	groups       groups
	links        atomic.Uint64 // that were attached: their numbers in texts
}

// New returns a backend for ns, which lives under clk.
func New(clk clock.Clock, ns Namespace, opts *Options) *Backend {
	b := &Backend{clk: clk, ns: ns, pins: clock.NewPins(clk)}
	if opts != nil {
		b.opts = *opts
	}
	return b
}

// background is the context of calls that are not to be given up.
var background = context.Background()

// inside runs f in the clock.
func (b *Backend) inside(name string, f func() error) (err error) {
	b.clk.Inside("AMQP "+name, func() { err = f() })
	return err
}

// guest is a goroutine of the server that enters the clock often. It is made by the
// goroutine itself: the calls that a node keeps a guest for come from one.
type guest struct{ v *clock.Visitor }

// inside is Backend.inside for that goroutine.
func (g *guest) inside(b *Backend, name string, f func()) {
	if g.v == nil {
		g.v = clock.NewVisitor(b.clk)
	}
	g.v.Inside(name, f)
}

// Attach implements amqp.Backend.
func (b *Backend) Attach(r *amqp.AttachRequest) (*amqp.Grant, error) {
	if r.Coordinator {
		return &amqp.Grant{Node: b.coordinator(place{r.Connection, r.Session})}, nil
	}
	address := trimAddress(r.Address)
	if strings.EqualFold(address, "$cbs") {
		return &amqp.Grant{Node: &cbs{b: b, connection: r.Connection, elsewhere: r.Elsewhere}}, nil
	}
	may, claimed := b.claims.get(r.Connection, address)
	if b.opts.RequireClaims && !claimed {
		return nil, wire.Errorf(wire.CondUnauthorizedAccess, "no claim was put to $cbs for %q", address)
	}
	path, managed, err := parseAddress(address)
	if err != nil {
		return nil, asCondition(err)
	}
	if err := may.attach(r.Role, managed, address); err != nil {
		return nil, err
	}
	at := place{r.Connection, r.Session}
	if err := b.groups.admit(at, path.Entity, r.Role); err != nil && !managed {
		return nil, err
	}
	var grant *amqp.Grant
	err = b.inside("attach", func() (err error) {
		switch {
		case managed:
			grant, err = b.manage(path, at)
		case r.Role == wire.Sender:
			grant, err = b.sender(path, r)
		case r.Filter.Get(nonExclusiveFilter) != nil:
			return wire.Errorf(wire.CondNotImplemented, "non-exclusive sessions are not offered")
		case hasSessionFilter(r.Filter):
			grant, err = b.session(path, r)
		default:
			grant, err = b.receiver(path, r)
		}
		return err
	})
	if err != nil {
		return nil, asCondition(err)
	}
	if !managed {
		b.groups.entered(at, path.Entity)
	}
	return grant, nil
}

// parseAddress reads the address of an entity, or of its $management. A path that
// is not an entity's is not found.
func parseAddress(address string) (path servicebus.Path, managed bool, err error) {
	source, managed := messaging.CutManagement(address)
	path, err = servicebus.ParsePath(source)
	if err != nil {
		missing := messaging.NewEntityNotFound(source)
		missing.Text += ": " + err.Error()
		return path, managed, missing
	}
	return path, managed, nil
}

// Ended implements amqp.Connections.
func (b *Backend) Ended(connection string) { b.claims.forget(connection) }

// trimAddress drops what comes before the path in an absolute URI, and slashes.
func trimAddress(address string) string {
	if _, after, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(after, "/")
	}
	return strings.Trim(address, "/")
}

// entity is the entity of a path, as far as a server has to know it.
type entity struct {
	topic      bool
	maxMessage int // bytes
	status     servicebus.Status
}

// find looks a queue or topic up. Where entities are created on use, the namespace
// does that when it is asked to receive, send or peek.
func (b *Backend) find(name string) (*entity, error) {
	q, err := b.ns.GetQueue(background, name)
	if err == nil {
		return &entity{maxMessage: q.MaxMessageSizeInKilobytes << 10, status: q.Status}, nil
	}
	if !errors.Is(err, bindings.ErrNotFound) {
		return nil, err
	}
	t, err := b.ns.GetTopic(background, name)
	if err == nil {
		return &entity{topic: true, maxMessage: t.MaxMessageSizeInKilobytes << 10, status: t.Status}, nil
	}
	return nil, err
}

// IsEntity reports whether there is a queue or a topic of that name.
func (b *Backend) IsEntity(name string) bool {
	return b.inside("look up", func() error { _, err := b.find(name); return err }) == nil
}

// findOrUse looks a queue or topic up, after giving the namespace the occasion to
// create it.
func (b *Backend) findOrUse(name string) (*entity, error) {
	e, err := b.find(name)
	if errors.Is(err, bindings.ErrNotFound) {
		if _, err := b.ns.Peek(background, name, nil, 0, 1); err == nil {
			return b.find(name)
		}
		return nil, messaging.NewEntityNotFound(name)
	}
	return e, err
}

// exists fails if there is no such entity, after giving the namespace the occasion to
// create it.
func (b *Backend) exists(path servicebus.Path) error {
	if path.Subscription == "" {
		_, err := b.findOrUse(path.Entity)
		return err
	}
	_, err := b.ns.GetSubscription(background, path.Entity, path.Subscription)
	if errors.Is(err, bindings.ErrNotFound) {
		_, err = b.ns.Peek(background, path.Main().String(), nil, 0, 1)
	}
	return err
}

// manage is the node of an entity's $management.
func (b *Backend) manage(path servicebus.Path, at place) (*amqp.Grant, error) {
	if err := b.exists(path); err != nil {
		return nil, err
	}
	largest := amqp.DefaultMaxMessageSize
	if e, err := b.find(path.Entity); err == nil {
		largest = max(largest, e.maxMessage)
	}
	// A message has more when it is peeked than when it was sent.
	largest += 64 << 10
	return &amqp.Grant{
		Node:           &management{b: b, path: path, source: path.String(), at: at},
		MaxMessageSize: uint64(largest),
	}, nil
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

func quote(s string) string { return "\"" + s + "\"" }
