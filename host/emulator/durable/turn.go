package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// turn is a turn of an orchestrator, or a batch of an entity, that is out.
type turn struct {
	hub    *Hub
	d      *desk
	inst   *instance
	events []durable.Event // OrchestratorStarted and what was taken
	taken  int             // messages of the inbox
	batch  []plan.Request  // of an entity
	place  place
	over   bool // its place is given back
}

// NextTurn implements durable.Work.
func (h *Hub) NextTurn(ctx context.Context, f durable.Function) (*durable.Turn, error) {
	var out *durable.Turn
	err := h.epoch.During(func() (err error) {
		out, err = h.nextTurn(ctx, fold(f))
		return err
	})
	if err != nil && out != nil {
		h.e.release(out.Held.(*turn))
	}
	if err != nil {
		return nil, err
	}
	if err := h.e.fault(FaultPoint{Op: BeforeTurn, Hub: h.name, Function: out.Function.Name, Instance: out.Instance}); err != nil {
		return nil, errors.Join(err, h.Finish(ctx, out, durable.Reply{Aborted: err}))
	}
	return out, nil
}

func (h *Hub) nextTurn(ctx context.Context, f durable.Function) (out *durable.Turn, err error) {
	err = h.next(ctx, f, func(op *operation, d *desk) {
		inst, _ := d.turns[f].Min()
		out = op.take(h, d, inst)
	})
	return out, err
}

// take begins a turn: it takes the inbox as it is.
func (op *operation) take(h *Hub, d *desk, inst *instance) *durable.Turn {
	t := &turn{hub: h, d: d, inst: inst}
	inst.turn = t
	d.drop(inst)
	t.place = d.placeOf(inst.function())
	d.running[t.place]++
	out := &durable.Turn{
		Hub: h.name, Instance: inst.ID, Execution: inst.Execution, Function: durable.Function{Kind: inst.function().Kind, Name: inst.Name}, Number: inst.Turns + 1, Held: t,
	}
	if inst.Parent != nil {
		out.Parent = inst.Parent.InstanceID
	}
	if inst.entity {
		out.Request = op.takeBatch(t)
		return out
	}
	op.takeInbox(t)
	out.Request = inst.request(op.e.desk(inst.hub.key).of(inst.function()), t.events)
	return out
}

// takeInbox makes the events of a turn of what is in the inbox now.
func (op *operation) takeInbox(t *turn) {
	t.events = []durable.Event{{Type: durable.OrchestratorStarted, ID: -1, Time: op.now}}
	t.taken = len(t.inst.inbox)
	for _, m := range t.inst.inbox {
		e := m.event
		if e.Type == durable.ExecutionStarted {
			e.FireAt = time.Time{} // of a start that has waited
		}
		t.events = append(t.events, e)
	}
}

// request is what the orchestrator is asked.
func (inst *instance) request(of durable.Functions, events []durable.Event) string {
	if inst.speaks != of.Protocol {
		inst.speaks, inst.played, inst.encoded = of.Protocol, nil, 0 // the app has another runtime now
	}
	if of.Protocol == durable.Protobuf {
		return inst.wireRequest(of, events)
	}
	for ; inst.encoded < len(inst.history); inst.encoded++ {
		inst.played = appendEvent(inst.played, &inst.history[inst.encoded], true)
	}
	var fresh []byte
	for i := range events {
		fresh = appendEvent(fresh, &events[i], false)
	}
	header := &plan.Header{
		Input: inst.Input, InstanceID: inst.ID, Replaying: inst.Turns > 0, Schema: of.Schema, HTTPPollInterval: of.HTTPPollInterval,
	}
	if header.Schema == 0 {
		header.Schema = int(plan.V3)
	}
	if inst.Parent != nil {
		header.Parent = inst.Parent.InstanceID
	}
	return string(plan.AppendRequest(make([]byte, 0, len(inst.played)+len(fresh)+1024), header, inst.played, fresh))
}

func appendEvent(b []byte, e *durable.Event, played bool) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return plan.AppendEvent(b, e, played)
}

