package cosmosdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Place names a container of an account.
type Place struct {
	Account             bindings.Cosmos
	Database, Container string
}

func (p Place) String() string { return p.Database + "/" + p.Container }

// StartError says that a listener cannot start, or go on, for want of a container.
// The host tries again.
type StartError struct {
	Monitored, Leases Place
	Err               error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("the change feed cannot be read: container %q of database %q and the lease container %q of database %q must both exist "+
		"(createLeaseContainerIfNotExists makes the second): %v",
		e.Monitored.Container, e.Monitored.Database, e.Leases.Container, e.Leases.Database, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Listener reads the change feed of one container for one function. It implements
// [triggers.Listener].
//
// When Run's context ends no further batch is taken. A batch in work loses its
// token unless this is a drain; without the token it is not checkpointed, whatever
// came of it, and comes again. Leases are given back at the end.
type Listener struct {
	clk       clock.Clock
	monitored Place
	leases    Place
	opts      Options
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener for a container that keeps its leases in another one. Nil
// opts are the zero Options.
func New(clk clock.Clock, monitored, leases Place, opts *Options) *Listener {
	return &Listener{clk: clk, monitored: monitored, leases: leases, opts: opts.withDefaults()}
}

// Run implements [triggers.Listener]. It fails with a [*StartError] when a
// container does not exist, also later.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	err := l.run(ctx, sink)
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, bindings.ErrNotFound) {
		return &StartError{l.monitored, l.leases, err}
	}
	return err
}

func (l *Listener) run(ctx context.Context, sink triggers.Sink) error {
	monitored, err := l.monitored.Account.Container(ctx, l.monitored.Database, l.monitored.Container)
	if err != nil {
		return err
	}
	in, err := l.leaseContainer(ctx)
	if err != nil {
		return err
	}
	store := &leases{clk: l.clk, in: in, owner: l.opts.Owner,
		base: leaseBase(l.opts.LeasePrefix, l.monitored.Account.AccountHost(), monitored.Info())}
	if err := store.initialize(ctx, monitored); err != nil {
		return err
	}
	r := &run{Listener: l, sink: sink, feed: monitored, store: store, running: map[string]bool{}, work: clock.NewGroup(l.clk, 0)}
	taking, stop := l.clk.WithCancel(ctx)
	defer stop()
	r.taking = taking
	var cancel context.CancelFunc
	r.tokens, cancel = l.clk.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r.fail = func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
		stop()
	}
	r.balance()
	// A listener that cannot go on finishes what it has begun.
	if r.work.Below(ctx, 1) != nil && !sink.Draining() {
		cancel()
	}
	r.work.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// leaseContainer returns the lease container, made if that is asked for.
func (l *Listener) leaseContainer(ctx context.Context) (bindings.CosmosContainer, error) {
	p := l.leases
	in, err := p.Account.Container(ctx, p.Database, p.Container)
	if !errors.Is(err, bindings.ErrNotFound) || !l.opts.CreateLeaseContainer {
		return in, err
	}
	in, err = p.Account.CreateContainer(ctx, bindings.CosmosContainerSpec{Database: p.Database, Name: p.Container, PartitionKey: "/id"})
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return p.Account.Container(ctx, p.Database, p.Container)
	}
	return in, err
}

// run is one Run at work.
type run struct {
	*Listener
	sink   triggers.Sink
	feed   bindings.CosmosContainer
	store  *leases
	taking context.Context // ends when no more batches are taken
	tokens context.Context // of deliveries
	work   *clock.Group
	fail   func(error) // ends the run

	mu      sync.Mutex
	running map[string]bool // ranges that are read here
	err     error
}

// balance takes ranges, again every AcquireInterval, until no more are taken.
func (r *run) balance() {
	for {
		r.acquire()
		if r.clk.Idle(r.taking, r.opts.AcquireInterval) != nil {
			return
		}
	}
}

// acquire takes the leases that this listener should have.
func (r *run) acquire() {
	all, err := r.store.all(r.taking, r.opts.Notify)
	if err != nil {
		r.trouble(r.store.base, err)
		return
	}
	if len(all) == 0 { // somebody has removed them
		if err := r.store.initialize(r.taking, r.feed); err != nil {
			r.trouble(r.store.base, err)
		}
	}
	r.mu.Lock()
	chosen := choose(all, r.opts.Owner, r.running, r.clk.Now(), r.opts.Expiration)
	r.mu.Unlock()
	for _, seen := range chosen {
		taken, err := r.store.acquire(r.taking, seen)
		switch {
		case err == nil:
			r.start(taken)
		case !errors.Is(err, errLeaseLost): // somebody else was faster
			r.trouble(seen.ID, err)
		}
	}
}

// trouble decides about an error that is not of one range: a missed container ends
// the run, everything else may pass.
func (r *run) trouble(id string, err error) {
	switch {
	case r.taking.Err() != nil:
	case errors.Is(err, bindings.ErrNotFound):
		r.fail(err)
	default:
		r.opts.Notify(id, err)
	}
}

// start reads a range until it is given up.
func (r *run) start(l *lease) {
	r.mu.Lock()
	r.running[l.LeaseToken] = true
	r.mu.Unlock()
	r.work.Go("range "+l.LeaseToken+" of "+r.monitored.String(), func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.running, l.LeaseToken)
		}()
		newWorker(r, l).read()
	})
}
