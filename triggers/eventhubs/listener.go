package eventhubs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Listener watches one hub for one function. It implements [triggers.Listener].
//
// When Run's context ends, or another listener takes a partition,
// no checkpoint is written for deliveries in work: the next reader of the partition
// gets the batch again. They lose their token, unless this is a drain or the state was
// replaced (spec drift-2026 C-11).
type Listener struct {
	clk   clock.Clock
	hubs  eventhubs.Namespace
	hub   string
	store *Store
	opts  Options
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener for a hub, with its checkpoints in a container; see
// [Container]. Nil opts are the zero Options.
func New(clk clock.Clock, hubs eventhubs.Namespace, hub string, checkpoints blob.Container, opts *Options) *Listener {
	l := &Listener{clk: clk, hubs: hubs, hub: hub, opts: opts.withDefaults()}
	l.store = NewStore(checkpoints, hubs.FullyQualifiedNamespace(), hub, l.opts.ConsumerGroup)
	return l
}

// Run implements [triggers.Listener]. It fails when the checkpoints cannot be reached
// at the start, later it tries again; and whenever the hub or the consumer group
// cannot be found: then every partition is lost for now. If it may begin again beside
// deliveries in work, it reads the partitions of these when they have ended.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	r := &run{Listener: l, sink: sink, pumps: map[string]*pump{}, group: clock.NewGroup(l.clk, 0)}
	r.changed = clock.NewCond(l.clk, &r.mu)
	err := r.once(ctx)
	for err != nil && r.busy() && sink.BeginAgain(ctx, err) == nil {
		err = r.once(ctx)
	}
	r.group.Wait()
	r.giveBack(context.WithoutCancel(ctx))
	return err
}

// once begins, and goes on until ctx ends (nil) or the hub is gone. Deliveries in work
// go on to the end of their attempts, without their token unless this is a drain.
func (r *run) once(ctx context.Context) error {
	working, stop := r.clk.WithCancel(ctx)
	defer stop()
	tokens, cancel := r.clk.WithCancel(context.WithoutCancel(ctx))
	r.mu.Lock()
	r.tokens, r.stop, r.gone = tokens, stop, nil
	r.mu.Unlock()
	err := r.begin(working)
	if err == nil {
		r.look(working)
	}
	stop()
	if !r.sink.Draining() {
		cancel()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone != nil {
		err = r.gone
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("event hub %q: %w", r.hub, err)
	}
	return nil
}

// busy reports whether a delivery is in work.
func (r *run) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pumps {
		if p.working {
			return true
		}
	}
	return false
}

// run is one Run at work.
type run struct {
	*Listener
	sink       triggers.Sink
	partitions []string
	group      *clock.Group

	mu      sync.Mutex
	pumps   map[string]*pump // at work, by partition
	changed *clock.Cond      // a pump has ended
	tokens  context.Context  // of deliveries
	gone    error            // the hub or the consumer group is not there: all ends
	stop    context.CancelFunc
}

// begin finds out about the hub, and takes the first partitions.
func (r *run) begin(ctx context.Context) error {
	hub, err := r.hubs.Hub(ctx, r.hub)
	if err != nil {
		return err
	}
	r.partitions = hub.Partitions
	if err := r.store.Prepare(ctx); err != nil {
		return err
	}
	return r.balance(ctx)
}

// look reads the owners of all partitions again and again, until ctx ends. Time
// does not jump for it. A failure is tried again at the next look; until then
// the partitions are read on.
func (r *run) look(ctx context.Context) {
	for ctx.Err() == nil {
		if r.opts.Alone && !r.anyEnded(ctx) {
			return
		}
		if r.clk.Idle(ctx, r.opts.UpdateInterval) != nil {
			return
		}
		_ = r.balance(ctx)
	}
}

// anyEnded waits until a partition is not read any more.
func (r *run) anyEnded(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.pumps) == len(r.partitions) {
		if r.changed.Wait(ctx) != nil {
			return false
		}
	}
	return true
}