// release gives the place of a turn back.
func (e *Engine) release(t *turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.end()
}

// end gives the place back, once. The mutex is held.
func (t *turn) end() {
	if t.over {
		return
	}
	t.over = true
	t.d.running[t.place]--
	if t.inst.turn == t {
		t.inst.turn = nil
	}
	t.d.look(t.inst)
	t.d.changed.Broadcast()
}

// Finish implements durable.Work.
func (h *Hub) Finish(ctx context.Context, out *durable.Turn, r durable.Reply) error {
	t, ok := out.Held.(*turn)
	if !ok {
		return errors.New("the turn is none of NextTurn")
	}
	point := FaultPoint{Op: AfterReply, Hub: h.name, Function: t.inst.Name, Instance: t.inst.ID}
	if r.Aborted == nil {
		if err := h.e.fault(point); err != nil {
			r = durable.Reply{Aborted: err}
		}
	}
	err := h.epoch.During(func() error {
		op, err := h.e.begin()
		if err == nil && h.e.get(h.key(), t.inst.ID) == t.inst && t.inst.turn == t {
			op.reply(t, &r)
		}
		t.end()
		if finishErr := op.finish(ctx); err == nil {
			err = finishErr
		}
		return err
	})
	h.e.release(t)
	if err == nil && r.Aborted == nil {
		point.Op = AfterTurn
		err = h.e.fault(point)
	}
	return err
}

// reply commits a turn, or puts it off.
func (op *operation) reply(t *turn, r *durable.Reply) {
	inst := t.inst
	inst.turn = nil
	switch {
	case inst.entity && timedOut(r.Aborted):
		op.failBatch(t, r.Aborted)
	case r.Aborted != nil:
		op.abort(t, r.Aborted)
	case inst.entity:
		op.commitBatch(t, r)
	case op.e.desk(inst.hub.key).protobuf(inst):
		wired{op}.commit(t, r)
	default:
		inst.aborts = 0
		op.commit(t, op.plan(inst, t.events, r))
	}
	op.touch(inst)
}

// timedOut reports whether a call was aborted by functionTimeout.
func timedOut(err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}

// maxPause is the longest wait before a turn that was aborted (spec durable 5.9).
const maxPause = 10 * time.Minute

// abort puts a turn off: nothing is written, and it comes again after a pause.
//
// Source: azst Messaging/TaskHubQueue.cs.
func (op *operation) abort(t *turn, why error) {
	inst := t.inst
	inst.aborts++
	pause := maxPause
	if inst.aborts < 10 {
		pause = min(maxPause, time.Second<<inst.aborts)
	}
	inst.paused = op.now.Add(pause)
	op.set(inst, -1, inst.paused, durable.Event{})
	op.recordAborted(inst, why, pause)
	if inst.aborts >= 5 {
		op.find(inst, durable.Finding{Name: "turn_keeps_aborting", Message: fmt.Sprintf("%s has not ended a turn %d times in a row: %v. It is asked again, as on the platform, without end: mend the function, or terminate the instance", inst.Name, inst.aborts, why)})
	}
}

// plan computes what a reply comes to.
func (op *operation) plan(inst *instance, events []durable.Event, r *durable.Reply) *plan.Result {
	if r.Failed || inst.state == nil || inst.reply != r.Value {
		inst.reply, inst.state = r.Value, plan.Read(inst.Name, r)
		if r.Failed {
			inst.reply = ""
		}
	}
	return plan.Plan(op.planned(inst), append(inst.history[:len(inst.history):len(inst.history)], events...), inst.state)
}

// planned is what a plan depends on.
func (op *operation) planned(inst *instance) *plan.Instance {
	d := op.e.desk(inst.hub.key)
	of := d.of(inst.function())
	in := &plan.Instance{
		ID: inst.ID, Execution: inst.Execution, Name: inst.Name, Runtime: of.Runtime, Functions: d.functions, MaxActions: of.MaxActions, PollInterval: of.HTTPPollInterval,
	}
	if inst.Parent != nil {
		in.Parent = inst.Parent.InstanceID
	}
	return in
}
