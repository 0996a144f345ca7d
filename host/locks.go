package host

import (
	"context"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
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

// hostContainer is the container of the host's own account in which it keeps
// locks and the status of timers.
func (g *generation) hostContainer() (blob.Container, error) {
	blobs, err := g.hostBlobs()
	if err != nil {
		return nil, err
	}
	blobs, _ = g.host.embedded.BlobsIn(&g.host.life, blobs)
	return blobs.Container(hostlock.Container), nil
}

func (g *generation) hostBlobs() (blob.Account, error) {
	conn, ok := g.app.Settings.Connection("Storage")
	if !ok {
		return nil, app.MissingConnection("Storage")
	}
	return g.host.connections.Blobs(conn)
}

// shares reports whether another host can reach the account in which this one
// keeps its locks. Nobody can where the account lives in this process and is not
// served: then singletons are enough, and months of virtual time need not pass
// through a renewal every few seconds.
func (g *generation) shares() bool {
	conn, ok := g.app.Settings.Connection("Storage")
	if !ok {
		return false
	}
	ours, served := g.host.connections.Ours(conn)
	return g.host.opts.Shared || !ours || served
}

// reclaims reports whether the locks that bear this host's name are of its former
// life: where the account is its own and was kept, and it was killed; or where they
// came with a state that was loaded.
func (g *generation) reclaims() bool {
	conn, _ := g.app.Settings.Connection("Storage")
	ours, _ := g.host.connections.Ours(conn)
	return ours && (g.host.opts.Store != nil || g.host.epoch.Load().Number > 0)
}

// lock returns a lock that this host shares with those that have its ID. What
// happens to it goes to the log, for those who look for it, and to Notify.
func (g *generation) lock(in blob.Container, name string, opts *hostlock.Options) *hostlock.Lock {
	h := g.host
	opts.Owner, opts.Reclaim = h.opts.Instance, g.reclaims()
	also := opts.Notify
	opts.Notify = func(e hostlock.Event, err error) {
		if also != nil {
			also(e, err)
		}
		h.log.Debug().Str("component", "locks").Str("lock", name).Err(err).Msg(string(e))
	}
	return hostlock.New(h.clk, in, name, opts)
}

// listenerLock returns, from host.json's singleton section, how long the lock of a
// listener outlives a host that dies, in the whole seconds of a lease, and how often
// a host looks whether a lock that another has is free (sdk: SingletonListener.cs).
func (g *generation) listenerLock() (lease, retry time.Duration) {
	conf := g.app.Config.Singleton
	return conf.ListenerLockPeriod.Truncate(time.Second), conf.ListenerLockRecoveryPollingInterval
}

// listenAlone runs the listener of a singleton kind while this host has the
// function's lock, again each time that it gets it: among the hosts with one ID,
// one runs the listener (spec host-and-retry 10.5).
func (t *turn) listenAlone() error {
	g := t.gen
	if !g.shares() {
		return t.run(t.ctx)
	}
	in, err := t.hostContainer()
	if err != nil {
		return err
	}
	name := hostlock.ListenerName(g.app.ID, app.FunctionID(t.def.Name))
	lease, retry := g.listenerLock()
	return g.lock(in, name, &hostlock.Options{Lease: lease, Retry: retry, Notify: t.lockEvent}).Hold(t.ctx, func(ctx context.Context, held *hostlock.Held) error {
		t.held = held
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

// hostContainer is that of the generation as the turn's listener reaches it.
func (t *turn) hostContainer() (blob.Container, error) {
	blobs, err := t.gen.hostBlobs()
	if err != nil {
		return nil, err
	}
	return t.blobAccount(blobs).Container(hostlock.Container), nil
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
	if h.primary.cancel != nil || !g.shares() {
		return
	}
	in, err := g.hostContainer()
	if err != nil {
		return // without storage there is nothing to share
	}
	ctx, cancel := h.clk.WithCancel(h.root)
	h.primary = primary{cancel, clock.NewGroup(h.clk, 0)}
	lock := g.lock(in, fmt.Sprintf("locks/%s/host", g.app.ID), &hostlock.Options{
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
