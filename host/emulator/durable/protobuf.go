package durable

import (
	"encoding/json"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/durable/wire"
	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// What differs where the functions speak the protobuf protocol (spec durable 10).

// protobuf reports whether an instance's function speaks it.
func (d *desk) protobuf(inst *instance) bool {
	return d.of(inst.function()).Protocol == durable.Protobuf
}

// wired is an operation on what speaks it.
type wired struct{ *operation }

// wireRequest is what the orchestrator is asked.
func (inst *instance) wireRequest(of durable.Functions, events []durable.Event) string {
	for ; inst.encoded < len(inst.history); inst.encoded++ {
		inst.played = wire.AppendPast(inst.played, &inst.history[inst.encoded])
	}
	var fresh []byte
	for i := range events {
		fresh = wire.AppendNew(fresh, &events[i])
	}
	return wire.Request(&wire.Header{InstanceID: inst.ID, ExecutionID: inst.Execution, HTTPPollInterval: of.HTTPPollInterval}, inst.played, fresh)
}

// commit commits a turn.
func (op wired) commit(t *turn, r *durable.Reply) {
	inst := t.inst
	out := wire.Read(op.planned(inst), append(inst.history[:len(inst.history):len(inst.history)], t.events...), r)
	if out.OutOfMemory {
		op.abort(t, errOutOfMemory)
		return
	}
	inst.aborts, inst.state = 0, &plan.State{Custom: out.Custom}
	if out.Version != nil {
		inst.Version = *out.Version
	}
	op.operation.commit(t, out.Result)
}

// outOfMemory is why a turn is aborted.
type outOfMemory struct{}

var errOutOfMemory error = outOfMemory{}

// Error implements error.
func (outOfMemory) Error() string {
	return "the orchestrator has failed with System.OutOfMemoryException"
}

// refuse ends the instance of an orchestrator that does not exist.
func (op wired) refuse(t *turn, d *desk) {
	inst := t.inst
	message, err := json.Marshal(d.functions.Missing(durable.Orchestrator, inst.Name))
	if err != nil { // a text always marshals
		panic(err)
	}
	output := `{"message":` + string(message) + `,"details":null}`
	inst.state = &plan.State{Custom: inst.Custom}
	o := &plan.Outcome{Status: durable.Failed, Value: &output}
	for number := range inst.places {
		o.Number = max(o.Number, number+1)
	}
	op.operation.commit(t, &plan.Result{Outcome: o})
	op.touch(inst)
}

// element is the input of an activity, as JSON. .NET schedules arrays of one, as protocol A
// does; what Java schedules is the input itself.
func (op wired) element(inst *instance, e *durable.Event) string {
	if of := op.e.desk(inst.hub.key).of(inst.function()); of.Protocol != durable.Protobuf || of.Runtime == dotnetIsolated {
		return element(e.Input)
	}
	if e.Input == nil || !json.Valid([]byte(*e.Input)) {
		return "null"
	}
	return *e.Input
}

// dotnetIsolated is the runtime of .NET isolated.
const dotnetIsolated = "dotnet-isolated"

// activityFailure sets in an end how an activity has failed.
func (op wired) activityFailure(end *durable.Event, a *activity, r *durable.Reply) {
	d := op.e.desk(a.hub.key)
	switch {
	case d.of(a.function()).Protocol != durable.Protobuf:
		plan.ActivityFailure(end, a.Name, r)
	case !d.runs(a.function()):
		end.Reason = &r.Message // the platform's sentence, without details
	default:
		wire.ActivityFailure(end, a.Name, r)
	}
}

// commitBatch writes what a batch has come to: state, answers, then what the entity has
// sent and started.
func (op wired) commitBatch(t *turn, r *durable.Reply) {
	inst := t.inst
	out, err := wire.ReadBatch(r, len(t.batch), inst.Content)
	if err != nil {
		op.abort(t, err)
		return
	}
	inst.aborts = 0
	op.takeOut(inst, t.taken)
	inst.Exists, inst.Content = out.State != nil, out.State
	inst.Turns++
	inst.All++
	inst.Updated = op.now
	failed := 0
	for i := range t.batch {
		if out.Answers[i].Failure != nil {
			failed++
		}
		op.answer(inst, &t.batch[i], out.Answers[i])
	}
	op.recordBatch(inst, t.batch, failed)
	for _, s := range out.Signals {
		id := op.e.st.ids.Next()
		request := plan.Request{Operation: s.Operation, Signal: true, Input: s.Input, ID: seeded.UUID(id).String(), Parent: inst.ID}
		if s.Due.After(op.now) {
			request.Due = &s.Due
		}
		op.request(inst.hub, s.Entity, request)
	}
	for _, s := range out.Starts {
		if s.ID == "" {
			s.ID = op.e.newID()
		}
		if old := inst.hub.instances[s.ID]; old == nil || old.Status.Finished() {
			started := op.create(inst.hub, s, nil)
			started.StartedBy = inst.ID
		}
	}
	op.keep(inst)
}

// refuseBatch answers what was sent to an entity that no function serves: calls fail, signals
// are lost.
func (op wired) refuseBatch(inst *instance) {
	message := op.e.desk(inst.hub.key).functions.Missing(durable.EntityFunction, inst.Name)
	list := inst.operations(len(inst.inbox))
	var batch []plan.Request
	for _, m := range list {
		batch = append(batch, *m.request())
		op.answer(inst, m.request(), wire.Refusal(message))
	}
	op.takeOut(inst, len(list))
	inst.Updated = op.now
	op.recordBatch(inst, batch, len(batch))
	op.touch(inst)
	op.keep(inst)
}
