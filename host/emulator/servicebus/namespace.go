package servicebus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Options changes how a namespace behaves. The zero value is good for use.
type Options struct {
	// Seed decides lock tokens and the identifiers of messages that come without.
	Seed uint64

	// Record is told what the namespace decided: enqueued (Status "scheduled" for a
	// message that waits for its time, "duplicate" for one that duplicate detection
	// dropped), expired, lock_expired, lock_renewed, dead_lettered and forwarded
	// (Target: where to; Cause: the reason), and for clients over the network,
	// which have no listener to report it, received and settled. Source is the
	// entity's path. DeliveryCount counts from 1; of a message that was never
	// received it is 0. It is called without locks held, after the state has
	// changed.
	Record func(journal.Record)

	// Fault is asked twice in every operation, and its error is the operation's
	// result: before, so that nothing happens, and after the effect, so that the
	// caller does not learn of it. It may wait. A Receive asks for the second time
	// when it has messages or gives up.
	Fault func(FaultPoint) error

	Switches // until Configure gives others
}

// FaultPoint is a moment at which an operation can be made to fail.
type FaultPoint struct {
	Op        string // the method's name: "Send", "Receive", "Complete", ...
	Entity    string // the path as the caller named it
	MessageID string // of settlements by receivers
	After     bool   // the operation has taken effect
}

// Namespace is one Service Bus namespace, empty when new. All methods may be
// called concurrently; on a virtual clock, from inside the clock.
//
// It implements servicebus.Namespace, servicebus.Admin and
// servicebus.Management, and its receivers servicebus.Link. It embeds its
// state as a whole, which [keep.State] copies, replaces and checks.
type Namespace struct {
	*keep.State[*state]

	clk  clock.Clock
	opts Options
	pins *clock.Pins // of locks of clients in real time

	mu   sync.Mutex
	kept *keep.Keeper
	state
	claims map[bindings.GUID]*transaction // of locked messages, by token

	open      []*transaction   // by age
	openBytes int              // of the messages that they hold
	untold    []journal.Record // of transactions that ended with a former state
}

// state is what a store holds of a namespace.
type state struct {
	topology
	ids seeded.Series
}

var (
	_ servicebus.Namespace  = (*Namespace)(nil)
	_ servicebus.Admin      = (*Namespace)(nil)
	_ servicebus.Management = (*Namespace)(nil)

	_ servicebus.Transactions = (*Namespace)(nil)
)

// New returns an empty namespace that takes its time from clk.
func New(clk clock.Clock, opts *Options) *Namespace {
	ns := &Namespace{clk: clk, pins: clock.NewPins(clk), state: state{topology: newTopology()}, claims: map[bindings.GUID]*transaction{}}
	if opts != nil {
		ns.opts = *opts
	}
	if ns.opts.MaxForwardHops == 0 {
		ns.opts.MaxForwardHops = servicebus.DefaultForwardHops
	}
	ns.ids.Seed = ns.opts.Seed
	ns.State, ns.kept = keep.New(clk, &ns.mu, ns.kind())
	return ns
}

// now returns the time as it is stored: in UTC, comparable as a plain value.
func (ns *Namespace) now() time.Time { return ns.clk.Now().UTC().Round(0) }

// points are the fault points of one operation.
func (o *Options) points(p FaultPoint) func(after bool) error {
	return func(after bool) error {
		if o.Fault == nil {
			return nil
		}
		p.After = after
		return o.Fault(p)
	}
}

// operation is one turn with the lock held: what it finds and does in the namespace, its
// news for others, told once the lock is released, and its writes, made before that.
type operation struct {
	ns      *Namespace
	now     time.Time
	records []journal.Record
	touched []*queue
	change
}

// note adds a record, if anybody wants it.
func (op *operation) note(r journal.Record) {
	if op.ns.opts.Record != nil {
		r.Service = journal.ServiceBus
		op.records = append(op.records, r)
	}
}

// touch notes that the times of q may have changed.
func (op *operation) touch(q *queue) {
	if !q.touched {
		q.touched = true
		op.touched = append(op.touched, q)
	}
}

// settleTimes looks after the timers of what was touched.
func (op *operation) settleTimes() {
	for _, q := range op.touched {
		q.touched = false
		q.arm(op.now)
		q.justify(op.now)
	}
	op.touched = op.touched[:0]
}

// begin starts an operation; the lock is held until finish.
func (op *operation) begin(ns *Namespace) error {
	ns.mu.Lock()
	*op = operation{ns: ns, now: ns.now(), records: op.records[:0], touched: op.touched[:0], change: change{ns.kept.Change()}}
	return ns.kept.Ready()
}

// finish releases the lock, waits until the change is written and tells. It must be
// called also after a failed operation: ends by time have happened.
func (op *operation) finish(ctx context.Context) error {
	ns := op.ns
	op.settleTimes()
	commit, err := ns.kept.Begin(&op.Change)
	untold := ns.takeUntold()
	ns.mu.Unlock()
	ns.record(untold)
	if waitErr := ns.kept.Wait(ctx, commit); err == nil {
		err = waitErr
	}
	if err != nil {
		return err
	}
	ns.record(op.records)
	return nil
}

func (ns *Namespace) record(records []journal.Record) {
	for i := range records {
		ns.opts.Record(records[i])
	}
}

// tellUntold hands new records to their recipients.
func (ns *Namespace) tellUntold() {
	ns.mu.Lock()
	untold := ns.takeUntold()
	ns.mu.Unlock()
	ns.record(untold)
}

// takeUntold returns the records that were not handed out yet.
func (ns *Namespace) takeUntold() []journal.Record {
	untold := ns.untold
	ns.untold = nil
	return untold
}

// reads are the operations that change nothing but what time has changed.
var reads = map[string]bool{
	"Peek": true, "Held": true, "State": true, "ListQueues": true, "ListTopics": true, "ListSubscriptions": true, "ListRules": true,
	"GetQueue": true, "GetTopic": true, "GetSubscription": true, "GetRule": true, "Sessions": true,
} // read only

// operate runs f with the lock held, between the fault points.
func (ns *Namespace) operate(ctx context.Context, p FaultPoint, f func(op *operation) error) error {
	return ns.kept.Operate(ctx, p.Op == "Send" || p.Op == "Schedule", ns.opts.points(p), func() error {
		op := operations.Get().(*operation)
		defer operations.Put(op)
		err := op.begin(ns)
		if err == nil {
			err = f(op)
		}
		if finishErr := op.finish(ctx); finishErr != nil && !(reads[p.Op] && keep.Tolerable(finishErr)) {
			return finishErr
		}
		return err
	})
}

// operations saves an allocation for each call; it holds nothing between calls.
var operations = sync.Pool{New: func() any { return new(operation) }}

// refuseAs is refuse with the service's own text, for clients that look for it.
func refuseAs(c messaging.Condition, serviceText, format string, args ...any) error {
	e := messaging.NewError(c, fmt.Sprintf(format, args...))
	e.ServiceText = serviceText
	return e
}

// refuse is a failure that the service reports.
func refuse(c messaging.Condition, format string, args ...any) error {
	return messaging.NewError(c, fmt.Sprintf(format, args...))
}
