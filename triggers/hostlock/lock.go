package hostlock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
)

// Container is where the platform keeps its locks, in the host's account.
const Container = "azure-webjobs-hosts"

// outage is how long a service that does not answer is left alone.
const outage = 5 * time.Second

// releaseTime is how long the end of a host waits for a service that does not answer.
const releaseTime = 3 * time.Second

// ListenerLease is the lease of a listener's lock.
const ListenerLease = 60 * time.Second

// ListenerName is the name of the blob that locks a listener: name is the full
// name of its function, or what the listener is about.
func ListenerName(hostID, name string) string {
	return "locks/" + hostID + "/" + name + ".Listener"
}

// Options change how a lock is kept. The zero Options, like nil, are right for a
// listener.
type Options struct {
	// Lease is how long the lock outlives a host that dies, 15 s to 60 s. Zero:
	// ListenerLease.
	Lease time.Duration

	// Renew is the time between two renewals, shorter than Lease. Zero: half of
	// Lease.
	Renew time.Duration

	// Retry is the time between two tries for a lock that another host has. Zero:
	// 5 s, which is also the longest wait for a service that is not available.
	Retry time.Duration

	// Owner names the host that has the lock, in the blob's metadata
	// FunctionInstance. Empty: nothing is written.
	Owner string

	// Reclaim takes the lock at once from a holder whose name is Owner: this
	// host, before it was killed. Set it only where no other host can have that
	// name. Otherwise such a lock is waited for, like another host's.
	Reclaim bool

	// Patient keeps trying, every Retry, after every error.
	// Otherwise Hold waits out other hosts and services that are not available,
	// and fails for any other reason.
	Patient bool

	// Notify, if not nil, is told what happens to the lock. It must not block.
	Notify func(Event, error)
}

// Event is a change of a lock.
type Event string

// The events. An error comes with Refused, if it is not simply another host's
// lock, and with Lost.
const (
	Acquired Event = "lock acquired"
	Refused  Event = "lock not acquired"
	Lost     Event = "lock lost"
	Released Event = "lock released"
)

// Lock is one lock, as one host sees it. It may be held once at a time.
type Lock struct {
	clk  clock.Clock
	in   blob.Container
	blob blob.Blob
	name string
	opts Options
}

// New returns the lock on the blob of that name. Container and blob are made
// when they are missed. Nothing is sent before Hold.
func New(clk clock.Clock, in blob.Container, name string, opts *Options) *Lock {
	l := &Lock{clk: clk, in: in, blob: in.Blob(name), name: name}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Lease == 0 {
		l.opts.Lease = ListenerLease
	}
	if l.opts.Renew == 0 {
		l.opts.Renew = l.opts.Lease / 2
	}
	if l.opts.Retry == 0 {
		l.opts.Retry = outage
	}
	if l.opts.Notify == nil {
		l.opts.Notify = func(Event, error) {}
	}
	return l
}

// Hold waits until the lock is free, runs f while this host has it, and gives it
// back. It returns what f returns, nil when ctx ends before the lock is had, or
// the reason why it cannot be had.
//
// The context of f ends with ctx, and when the lock is lost; f returns when its
// work is done, and until then the lock is renewed. After a loss Hold starts
// over, also when f succeeded. Before work that two hosts must not do f asks
// [Held.Sure], since a process that has slept learns too late of a loss.
func (l *Lock) Hold(ctx context.Context, f func(ctx context.Context, held *Held) error) error {
	for {
		held, err := l.wait(ctx)
		if held == nil {
			return err
		}
		l.opts.Notify(Acquired, nil)
		lost, err := l.run(ctx, held, f)
		if lost == nil {
			l.release(context.WithoutCancel(ctx), held)
			l.opts.Notify(Released, nil)
			return err
		}
		l.opts.Notify(Lost, lost)
		if ctx.Err() != nil {
			return err
		}
	}
}

// release gives the lock back; without it the next host would wait for the end of the
// lease. A service that does not answer holds up the end of a host no longer than
// releaseTime.
func (l *Lock) release(ctx context.Context, held *Held) {
	ctx, cancel := l.clk.WithTimeout(ctx, releaseTime)
	defer cancel()
	_, _ = l.blob.ReleaseLease(ctx, held.id, nil)
}

// Keep takes the lock whenever it is to be had, until ctx ends, and tells held
// each time that it comes or goes. It fails as Hold does.
func (l *Lock) Keep(ctx context.Context, held func(bool)) error {
	return l.Hold(ctx, func(ctx context.Context, _ *Held) error {
		held(true)
		defer held(false)
		for l.clk.Idle(ctx, time.Hour) == nil { // for as long as it takes
		}
		return nil
	})
}

