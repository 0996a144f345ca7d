package durable

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/heap"
)

// desk is where the work of a hub is given out: which functions there are, what is ready
// for them, and who waits. It is of the running host, and stays when the state is replaced.
type desk struct {
	e         *Engine
	name      string // of the hub, as its last owner spells it
	owners    map[string]durable.Functions
	functions *plan.Functions // of all owners
	byName    map[durable.Function]string
	turns     map[durable.Function]*heap.Of[*instance]
	work      map[durable.Function]*heap.Of[*activity]
	waiters   map[durable.Function]int
	running   map[place]int
	changed   *clock.Cond
	calling   bool // requests of callHttp are made
}

// place is what counts together: the work of one kind of one app.
type place struct {
	owner string
	kind  durable.Kind
}

// placeOf is the place that work of a function takes.
func (d *desk) placeOf(f durable.Function) place { return place{d.byName[f], f.Kind} }

// desk returns that of a hub.
func (e *Engine) desk(key string) *desk {
	d := e.desks[key]
	if d == nil {
		d = &desk{
			e: e, owners: map[string]durable.Functions{}, byName: map[durable.Function]string{}, turns: map[durable.Function]*heap.Of[*instance]{},
			work: map[durable.Function]*heap.Of[*activity]{}, waiters: map[durable.Function]int{}, running: map[place]int{}, changed: clock.NewCond(e.clk, &e.mu),
		}
		e.desks[key] = d
	}
	return d
}

// served reports whether an owner has functions.
func (d *desk) served() bool { return len(d.byName) > 0 }

// Serve implements durable.Work.
func (h *Hub) Serve(owner string, f durable.Functions) {
	if h.epoch.Over() {
		return
	}
	op, err := h.e.begin()
	d := h.e.desk(h.key())
	d.name, d.owners[owner] = h.name, f
	if len(f.Known)+len(f.Disabled) == 0 {
		delete(d.owners, owner)
	}
	d.merge()
	h.e.depend(h.key())
	if err == nil {
		if hub := h.e.st.hubs[h.key()]; hub != nil {
			for inst := range hub.sorted.Behind(0) {
				op.touch(inst)
			}
			for _, a := range hub.sortedActivities() {
				op.check(a)
			}
		}
	}
	d.changed.Broadcast()
	_ = op.finish(h.e.context()) // what could not be written is done by the next operation
}

// merge makes one of what the owners have.
func (d *desk) merge() {
	var known, disabled []durable.Function
	clear(d.byName)
	for _, owner := range sortedKeys(d.owners) {
		f := d.owners[owner]
		known, disabled = append(known, f.Known...), append(disabled, f.Disabled...)
		for _, k := range append(f.Known[:len(f.Known):len(f.Known)], f.Disabled...) {
			d.byName[fold(k)] = owner
		}
	}
	for _, owner := range sortedKeys(d.owners) {
		d.byName[httpFunction] = owner // requests count among the activities of one app
		break
	}
	d.functions = plan.NewFunctions(known, disabled)
}

func fold(f durable.Function) durable.Function {
	f.Name = strings.ToLower(f.Name)
	return f
}

// of are the settings of the app that has a function; of any when none has.
func (d *desk) of(f durable.Function) durable.Functions {
	if owner, ok := d.byName[f]; ok {
		return d.owners[owner]
	}
	for _, owner := range sortedKeys(d.owners) {
		return d.owners[owner]
	}
	return durable.Functions{}
}

// runs reports whether a function is there and not disabled.
func (d *desk) runs(f durable.Function) bool {
	_, runs := d.functions.Has(f.Kind, f.Name)
	return runs
}

// most is how much of a kind may run at a time.
func (d *desk) most(f durable.Function) int {
	of := d.of(f)
	n := [...]int{of.MaxTurns, of.MaxActivities, of.MaxBatches}[f.Kind]
	if n <= 0 {
		return 10
	}
	return n
}

// look puts an instance among what is ready, or takes it out.
func (d *desk) look(inst *instance) {
	f := inst.function()
	h := d.turns[f]
	if h == nil {
		made := heap.New(func(a, b *instance) bool { return a.ready < b.ready }, func(inst *instance) *int { return &inst.place })
		h = &made
		d.turns[f] = h
	}
	h.Remove(inst)
	inst.ready = inst.isReady(d.e.now())
	if inst.ready != 0 {
		h.Push(inst)
		d.changed.Broadcast()
	}
}

// drop takes an instance out of what is ready.
func (d *desk) drop(inst *instance) {
	if h := d.turns[inst.function()]; h != nil {
		h.Remove(inst)
	}
	inst.ready = 0
}

// offer puts an activity among what is ready.
func (d *desk) offer(a *activity) {
	f := a.function()
	h := d.work[f]
	if h == nil {
		made := heap.New(func(a, b *activity) bool { return a.seq < b.seq }, func(a *activity) *int { return &a.place })
		h = &made
		d.work[f] = h
	}
	h.Push(a)
	d.changed.Broadcast()
}

// forget drops what is ready: the state is replaced.
func (d *desk) forget() {
	clear(d.turns)
	clear(d.work)
	d.changed.Broadcast()
}

// head is the place of the oldest work that is ready for a function; 0: none.
func (d *desk) head(f durable.Function) uint64 {
	if f.Kind == durable.Activities {
		if h := d.work[f]; h != nil {
			if a, ok := h.Min(); ok {
				return a.seq
			}
		}
		return 0
	}
	if h := d.turns[f]; h != nil {
		if inst, ok := h.Min(); ok {
			return inst.ready
		}
	}
	return 0
}

// mine reports whether the next work of a kind is a function's: its app has a free place, and
// nobody of the app waits for older work.
func (d *desk) mine(f durable.Function) bool {
	head := d.head(f)
	if head == 0 || f == httpFunction && !d.served() || d.running[d.placeOf(f)] >= d.most(f) {
		return false
	}
	for other, n := range d.waiters {
		if n == 0 || other == f || d.placeOf(other) != d.placeOf(f) {
			continue
		}
		if at := d.head(other); at != 0 && at < head {
			return false
		}
	}
	return true
}

// next waits until the next work of its kind is a function's, and takes it. After an error
// the caller gives back what was taken, if anything was.
func (h *Hub) next(ctx context.Context, f durable.Function, take func(op *operation, d *desk)) error {
	for {
		op, err := h.e.begin()
		d := h.e.desk(h.key())
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = op.finish(ctx)
			return err
		}
		if d.mine(f) {
			take(op, d)
			d.changed.Broadcast() // the next one may be another's
			return op.finish(ctx)
		}
		d.waiters[f]++
		err = d.changed.Wait(ctx)
		d.waiters[f]--
		if err != nil {
			d.changed.Broadcast() // it no longer stands before others
		}
		_ = op.finish(ctx) // nothing is to be written
	}
}
