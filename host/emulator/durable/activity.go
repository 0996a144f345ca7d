package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// activityID is the identity of an activity in its hub.
type activityID struct {
	instance, execution string
	number              int
}

// activity is one that was scheduled and has not ended.
type activity struct {
	hub *hub
	activityID
	activityRecord
	seq   uint64
	out   bool // it is delivered
	place int
}

// activityRecord is what is kept of one.
type activityRecord struct {
	Name     string
	Input    string // JSON: element 0
	Delivery int64  `json:",omitempty"`
}

func (a *activity) function() durable.Function {
	return durable.Function{Kind: durable.Activities, Name: strings.ToLower(a.Name)}
}

// sortedActivities are in order of being scheduled.
func (h *hub) sortedActivities() []*activity {
	list := make([]*activity, 0, len(h.activities))
	for _, a := range h.activities {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *activity) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// addActivity queues an activity. A disabled one fails at once.
func (op *operation) addActivity(inst *instance, e *durable.Event) {
	a := &activity{hub: inst.hub, activityID: activityID{inst.ID, inst.Execution, e.ID}, activityRecord: activityRecord{Name: e.Name, Input: wired{op}.element(inst, e)}, seq: op.e.st.next()}
	inst.hub.activities[a.activityID] = a
	op.saveActivity(a)
	op.e.desk(inst.hub.key).offer(a)
	op.check(a)
}

// element is element 0 of an array, as JSON.
func element(array *string) string {
	var list []json.RawMessage
	if array == nil || json.Unmarshal([]byte(*array), &list) != nil || len(list) == 0 {
		return "null"
	}
	return string(list[0])
}

// check ends an activity at once that nobody can run. Requests of callHttp the engine makes
// itself.
func (op *operation) check(a *activity) {
	d := op.e.desk(a.hub.key)
	if a.out || !d.served() {
		return
	}
	there, runs := d.functions.Has(durable.Activities, a.Name)
	var r durable.Reply
	switch {
	case a.Name == plan.HTTPActivity:
		if !d.calling {
			d.calling = true
			op.calling = append(op.calling, a.hub.name)
		}
		return
	case runs:
		return
	case there:
		r.Message = "Activity function '" + a.Name + "' is disabled."
	default:
		r.Message = d.functions.Missing(durable.Activities, a.Name)
	}
	r.Failed = true
	d.work[a.function()].Remove(a)
	op.report(a, &r)
}

// NextActivity implements durable.Work.
func (h *Hub) NextActivity(ctx context.Context, name string) (*durable.Activity, error) {
	var out *durable.Activity
	err := h.epoch.During(func() (err error) {
		out, err = h.nextActivity(ctx, fold(durable.Function{Kind: durable.Activities, Name: name}))
		return err
	})
	if err != nil && out != nil {
		h.e.releaseActivity(out.Held.(*delivery))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// delivery is an activity that is out.
type delivery struct {
	d     *desk
	a     *activity
	place place
	over  bool
}

func (h *Hub) nextActivity(ctx context.Context, f durable.Function) (out *durable.Activity, err error) {
	err = h.next(ctx, f, func(op *operation, d *desk) {
		a, _ := d.work[f].Min()
		d.work[f].Remove(a)
		p := d.placeOf(f)
		d.running[p]++
		a.out = true
		a.Delivery++
		op.saveActivity(a)
		out = &durable.Activity{
			Hub: h.name, Instance: a.instance, Number: a.number, Name: a.Name, Input: a.Input, Delivery: a.Delivery, Held: &delivery{d: d, a: a, place: p},
		}
	})
	return out, err
}

// releaseActivity gives the place of a delivery back.
func (e *Engine) releaseActivity(held *delivery) {
	e.mu.Lock()
	defer e.mu.Unlock()
	held.end()
}

// end gives the place back, once; what has not ended is ready again. The mutex is held.
func (held *delivery) end() {
	if held.over {
		return
	}
	held.over = true
	held.d.running[held.place]--
	a := held.a
	a.out = false
	if st := held.d.e.st.hubs[a.hub.key]; st == a.hub && a.hub.activities[a.activityID] == a {
		held.d.offer(a)
	}
	held.d.changed.Broadcast()
}

// Report implements durable.Work.
func (h *Hub) Report(ctx context.Context, out *durable.Activity, r durable.Reply) error {
	if r.Aborted != nil {
		return h.settle(ctx, out, nil)
	}
	return h.settle(ctx, out, func(op *operation, a *activity) { op.report(a, &r) })
}

// settle ends a delivery. A nil end leaves the activity: it comes again.
func (h *Hub) settle(ctx context.Context, out *durable.Activity, end func(op *operation, a *activity)) error {
	held, ok := out.Held.(*delivery)
	if !ok {
		return errors.New("the activity is none of NextActivity")
	}
	err := h.operate(ctx, FaultPoint{Op: "Report", Function: out.Name, Instance: out.Instance}, func(op *operation) error {
		a := held.a
		if !held.over && end != nil && a.hub.activities[a.activityID] == a && op.e.st.hubs[a.hub.key] == a.hub {
			end(op, a)
		}
		held.end()
		return nil
	})
	h.e.releaseActivity(held)
	return err
}

// report gives what a function has returned to the instance.
func (op *operation) report(a *activity, r *durable.Reply) {
	e := durable.Event{Type: durable.TaskCompleted, ID: -1, Task: a.number}
	if r.Failed {
		e.Type = durable.TaskFailed
		wired{op}.activityFailure(&e, a, r)
	} else if r.Value != "" {
		e.Result = &r.Value
	}
	a.over(op, e)
}

// over gives an end to the instance, if it is still there for it.
func (a *activity) over(op *operation, e durable.Event) {
	delete(a.hub.activities, a.activityID)
	op.dropActivity(a)
	inst := a.hub.instances[a.instance]
	if !op.send(inst, a.execution, e) {
		op.recordIgnored(a, &e)
	}
}
