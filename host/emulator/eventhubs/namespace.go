package eventhubs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// MaxRetention bounds the retention of a hub (docs: Event Hubs quotas).
const MaxRetention = 90 * 24 * time.Hour

// DefaultName is the namespace's own name when Options give none.
const DefaultName = "localhost"

// Options changes how a namespace behaves. The zero value is good for use.
type Options struct {
	// Name is the fully qualified name; empty for DefaultName.
	Name string

	// Record is told what came in: enqueued, with Source "hub/Partitions/0". It is called
	// without locks held, after the state has changed.
	Record func(journal.Record)

	// Fault is asked twice in every operation, before and after the effect, and its
	// error is the operation's result. It may wait.
	Fault func(FaultPoint) error
}

// FaultPoint is a moment at which an operation can be made to fail.
type FaultPoint struct {
	Op    string // the method's name: "SendEvents", "ReadEvents", "Receive", ...
	Hub   string // as the caller named it
	After bool   // the operation has taken effect
}

// Hub describes a hub as it is created.
type Hub struct {
	Name       string
	Partitions int           // 0: eventhubs.DefaultPartitions
	Retention  time.Duration // of events; 0: eventhubs.DefaultRetention

	// ConsumerGroups that may read, beside $Default, which every hub has. Case does
	// not count; others are not found.
	ConsumerGroups []string
}

// Namespace is one Event Hubs namespace, empty when new. All methods may be called
// concurrently; on a virtual clock, from inside the clock. It embeds its state as a
// whole, which [keep.State] copies, replaces and checks.
type Namespace struct {
	*keep.State[map[string]*hub]

	clk  clock.Clock
	opts Options

	mu     sync.Mutex
	kept   *keep.Keeper
	create bool            // hubs that are used and not there
	hubs   map[string]*hub // by name in lower case
}

var _ eventhubs.Namespace = (*Namespace)(nil)

// hub is one hub. Guarded by the namespace's mutex.
type hub struct {
	Hub
	created    time.Time
	partitions []*partition
	next       int   // partition that gets the next unassigned events
	gone       error // why it can no longer be used
}

// New returns an empty namespace that takes its time from clk.
func New(clk clock.Clock, opts *Options) *Namespace {
	ns := &Namespace{clk: clk, hubs: map[string]*hub{}}
	if opts != nil {
		ns.opts = *opts
	}
	ns.opts.Name = cmp.Or(ns.opts.Name, DefaultName)
	ns.State, ns.kept = keep.New(clk, &ns.mu, ns.kind())
	return ns
}

// FullyQualifiedNamespace implements eventhubs.Namespace.
func (ns *Namespace) FullyQualifiedNamespace() string { return ns.opts.Name }

// CreateHub makes a hub. It fails with ErrAlreadyExists, ErrInvalidArgument (a name) and
// ErrOutOfRange.
func (ns *Namespace) CreateHub(ctx context.Context, h Hub) error {
	h.Partitions, h.Retention = cmp.Or(h.Partitions, eventhubs.DefaultPartitions), cmp.Or(h.Retention, eventhubs.DefaultRetention)
	if err := eventhubs.CheckName(h.Name); err != nil {
		return err
	}
	var err error
	if h.ConsumerGroups, err = groupsOf(h); err != nil {
		return err
	}
	switch {
	case h.Partitions < 1 || h.Partitions > eventhubs.MaxPartitions:
		return refuse(messaging.ConditionArgumentOutOfRange, "event hub %q: %d partitions: want 1 to %d", h.Name, h.Partitions, eventhubs.MaxPartitions)
	case h.Retention < 0 || h.Retention > MaxRetention:
		return refuse(messaging.ConditionArgumentOutOfRange, "event hub %q: retention %s: want up to %s", h.Name, h.Retention, MaxRetention)
	}
	return ns.operate(ctx, FaultPoint{Op: "CreateHub", Hub: h.Name}, func(op *operation) error {
		if ns.hubs[strings.ToLower(h.Name)] != nil {
			return refuse(messaging.ConditionEntityAlreadyExists, "the event hub %q exists already", h.Name)
		}
		made := ns.newHub(h, op.now)
		ns.hubs[strings.ToLower(h.Name)] = made
		op.saveHub(made)
		return nil
	})
}

func (ns *Namespace) newHub(h Hub, created time.Time) *hub {
	made := &hub{Hub: h, created: created}
	for i := range h.Partitions {
		made.partitions = append(made.partitions, newPartition(ns, made, i))
	}
	return made
}

// DeleteHub removes a hub with its events. Its readers fail with ErrNotFound.
func (ns *Namespace) DeleteHub(ctx context.Context, name string) error {
	return ns.operate(ctx, FaultPoint{Op: "DeleteHub", Hub: name}, func(op *operation) error {
		h, err := ns.find(name)
		if err != nil {
			return err
		}
		delete(ns.hubs, strings.ToLower(name))
		h.end(notFound(name))
		op.dropHub(h)
		return nil
	})
}

// Hubs returns the hubs by name.
func (ns *Namespace) Hubs(ctx context.Context) ([]Hub, error) {
	var out []Hub
	err := ns.operate(ctx, FaultPoint{Op: "Hubs"}, func(*operation) error {
		for _, key := range slices.Sorted(maps.Keys(ns.hubs)) {
			out = append(out, ns.hubs[key].settings())
		}
		return nil
	})
	return out, err
}

// Settings returns a hub as it is, ErrNotFound if there is none.
func (ns *Namespace) Settings(ctx context.Context, name string) (out Hub, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Settings", Hub: name}, func(*operation) error {
		h, err := ns.find(name)
		if err == nil {
			out = h.settings()
		}
		return err
	})
	return out, err
}

