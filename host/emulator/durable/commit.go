package durable

import (
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/journal"
)

// commit writes what a turn has come to (spec durable 5.4): history, status, what was
// scheduled, and the end.
func (op *operation) commit(t *turn, r *plan.Result) {
	inst := t.inst
	d := op.e.desk(inst.hub.key)
	of := d.of(inst.function())
	before := inst.Custom
	op.takeOut(inst, t.taken)
	inst.Turns++
	inst.All++
	inst.Updated, inst.Generation = op.now, of.Generation
	if r.Outcome == nil && of.FailStuck {
		r.Outcome = hopeless(r)
	}
	events := append([]durable.Event(nil), t.events...)
	for i := range r.Events {
		r.Events[i].Time, r.Events[i].Generation = op.now, of.Generation
		events = append(events, r.Events[i])
	}
	if r.Outcome != nil {
		events = append(events, ending(r.Outcome, op.now))
	}
	events = append(events, durable.Event{Type: durable.OrchestratorCompleted, ID: -1, Time: op.now})
	op.append(inst, events...)
	if custom := inst.state.Custom; custom != nil || !(inst.Continued && inst.Turns == 1) {
		inst.Custom = custom
	}
	inst.Status = durable.Running
	if r.Suspended {
		inst.Status = durable.Suspended
	}
	for i := range t.events {
		if e := &t.events[i]; e.Type == durable.ExecutionSuspended || e.Type == durable.ExecutionResumed {
			inst.Output = e.Reason // it stays until the end, as on the platform
		}
	}
	inst.waits, inst.known = r.Open, true
	inst.Awaits = awaits(r.Open)
	if inst.All == 1 {
		op.e.ended.Broadcast() // it has begun
	}
	op.recordTurn(inst, t, r, before)
	for _, number := range r.Cancelled {
		op.cancel(inst, number, r)
	}
	timers := timersOf(r.Open) // one may be cancelled at once
	for i := range r.Events {
		if e := &r.Events[i]; e.Type != durable.TimerCreated || timers[e.ID] {
			op.begun(inst, e)
		}
	}
	if r.Outcome != nil {
		op.end(inst, r)
	}
	for _, f := range r.Findings {
		if f.Name != plan.EventsDropped || !of.KeepEvents {
			op.find(inst, f)
		}
	}
	op.save(inst)
}

// timersOf are the numbers of open timers.
func timersOf(open []durable.Open) map[int]bool {
	timers := map[int]bool{}
	for _, o := range open {
		if o.What == "timer" {
			timers[o.Number] = true
		}
	}
	return timers
}

// awaits are the events and answers of what is open: a history does not tell them.
func awaits(open []durable.Open) (list []durable.Open) {
	for _, o := range open {
		if o.What == "event" || o.What == "call" {
			list = append(list, o)
		}
	}
	return list
}

// hopeless ends an instance that can never go on, with its finding.
func hopeless(r *plan.Result) *plan.Outcome {
	for _, f := range r.Findings {
		if plan.Hopeless(f.Name) {
			text := f.Message
			return &plan.Outcome{Status: durable.Failed, Number: r.Next, Value: &text}
		}
	}
	return nil
}

// takeOut removes the messages of a turn from the inbox.
func (op *operation) takeOut(inst *instance, n int) {
	for _, m := range inst.inbox[:n] {
		op.dropMessage(inst, m)
	}
	inst.inbox = append([]*message(nil), inst.inbox[n:]...)
}

// begun lets what was scheduled begin.
func (op *operation) begun(inst *instance, e *durable.Event) {
	switch e.Type {
	case durable.TaskScheduled:
		op.addActivity(inst, e)
	case durable.TimerCreated:
		op.addTimer(inst, e)
	case durable.SubOrchestrationInstanceCreated:
		op.addChild(inst, e)
	case durable.EventSent:
		locking{op}.addRequest(inst, e)
	}
}

