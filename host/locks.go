package host

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/hostlock"
)

// The lock of the primary host (host-and-retry 11.2; sdk:
// PrimaryHostCoordinatorOptions.cs).
const (
	primaryLease = 15 * time.Second
	primaryRenew = primaryLease - 3*time.Second
	primaryRetry = 5 * time.Second
)

// hostContainer is the container of the host's own account in which it keeps
// locks and the status of timers.
func (g *generation) hostContainer() (bindings.Container, error) {
	conn, ok := g.app.Settings.Connection("Storage")
	if !ok {
		return nil, app.MissingConnection("Storage")
	}
	blobs, err := g.host.services.Blobs(conn)
	if err != nil {
		return nil, err
	}
	return blobs.Container(hostlock.Container), nil
}

// lock returns a lock that this host shares with those that have its ID. What
// happens to it is no news: it goes to the log, for those who look for it.
func (h *Host) lock(in bindings.Container, name string, opts *hostlock.Options) *hostlock.Lock {
	opts.Owner = h.opts.Instance
	opts.Notify = func(e hostlock.Event, err error) {
		h.log.Debug().Str("component", "locks").Str("lock", name).Err(err).Msg(string(e))
	}
	return hostlock.New(h.clk, in, name, opts)
}

// runAlone runs the listener of a singleton kind while this host has the
// function's lock, again each time that it gets it: among the hosts with one ID,
// one runs the listener (host-and-retry 10.5).
func (g *generation) runAlone(f *function, listen func() (triggers.Listener, error)) error {
	in, err := g.hostContainer()
	if err != nil {
		return err
	}
	lock := g.host.lock(in, hostlock.ListenerName(g.app.ID, app.FunctionID(f.def.Name)), &hostlock.Options{})
	return lock.Hold(g.listening, func(ctx context.Context) error {
		l, err := listen()
		if err != nil {
			return err
		}
		return l.Run(ctx, f)
	})
}

// primary is this host's part in the choice of the primary one among those with
// its ID. Nothing that the host does depends on the outcome: on the platform the
// primary host watches the scale of the others. The lock is there for them.
type primary struct {
	cancel context.CancelFunc // nil: takes no part
	group  *clock.Group
}

// campaign takes part from the first generation on, if the app has a storage
// account.
func (h *Host) campaign(g *generation) {
	if h.primary.cancel != nil {
		return
	}
	in, err := g.hostContainer()
	if err != nil {
		return // without storage there is nothing to share
	}
	ctx, cancel := h.clk.WithCancel(h.root)
	h.primary = primary{cancel, clock.NewGroup(h.clk, 0)}
	lock := h.lock(in, fmt.Sprintf("locks/%s/host", g.app.ID), &hostlock.Options{
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