// wait returns the lock, or none when ctx ends or there is no use in waiting. Time
// does not jump for the wait.
func (l *Lock) wait(ctx context.Context) (*Held, error) {
	refused := false
	for ctx.Err() == nil {
		now := l.clk.Now()
		id, err := l.acquire(ctx, "")
		mine := errors.Is(err, storage.ErrLeaseHeld) && l.isMine(ctx)
		if mine && l.opts.Reclaim && l.breakLease(ctx) {
			now = l.clk.Now()
			id, err = l.acquire(ctx, "")
		}
		if err == nil {
			return l.held(id, now.Add(l.opts.Lease)), nil
		}
		if ctx.Err() != nil {
			break
		}
		held := errors.Is(err, storage.ErrLeaseHeld)
		passing := held || errors.Is(err, bindings.ErrUnavailable) || errors.Is(err, bindings.ErrBeingDeleted)
		if !passing && !l.opts.Patient {
			return nil, fmt.Errorf("lock %q: %w", l.name, err)
		}
		if held {
			err = nil
		}
		if !refused || err != nil {
			l.opts.Notify(Refused, err)
		}
		refused = true
		pause := l.opts.Retry
		if !held || mine { // what this host itself is about to give back is free soon
			pause = min(pause, outage)
		}
		if l.clk.Idle(ctx, pause) != nil {
			break
		}
	}
	return nil, nil
}

// run runs f while it renews the lease. It returns why the lock was lost, and
// what f returned.
func (l *Lock) run(ctx context.Context, held *Held, f func(context.Context, *Held) error) (lost, err error) {
	ctx, release := l.clk.WithCancel(ctx)
	defer release()
	renewing, stop := l.clk.WithCancel(context.WithoutCancel(ctx))
	group := clock.NewGroup(l.clk, 0)
	group.Go("renewal of "+l.name, func() {
		if lost = l.renew(renewing, held); lost != nil {
			held.end()
			release()
		}
	})
	err = f(ctx, held)
	stop()
	group.Wait()
	return lost, err
}

// shortestRenewal is the time to the next renewal after one that failed, at
// least.
const shortestRenewal = time.Second

// renew renews the lease until ctx ends, and then returns nil, or until the lease
// is lost, and then says why. A fault of the service is tried again, sooner, for
// as long as the lease lasts.
func (l *Lock) renew(ctx context.Context, held *Held) error {
	wait := l.opts.Renew
	for l.clk.Idle(ctx, wait) == nil {
		now := l.clk.Now()
		_, err := l.blob.RenewLease(ctx, held.id, nil)
		if errors.Is(err, storage.ErrLeaseLost) || errors.Is(err, bindings.ErrNotFound) {
			// It is over, but another host need not have been faster.
			_, err = l.acquire(ctx, held.id)
		}
		switch left := held.left(); {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			held.extend(now.Add(l.opts.Lease))
			wait = l.opts.Renew
			if held.left() <= 0 { // the answer came too late to say anything
				wait = 0
			}
		case errors.Is(err, storage.ErrLeaseHeld), left <= 0:
			return err
		default:
			wait = min(max(left/2, shortestRenewal), left)
		}
	}
	return nil
}

// acquire takes the lease, on a blob that is made if need be. An identifier
// that is given is proposed; else the service chooses one, because identifiers
// that hosts make up from equal seeds would be equal.
func (l *Lock) acquire(ctx context.Context, proposed string) (id string, err error) {
	for range 3 {
		lease, err := l.blob.AcquireLease(ctx, l.opts.Lease, proposed, nil)
		switch {
		case err == nil:
			l.sign(ctx, lease.ID)
			return lease.ID, nil
		case errors.Is(err, storage.ErrContainerNotFound):
			_, err = l.in.Create(ctx, nil)
		case errors.Is(err, bindings.ErrNotFound):
			_, err = l.blob.Put(ctx, bytes.NewReader(nil), &blob.PutOptions{
				Conditions: &blob.Conditions{IfNoneMatch: "*"},
			})
		default:
			return "", err
		}
		if err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
			return "", err
		}
	}
	return "", bindings.ErrUnavailable
}

// isMine reports whether the lock bears the name of this host: its last listener
// has not given it back yet, or it is left over from a former life.
func (l *Lock) isMine(ctx context.Context) bool {
	if l.opts.Owner == "" {
		return false
	}
	p, err := l.blob.Properties(ctx, nil)
	if err != nil {
		return false
	}
	for name, value := range p.Metadata {
		if strings.EqualFold(name, ownerKey) && value == l.opts.Owner {
			return true
		}
	}
	return false
}

// breakLease ends a lease at once, and reports whether it did.
func (l *Lock) breakLease(ctx context.Context) bool {
	now := time.Duration(0)
	_, err := l.blob.BreakLease(ctx, &now, nil)
	return err == nil
}

// ownerKey is the metadata that names the host that has a lock.
const ownerKey = "FunctionInstance"

// sign writes the lock's owner. The lock does not depend on it.
func (l *Lock) sign(ctx context.Context, id string) {
	if l.opts.Owner != "" {
		_, _ = l.blob.SetMetadata(ctx, map[string]string{ownerKey: l.opts.Owner}, &blob.Conditions{LeaseID: id})
	}
}
