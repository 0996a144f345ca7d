package host

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// The lock of the primary host (spec host-and-retry 11.2; sdk:
// PrimaryHostCoordinatorOptions.cs).
const (
	primaryLease = 15 * time.Second
	primaryRenew = primaryLease - 3*time.Second
	primaryRetry = 5 * time.Second
)

// listenAlone runs the listener of a singleton kind while this host has the
// function's lock, again each time that it gets it: among the hosts with one ID,
// one runs the listener (spec host-and-retry 10.5).
func (t *turn) listenAlone() error {
	g := t.gen
	locks := g.Locks()
	if !locks.Shares() {
		return t.run(t.ctx)
	}
	in, err := t.view.Container()
	if err != nil {
		return err
	}
	name := hostlock.ListenerName(g.app.ID, app.FunctionID(t.def.Name))
	lease, retry := locks.Listener()
	return locks.New(in, name, &hostlock.Options{Lease: lease, Retry: retry, Notify: t.lockEvent}).Hold(t.ctx, func(ctx context.Context, held *hostlock.Held) error {
		t.view.Held = held
		return t.run(ctx)
	})
}

// lockEvent tells of a lock that was lost.
func (t *turn) lockEvent(e hostlock.Event, err error) {
	if e == hostlock.Lost {
		t.gen.host.journal.Append(journal.Record{
			Kind: journal.ListenerLockLost, Generation: t.gen.id, Function: t.def.Name, Trigger: t.def.Kind.Type,
			Message: "another host may run it now", Error: err.Error(),
		})
	}
}

// primary is this host's part in the choice of the primary one among those with
// its ID. Nothing that the host does depends on the outcome: on the platform the
// primary host watches the scale of the others. The lock is there for them.
type primary struct {
	cancel context.CancelFunc // nil: takes no part
	group  *clock.Group
}

// campaign takes part from the first generation on, if the app has a storage
// account that others can reach.
func (h *Host) campaign(g *generation) {
	if h.primary.cancel != nil || !g.Locks().Shares() {
		return
	}
	in, err := g.Locks().Container()
	if err != nil {
		return // without storage there is nothing to share
	}
	ctx, cancel := h.clk.WithCancel(h.root)
	h.primary = primary{cancel, clock.NewGroup(h.clk, 0)}
	lock := g.Locks().New(in, fmt.Sprintf("locks/%s/host", g.app.ID), &hostlock.Options{
		Lease: primaryLease, Renew: primaryRenew, Retry: primaryRetry, Patient: true,
	})
	h.primary.group.Go("primary host", func() {
		_ = lock.Keep(ctx, func(bool) {}) // patient: it ends with ctx only
	})
}

// resign gives the lock back.
func (p *primary) resign() {
	if p.cancel != nil {
		p.cancel()
		p.group.Wait()
	}
}
