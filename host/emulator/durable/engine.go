package durable

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/heap"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Options changes how an engine behaves. The zero value is good for use.
type Options struct {
	// Seed decides identifiers.
	Seed uint64

	// Record is told what happens to instances (spec durable 12.1). It is called without
	// locks held, after the state has changed.
	Record func(journal.Record)

	// Fault is asked in every operation before and after its effect, and at the points of
	// a turn; its error is the operation's result. It may wait.
	Fault func(FaultPoint) error
}

// The points of a turn (spec durable 5.7), as FaultPoint.Op.
const (
	BeforeTurn = "beforeTurn" // the inbox is taken, nothing was sent
	AfterReply = "afterReply" // the worker has answered, nothing is committed
	AfterTurn  = "afterTurn"  // committed
)

// FaultPoint is a moment at which an operation can be made to fail.
type FaultPoint struct {
	Op       string // the method's name: "Start", "RaiseEvent", "Report", ..., or a point of a turn
	Hub      string
	Function string // orchestrator, entity or activity, as far as it is known
	Instance string
	After    bool // the operation has taken effect
}

// Engine keeps the task hubs of one host, empty when new. All methods may be called
// concurrently; on a virtual clock, from inside the clock. It embeds its state as a whole,
// which [keep.State] copies, replaces and checks.
type Engine struct {
	*keep.State[*state]

	clk  clock.Clock
	opts Options

	mu      sync.Mutex
	kept    *keep.Keeper
	st      *state
	desks   map[string]*desk // by name of the hub in lower case
	due     heap.Of[*alarm]
	silent  bool        // nothing falls due any more: see Stop
	unarmed bool        // alarms of another state are not on the clock yet
	ended   *clock.Cond // an instance has changed
	calls   *calls
}

// New returns an empty engine that takes its time from clk.
func New(clk clock.Clock, opts *Options) *Engine {
	e := &Engine{clk: clk, st: newState(), desks: map[string]*desk{}}
	if opts != nil {
		e.opts = *opts
	}
	e.st.ids.Seed = e.opts.Seed
	e.due = heap.New(func(a, b *alarm) bool {
		if !a.at.Equal(b.at) {
			return a.at.Before(b.at)
		}
		return a.seq < b.seq
	}, func(a *alarm) *int { return &a.place })
	e.ended = clock.NewCond(clk, &e.mu)
	e.calls = newCalls(clk)
	e.State, e.kept = keep.New(clk, &e.mu, e.kind())
	return e
}

// Hub returns the task hub of a name; one that nothing was ever put into is empty. Names
// are compared without case.
func (e *Engine) Hub(name string) *Hub { return &Hub{e: e, name: name} }

// Hubs lists the names of the hubs that have something, or functions that serve them, sorted.
func (e *Engine) Hubs() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.kept.Ready() != nil {
		return nil
	}
	var names []string
	for _, key := range sortedKeys(e.st.hubs) {
		names = append(names, e.st.hubs[key].name)
	}
	for _, key := range sortedKeys(e.desks) {
		if e.st.hubs[key] == nil && e.desks[key].served() {
			names = append(names, e.desks[key].name)
		}
	}
	slices.Sort(names)
	return names
}

// Hub is one task hub of an engine.
type Hub struct {
	e     *Engine
	name  string
	epoch *epoch.Epoch // the epoch of who holds it; nil: it does not end
}

var _ durable.Hub = (*Hub)(nil)

// Name implements durable.Hub.
func (h *Hub) Name() string { return h.name }

// In returns the hub for a caller that began in that epoch.
func (h *Hub) In(e *epoch.Epoch) *Hub { return &Hub{h.e, h.name, e} }

func (h *Hub) key() string { return strings.ToLower(h.name) }

// now returns the time as it is stored: in UTC, comparable as a plain value.
func (e *Engine) now() time.Time { return e.clk.Now().UTC().Round(0) }

// newID is 32 hexadecimal digits.
func (e *Engine) newID() string {
	id := e.st.ids.Next()
	return hex.EncodeToString(id[:])
}

// operation is one turn with the lock held: its news for others, told once the lock is
// released, and its writes, made before that.
type operation struct {
	change
	e       *Engine
	now     time.Time
	records []journal.Record
	touched []*instance // to be looked at before the end
	dirty   map[*instance]bool
	calling []string // hubs whose requests of callHttp are to be made from now on
}

// begin starts an operation; the lock is held until finish.
func (e *Engine) begin() (*operation, error) {
	e.mu.Lock()
	return &operation{e: e, now: e.now(), change: change{e.kept.Change()}, dirty: map[*instance]bool{}}, e.kept.Ready()
}

// finish makes ready what is, releases the lock, waits until the change is written and
// tells.
func (op *operation) finish(ctx context.Context) error {
	e := op.e
	op.settle()
	op.saveDirty()
	e.armAll()
	commit, err := e.kept.Begin(&op.Change)
	e.mu.Unlock()
	for _, hub := range op.calling {
		e.beginCalls(e.Hub(hub))
	}
	if waitErr := e.kept.Wait(ctx, commit); err == nil {
		err = waitErr
	}
	if err == nil && e.opts.Record != nil {
		for i := range op.records {
			e.opts.Record(op.records[i])
		}
	}
	return err
}

// adds are the operations that only add.
var adds = map[string]bool{"Start": true, "Restart": true, "RaiseEvent": true, "Signal": true} // read only

// operate runs f with the lock held, between the fault points. Changes of a failing
// function stay: functions fail first.
func (h *Hub) operate(ctx context.Context, p FaultPoint, f func(op *operation) error) error {
	p.Hub = h.name
	return h.epoch.During(func() error {
		return h.e.kept.Operate(ctx, adds[p.Op], func(after bool) error { p.After = after; return h.e.fault(p) }, func() error {
			op, err := h.e.begin()
			if err == nil {
				err = f(op)
			}
			if finishErr := op.finish(ctx); finishErr != nil && !(!op.Written() && keep.Tolerable(finishErr)) {
				err = finishErr // what the operation has seen did not last
			}
			return err
		})
	})
}

func (e *Engine) fault(p FaultPoint) error {
	if e.opts.Fault == nil {
		return nil
	}
	return e.opts.Fault(p)
}

// Reset removes everything, so that the engine is as New made it. Who waits for work goes
// on waiting.
func (e *Engine) Reset() error {
	op, err := e.begin()
	if err == nil {
		op.DeletePrefix([]byte(keyPrefix))
		fresh := newState()
		fresh.ids.Seed = e.opts.Seed
		e.put(fresh)
	}
	if finishErr := op.finish(context.Background()); err == nil {
		err = finishErr
	}
	return err
}

// put takes a state in the place of the present one.
func (e *Engine) put(fresh *state) {
	e.st, e.unarmed = fresh, true
	for a, ok := e.due.Min(); ok; a, ok = e.due.Min() {
		e.due.Remove(a)
		a.disarm()
	}
	for _, key := range sortedKeys(e.desks) {
		e.desks[key].forget()
	}
	for _, key := range sortedKeys(fresh.hubs) {
		h := fresh.hubs[key]
		for inst := range h.sorted.Behind(0) {
			for _, a := range inst.alarms {
				e.due.Push(a)
			}
			e.desk(key).look(inst)
		}
		for _, a := range h.activities {
			e.desk(key).offer(a)
		}
		e.desk(key).changed.Broadcast()
	}
	e.ended.Broadcast()
}
