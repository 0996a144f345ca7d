package cosmosdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Place names a container of an account.
type Place struct {
	Account             cosmos.Account
	Database, Container string
}

func (p Place) String() string { return p.Database + "/" + p.Container }

// StartError says that a listener cannot start, or go on, for want of a container:
// the platform's InvalidOperationException. The host tries again.
//
// Source: Trigger/CosmosDBTriggerListener.cs StartAsync.
type StartError struct {
	Monitored, Leases Place
	Err               error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("invalid operation: either the source container %q (in database %q) or the lease container %q (in database %q) does not exist; "+
		"both must exist before the listener starts (createLeaseContainerIfNotExists makes the second): %v",
		e.Monitored.Container, e.Monitored.Database, e.Leases.Container, e.Leases.Database, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// Listener reads the change feed of one container for one function. It implements
// [triggers.Listener].
//
// When Run's context ends no further batch is taken. A batch in work loses its
// token unless this is a drain; without the token it is not checkpointed, even
// if it succeeded, and comes again. Leases are given back at the end.
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
// container does not exist, also later. If it may begin again beside deliveries in work,
// it reads the ranges of these when they have ended.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	w := &working{running: map[string]bool{}, ranges: clock.NewGroup(l.clk, 0)}
	tokens, cancel := l.clk.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	err := l.once(ctx, tokens, sink, w)
	for err != nil && w.busy() && sink.BeginAgain(ctx, err) == nil {
		err = l.once(ctx, tokens, sink, w)
	}
	// A listener that cannot go on finishes what it has begun.
	if w.ranges.Below(ctx, 1) != nil && !sink.Draining() {
		cancel()
	}
	w.ranges.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// once begins, and takes batches until ctx ends or a container is missed. Batches in
// work are not waited for.
func (l *Listener) once(ctx, tokens context.Context, sink triggers.Sink, w *working) error {
	r := &run{Listener: l, working: w, sink: sink, tokens: tokens, told: map[failedPart]string{}}
	err := r.begin(ctx)
	if err == nil {
		taking, stop := l.clk.WithCancel(ctx)
		defer stop()
		r.taking, r.stop = taking, stop
		r.balance()
		err = r.failure()
	}
	if errors.Is(err, bindings.ErrNotFound) {
		return &StartError{l.monitored, l.leases, err}
	}
	return err
}

// begin finds the containers, and makes leases where there are none.
func (r *run) begin(ctx context.Context) error {
	monitored, err := r.monitored.Account.Container(ctx, r.monitored.Database, r.monitored.Container)
	if err != nil {
		return err
	}
	in, err := r.leaseContainer(ctx)
	if err != nil {
		return err
	}
	store, err := openLeases(ctx, monitored, r.monitored.Account.AccountHost(), r.opts.LeasePrefix, in)
	if err != nil {
		return err
	}
	store.clk, store.owner = r.clk, r.opts.Owner
	r.feed, r.store = monitored, store
	return store.initialize(ctx)
}

// leaseContainer returns the lease container, made if that is asked for.
func (l *Listener) leaseContainer(ctx context.Context) (cosmos.Container, error) {
	p := l.leases
	in, err := p.Account.Container(ctx, p.Database, p.Container)
	if !errors.Is(err, bindings.ErrNotFound) || !l.opts.CreateLeaseContainer {
		return in, err
	}
	in, err = p.Account.CreateContainer(ctx, cosmos.ContainerSpec{Database: p.Database, Name: p.Container, PartitionKey: "/id"})
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return p.Account.Container(ctx, p.Database, p.Container)
	}
	return in, err
}

// failedPart is the part of a lease that fails: its document, or else reading the feed
// of its range.
type failedPart struct {
	lease    string
	document bool
}

// working is the work of one Run, from all its starts.
type working struct {
	ranges *clock.Group

	mu      sync.Mutex
	running map[string]bool // ranges that are read here, by the ID of their lease
	batches int             // in work
}

// busy reports whether a batch is in work.
func (w *working) busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.batches > 0
}

func (w *working) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches += n
}

// run is one start of a Run.
type run struct {
	*Listener
	*working
	sink   triggers.Sink
	feed   cosmos.Feed
	store  *leases
	taking context.Context // ends when no more batches are taken
	stop   context.CancelFunc
	tokens context.Context // of deliveries

	told map[failedPart]string // what was told of each; with the lock of working, as err
	err  error
}

// fail ends the run.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.stop()
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
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
	all, err := r.leases()
	if err != nil {
		r.decide(r.store.base, err)
		return
	}
	r.mu.Lock()
	chosen := choose(all, r.opts.Owner, r.running, r.clk.Now(), r.opts.Expiration)
	r.mu.Unlock()
	for _, seen := range chosen {
		taken, err := r.store.acquire(r.taking, seen)
		switch {
		case err == nil:
			r.start(taken)
		case !errors.Is(err, errLeaseLost): // another owner was faster
			r.decide(seen.ID, err)
		}
	}
}

// leases returns the leases. When some are missed, and the document that says that
// they were made is gone too, they are made again. While it is there the platform
// leaves such a range unread, and so does this; but it says so.
func (r *run) leases() ([]*lease, error) {
	for again := false; ; again = true {
		bad := map[string]bool{}
		all, err := r.store.all(r.taking, func(id string, err error) {
			bad[id] = true
			r.tell(failedPart{id, true}, err)
		})
		for _, l := range all {
			r.over(failedPart{l.ID, true})
		}
		if err != nil || len(all)+len(bad) >= len(r.store.ranges) {
			return all, err
		}
		if !again {
			if err := r.store.initialize(r.taking); err != nil {
				return nil, err
			}
			continue
		}
		there := map[string]bool{}
		for _, l := range all {
			there[l.ID] = true
		}
		for _, rng := range r.store.ranges {
			if id := r.store.id(rng.ID); !there[id] && !bad[id] {
				r.tell(failedPart{id, true}, fmt.Errorf("range %q has no lease: leases are made again when the document %q is gone too", rng.ID, r.store.base+".info"))
			}
		}
		return all, nil
	}
}

// decide is about an error that is not of one document: a missed container ends the
// run, everything else may pass.
func (r *run) decide(lease string, err error) {
	switch {
	case r.taking.Err() != nil:
	case errors.Is(err, bindings.ErrNotFound):
		r.fail(err)
	default:
		r.tell(failedPart{lease, false}, err)
	}
}

// tell passes on what fails, once until it is another error or over.
func (r *run) tell(t failedPart, err error) {
	r.mu.Lock()
	again := r.told[t] == err.Error()
	r.told[t] = err.Error()
	r.mu.Unlock()
	if !again {
		r.opts.Notify(t.lease, err)
	}
}

// over says that the part does not fail any more.
func (r *run) over(t failedPart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.told, t)
}

// start reads a range until it is given up.
func (r *run) start(l *lease) {
	r.mu.Lock()
	r.running[l.ID] = true
	r.mu.Unlock()
	r.ranges.Go("range "+l.LeaseToken+" of "+r.monitored.String(), func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.running, l.ID)
		}()
		newPump(r, l).read()
	})
}