// addTimer sets a timer.
func (op *operation) addTimer(inst *instance, e *durable.Event) {
	at := e.FireAt
	if op.e.desk(inst.hub.key).of(inst.function()).Runtime == "java" {
		at = at.Add(javaLate)
	}
	op.set(inst, e.ID, at, durable.Event{Type: durable.TimerFired, ID: -1, Task: e.ID, FireAt: e.FireAt})
}

// addChild starts a child. It takes the place of what has its id, also of an instance that
// runs, as on the platform; that of its own parent or of an entity it cannot have.
func (op *operation) addChild(inst *instance, e *durable.Event) {
	parent := &durable.Parent{Name: inst.Name, InstanceID: inst.ID, ExecutionID: inst.Execution, Number: e.ID}
	if old := inst.hub.instances[e.InstanceID]; old == inst || old != nil && old.entity {
		reason := inUse(old).Text
		op.send(inst, inst.Execution, durable.Event{Type: durable.SubOrchestrationInstanceFailed, ID: -1, Task: e.ID, Reason: &reason})
		return
	}
	op.create(inst.hub, durable.Start{Name: e.Name, ID: e.InstanceID, Version: e.Version, Input: e.Input, Tags: e.Tags, By: "parent"}, parent)
}

// end ends an execution.
func (op *operation) end(inst *instance, r *plan.Result) {
	o := r.Outcome
	for _, a := range append([]*alarm(nil), inst.alarms...) {
		op.unset(a)
	}
	inst.waits, inst.Awaits = nil, nil
	if o.Status == durable.ContinuedAsNew {
		op.again(inst, r)
		return
	}
	inst.Status, inst.Output, inst.Failure = o.Status, o.Value, o.Failure
	if o.Output != nil {
		inst.Output = o.Output
	}
	op.takeOut(inst, len(inst.inbox))
	inst.played, inst.encoded, inst.state, inst.reply = nil, 0, nil, ""
	op.recordEnd(inst)
	op.tellParent(inst, o)
	op.e.ended.Broadcast()
}

// tellParent gives the end of a child to its parent.
func (op *operation) tellParent(inst *instance, o *plan.Outcome) {
	if inst.Parent == nil {
		return
	}
	e := durable.Event{Type: durable.SubOrchestrationInstanceCompleted, ID: -1, Task: inst.Parent.Number, Result: o.Value}
	if o.Status != durable.Completed {
		e.Type, e.Result, e.Reason, e.Details, e.Failure = durable.SubOrchestrationInstanceFailed, nil, o.Value, o.Details, o.Failure
	}
	op.send(inst.hub.instances[inst.Parent.InstanceID], inst.Parent.ExecutionID, e)
}

// again begins the next execution: events that came behind the decision are carried over,
// unread ones only when they are to be kept.
func (op *operation) again(inst *instance, r *plan.Result) {
	carried := r.Carried
	if op.e.desk(inst.hub.key).of(inst.function()).KeepEvents {
		carried = append(append([]durable.Event(nil), r.Buffered...), carried...)
	} else {
		for _, e := range r.Buffered {
			op.record(inst, journal.Record{Kind: journal.EventRaised, Name: e.Name, Status: "dropped"}, "by", "continue-as-new")
		}
	}
	later := inst.inbox
	for _, m := range later {
		op.dropMessage(inst, m)
	}
	op.dropHistory(inst)
	inst.Execution = op.e.newID()
	inst.history, inst.played, inst.encoded, inst.inbox = nil, nil, 0, nil
	inst.state, inst.reply, inst.known = nil, "", false
	inst.Turns, inst.Continued, inst.Input, inst.Output = 0, true, r.Outcome.Value, nil
	op.send(inst, "", inst.started())
	for _, e := range carried {
		op.send(inst, "", e)
	}
	for _, m := range later {
		op.send(inst, m.execution, m.event)
	}
	op.recordStart(inst, "continueAsNew")
}

