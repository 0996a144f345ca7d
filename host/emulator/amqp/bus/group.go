package bus

import (
	"strings"
	"sync"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// groups knows the sessions of connections whose links are to share transactions: a client
// says so by a coordinator that comes before the links. The first entity that such a session
// reaches is the one that its transactions go through, and the only one from which it
// receives: what is sent to others goes by way of it.
//
// Source: azure-sdk-for-net: AmqpConnectionScope.cs (when the controller is opened),
// TransactionLiveTests.TransactionGroupSendsFirst.
type groups struct {
	mu sync.Mutex
	by map[place]*group
}

type group struct {
	coordinators int
	via          string // empty until a link is attached
}

func (g *groups) open(at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by == nil {
		g.by = map[place]*group{}
	}
	if g.by[at] == nil {
		g.by[at] = &group{}
	}
	g.by[at].coordinators++
}

func (g *groups) close(at place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by[at].coordinators--; g.by[at].coordinators == 0 {
		delete(g.by, at)
	}
}

// via is the entity that the transactions of a session go through; empty when there is none
// yet, or no group.
func (g *groups) via(at place) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.by[at]; own != nil {
		return own.via
	}
	return ""
}

// admit lets a link to an entity into its session, or says why not.
func (g *groups) admit(at place, entity string, role wire.Role) error {
	via := g.via(at)
	if via == "" || role == wire.Sender || strings.EqualFold(via, entity) {
		return nil
	}
	return wire.Errorf(wire.CondNotAllowed, "nothing can be received from %q in this session: its transactions go through %q, which was used first, and receive from there only", entity, via)
}

// entered notes that a session has a link to an entity.
func (g *groups) entered(at place, entity string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if own := g.by[at]; own != nil && own.via == "" {
		own.via = entity
	}
}