// balance renews what this listener has, takes what it should have beside it, and
// reads exactly that.
func (r *run) balance(ctx context.Context) error {
	v, err := r.survey(ctx)
	if err != nil {
		return err
	}
	for _, p := range v.mine() {
		r.claim(ctx, v, p)
	}
	for ctx.Err() == nil {
		p, ok := v.next()
		if !ok || !r.claim(ctx, v, p) || r.opts.Balanced {
			break
		}
	}
	mine := v.mine()
	for _, p := range mine {
		r.start(ctx, p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.partitions {
		if pump := r.pumps[p]; pump != nil && !slices.Contains(mine, p) {
			pump.cancel()
			pump.recall.End()
		}
	}
	return nil
}

// survey reads the owners of all partitions.
func (r *run) survey(ctx context.Context) (*view, error) {
	list, err := r.store.Ownerships(ctx)
	if errors.Is(err, storage.ErrContainerNotFound) {
		err = r.store.Prepare(ctx) // it was removed: no partition has an owner
	}
	if err != nil {
		return nil, err
	}
	v := &view{
		partitions: r.partitions, owned: map[string]Ownership{}, me: r.opts.Owner,
		// Times of blobs are whole seconds, cut off.
		expired: r.clk.Now().Add(-r.opts.OwnershipExpiration).Truncate(time.Second),
	}
	for _, p := range r.partitions {
		v.owned[p] = Ownership{Partition: p}
	}
	for _, o := range list {
		if _, ok := v.owned[o.Partition]; ok {
			v.owned[o.Partition] = o
		}
	}
	if !r.opts.Alone {
		return v, nil
	}
	for _, p := range r.partitions { // the owner is gone
		if o := v.owned[p]; o.Owner != r.opts.Owner {
			o.Owner = ""
			v.owned[p] = o
		}
	}
	return v, nil
}

// claim takes or renews a partition; false: another owner was faster, or the store
// failed.
func (r *run) claim(ctx context.Context, v *view, partition string) bool {
	o, err := r.store.Claim(ctx, v.owned[partition], r.opts.Owner)
	if err != nil {
		o.Owner = "somebody else"
		if !lostRace(err) && v.owned[partition].Owner == r.opts.Owner {
			return false // ours as far as anybody knows, until it expires
		}
	}
	v.owned[partition] = o
	return err == nil
}

// start reads a partition, if it is not read already.
func (r *run) start(ctx context.Context, partition string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pumps[partition] != nil {
		return
	}
	p := &pump{run: r, partition: partition, source: eventhubs.Source(r.hub, r.opts.ConsumerGroup, partition)}
	var stop, cut context.CancelFunc
	p.ctx, stop = r.clk.WithCancel(ctx)
	p.token, cut = r.clk.WithCancel(r.tokens)
	p.cancel = func() {
		stop()
		cut()
	}
	r.pumps[partition] = p
	r.group.Go("partition "+p.source, func() {
		r.ended(p, p.read())
	})
}

// ended takes a pump away. A partition that ends early is tried again at the next
// look, from its checkpoint. Only when there is nothing to read any more do all
// partitions report it, once.
func (r *run) ended(p *pump, err error) {
	lost := p.ctx.Err() != nil
	p.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	_, refused := errors.AsType[*messaging.Error](err)
	switch {
	case lost || err == nil || p.reading && errors.Is(err, messaging.ErrReaderStolen): // as it should be
	case refused && errors.Is(err, bindings.ErrNotFound):
		r.gone = err
		r.stop()
	default:
		p.notify("a partition cannot be read and will be tried again", err)
	}
	delete(r.pumps, p.partition)
	r.changed.Broadcast()
}

// giveBack lets others have this listener's partitions at once.
func (r *run) giveBack(ctx context.Context) {
	if r.partitions == nil {
		return
	}
	v, err := r.survey(ctx)
	if err != nil {
		return // they expire
	}
	for _, p := range slices.Sorted(maps.Keys(v.owned)) {
		if o := v.owned[p]; o.Owner == r.opts.Owner {
			_, _ = r.store.Claim(ctx, o, "")
		}
	}
}