// started is the first event of an execution.
func (inst *instance) started() durable.Event {
	return durable.Event{
		Type: durable.ExecutionStarted, ID: -1, Name: inst.Name, Version: inst.Version, Input: inst.Input, InstanceID: inst.ID, ExecutionID: inst.Execution, Parent: inst.Parent, Tags: inst.Tags,
	}
}

// create makes an instance, in the place of the one that has its id.
func (op *operation) create(h *hub, s durable.Start, parent *durable.Parent) *instance {
	starts := 0
	if old := h.instances[s.ID]; old != nil {
		starts = old.Starts
		op.remove(old)
	}
	inst := &instance{record: record{
		ID: s.ID, Name: s.Name, Version: s.Version, Execution: op.e.newID(), Status: durable.Pending, Input: s.Input, Created: op.now, Updated: op.now, Parent: parent, Tags: s.Tags, Starts: starts,
	}}
	if parent == nil {
		inst.Starts++
	}
	h.insert(inst)
	e := inst.started()
	if parent == nil {
		e.Starts = inst.Starts
	}
	if s.Due.After(op.now) {
		e.FireAt = s.Due.UTC().Round(0)
		op.set(inst, -1, e.FireAt, durable.Event{})
	}
	op.send(inst, "", e)
	op.save(inst)
	op.recordStart(inst, s.By)
	return inst
}

// remove forgets an instance; its activities end unheard.
func (op *operation) remove(inst *instance) {
	for _, a := range append([]*alarm(nil), inst.alarms...) {
		op.unset(a)
	}
	op.takeOut(inst, len(inst.inbox))
	op.dropHistory(inst)
	delete(inst.hub.instances, inst.ID)
	inst.hub.sorted.Remove(inst)
	op.e.desk(inst.hub.key).drop(inst)
	delete(op.dirty, inst)
	op.dropInstance(inst)
	op.e.ended.Broadcast()
}

// refuse makes the turn of an orchestrator that does not exist, without a worker.
func (op *operation) refuse(inst *instance) {
	t := &turn{inst: inst}
	op.takeInbox(t)
	d := op.e.desk(inst.hub.key)
	if d.protobuf(inst) {
		wired{op}.refuse(t, d)
		return
	}
	r := &durable.Reply{Failed: true, Message: d.functions.Missing(durable.Orchestrator, inst.Name)}
	inst.state = nil
	op.commit(t, op.plan(inst, t.events, r))
	op.touch(inst)
}

// terminate makes the last turn of an instance, without a worker: the reason is that of the
// first command to end.
func (op *operation) terminate(inst *instance) {
	t := &turn{inst: inst}
	op.takeInbox(t)
	o := &plan.Outcome{Status: durable.Terminated}
	for number := range inst.places {
		o.Number = max(o.Number, number+1)
	}
	for _, e := range t.events {
		if e.Type == durable.ExecutionTerminated {
			o.Value = e.Input
			break
		}
	}
	inst.state = &plan.State{Custom: inst.Custom}
	op.commit(t, &plan.Result{Outcome: o})
	op.touch(inst)
}

// find notes a finding on an instance, once each.
func (op *operation) find(inst *instance, f durable.Finding) {
	for _, known := range inst.Findings {
		if known.Name == f.Name {
			return
		}
	}
	inst.Findings = append(inst.Findings, f)
	op.save(inst)
	op.recordFinding(inst, f)
}

func inUse(inst *instance) *durable.Error {
	return &durable.Error{Code: durable.CodeInUse, Status: inst.Status, Text: fmt.Sprintf("An Orchestration instance with the status %s already exists.", inst.Status)}
}

// ending is the last event of an execution but one.
func ending(o *plan.Outcome, now time.Time) durable.Event {
	e := durable.Event{Type: durable.ExecutionCompleted, ID: o.Number, Time: now, Result: o.Value, Details: o.Details, Status: o.Status, Failure: o.Failure}
	if o.Status == durable.ContinuedAsNew {
		e.Type = durable.ContinueAsNew
	}
	return e
}
