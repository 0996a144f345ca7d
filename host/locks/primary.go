package locks

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

// Primary is a host's part in the choice of the primary one among those with its ID;
// the zero value takes none. Nothing that the host does depends on the outcome: on the
// platform the primary host watches the scale of the others. The lock is there for them.
type Primary struct {
	cancel context.CancelFunc // nil: takes no part
	group  *clock.Group
}

// Campaign takes part until ctx ends, if the app has a storage account that others can
// reach. Who takes part already goes on as it is.
func (p *Primary) Campaign(ctx context.Context, l *Locks) {
	if p.cancel != nil || !l.Shares() {
		return
	}
	in, err := l.Container()
	if err != nil {
		return // without storage there is nothing to share
	}
	ctx, cancel := l.Clock.WithCancel(ctx)
	*p = Primary{cancel, clock.NewGroup(l.Clock, 0)}
	lock := l.New(in, fmt.Sprintf("locks/%s/host", l.App.ID), &hostlock.Options{
		Lease: primaryLease, Renew: primaryRenew, Retry: primaryRetry, Patient: true,
	})
	p.group.Go("primary host", func() {
		_ = lock.Keep(ctx, func(bool) {}) // patient: it ends with ctx only
	})
}

// Resign gives the lock back.
func (p *Primary) Resign() {
	if p.cancel != nil {
		p.cancel()
		p.group.Wait()
	}
}