func (h *hub) settings() Hub {
	out := h.Hub
	out.ConsumerGroups = slices.Clone(h.ConsumerGroups)
	return out
}

// Hub implements eventhubs.Namespace.
func (ns *Namespace) Hub(ctx context.Context, name string) (*eventhubs.Properties, error) {
	var out *eventhubs.Properties
	err := ns.operate(ctx, FaultPoint{Op: "Hub", Hub: name}, func(*operation) error {
		h, err := ns.find(name)
		if err != nil {
			return err
		}
		out = &eventhubs.Properties{Name: h.Name, CreatedAt: h.created}
		for _, p := range h.partitions {
			out.Partitions = append(out.Partitions, p.id)
		}
		return nil
	})
	return out, err
}

// Partition implements eventhubs.Namespace.
func (ns *Namespace) Partition(ctx context.Context, hub, partition string) (*eventhubs.Partition, error) {
	var out *eventhubs.Partition
	err := ns.operate(ctx, FaultPoint{Op: "Partition", Hub: hub}, func(op *operation) error {
		p, err := ns.partition(hub, partition)
		if err != nil {
			return err
		}
		p.trim(op)
		out = p.describe()
		return nil
	})
	return out, err
}

// Has reports whether there is a hub of that name.
func (ns *Namespace) Has(name string) bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.kept.Ready() == nil && ns.hubs[strings.ToLower(name)] != nil
}

// Reset removes everything, so that the namespace is as New made it.
func (ns *Namespace) Reset() error {
	err := ns.operate(context.Background(), FaultPoint{Op: "Reset"}, func(op *operation) error {
		for _, key := range slices.Sorted(maps.Keys(ns.hubs)) {
			h := ns.hubs[key]
			h.end(notFound(h.Name))
			op.dropHub(h)
		}
		clear(ns.hubs)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reset the Event Hubs namespace: %w", err)
	}
	return nil
}

// Clear removes all events, and starts their numbers again. Hubs stay, and readers go
// on.
func (ns *Namespace) Clear() error {
	err := ns.operate(context.Background(), FaultPoint{Op: "Clear"}, func(op *operation) error {
		for _, key := range slices.Sorted(maps.Keys(ns.hubs)) {
			h := ns.hubs[key]
			op.dropHub(h)
			op.saveHub(h)
			h.next = 0
			for _, p := range h.partitions {
				p.events, p.next, p.offset, p.lastOffset, p.lastTime = nil, 0, 0, noOffset, time.Time{}
				for _, r := range p.readers {
					r.next = 0
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("empty the Event Hubs namespace: %w", err)
	}
	return nil
}

// find looks a hub up.
func (ns *Namespace) find(name string) (*hub, error) {
	if h := ns.hubs[strings.ToLower(name)]; h != nil {
		return h, nil
	}
	return nil, notFound(name)
}

// partition looks a partition up by its ID.
func (ns *Namespace) partition(name, id string) (*partition, error) {
	h, err := ns.find(name)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(id)
	if err != nil || n < 0 || n >= len(h.partitions) || h.partitions[n].id != id {
		return nil, refuse(messaging.ConditionArgumentOutOfRange, "the specified partition is invalid for an EventHub partition sender or receiver: %q of event hub %q, which has 0 to %d", id, h.Name, len(h.partitions)-1)
	}
	return h.partitions[n], nil
}

// end makes everybody who uses the hub fail.
func (h *hub) end(why error) {
	h.gone = why
	for _, p := range h.partitions {
		p.arrived.Broadcast()
	}
}

// now returns the time as it is stored: in UTC, comparable as a plain value.
func (ns *Namespace) now() time.Time { return ns.clk.Now().UTC().Round(0) }

// operation is one turn with the lock held: its news for others, told once the
// lock is released, and its writes, made before that.
type operation struct {
	change
	ns      *Namespace
	now     time.Time
	records []journal.Record
}

// begin starts an operation; the lock is held until finish.
func (ns *Namespace) begin() (*operation, error) {
	ns.mu.Lock()
	return &operation{ns: ns, now: ns.now(), change: change{ns.kept.Change()}}, ns.kept.Ready()
}

// finish releases the lock, waits until the change is written and tells.
func (op *operation) finish(ctx context.Context) error {
	ns := op.ns
	commit, err := ns.kept.Begin(&op.Change)
	ns.mu.Unlock()
	if waitErr := ns.kept.Wait(ctx, commit); err == nil {
		err = waitErr
	}
	if err == nil && ns.opts.Record != nil {
		for i := range op.records {
			ns.opts.Record(op.records[i])
		}
	}
	return err
}

// reads are the operations that change nothing but what time has changed.
var reads = map[string]bool{"Hubs": true, "Settings": true, "Hub": true, "Partition": true} // read only

// operate runs f with the lock held, between the fault points. Changes of a failing
// function stay: functions fail first.
func (ns *Namespace) operate(ctx context.Context, p FaultPoint, f func(op *operation) error) error {
	return ns.kept.Operate(ctx, p.Op == "SendEvents", func(after bool) error { p.After = after; return ns.fault(p) }, func() error {
		op, err := ns.begin()
		if err == nil {
			err = f(op)
		}
		if finishErr := op.finish(ctx); finishErr != nil && !(reads[p.Op] && keep.Tolerable(finishErr)) {
			err = finishErr // what the operation has seen did not last
		}
		return err
	})
}

func (ns *Namespace) fault(p FaultPoint) error {
	if ns.opts.Fault == nil {
		return nil
	}
	return ns.opts.Fault(p)
}

// refuse is a failure that the service reports.
func refuse(c messaging.Condition, format string, args ...any) error {
	return messaging.NewError(c, fmt.Sprintf(format, args...))
}

func notFound(name string) error { return messaging.NewEntityNotFound(name) }
