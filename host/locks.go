package host

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// The lock of the primary host (spec host-and-retry 11.2; sdk:
// PrimaryHostCoordinatorOptions.cs).
const (
	primaryLease = 15 * time.Second
	primaryRenew = primaryLease - 3*time.Second
	primaryRetry = 5 * time.Second
)

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
