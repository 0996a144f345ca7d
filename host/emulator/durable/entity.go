package durable

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/durable/wire"
	"github.com/redeliver/redeliver/host/emulator/seeded"
)

// defaultBatch is how many operations a batch has at most.
const defaultBatch = 5000

// Signal implements durable.Entities.
func (h *Hub) Signal(ctx context.Context, id durable.EntityID, name, input string, due time.Time, by string) error {
	if err := checkID(id.Name + id.Key); err != nil {
		return err
	}
	return h.operate(ctx, FaultPoint{Op: "Signal", Function: id.Name, Instance: id.String()}, func(op *operation) error {
		f := fold(durable.Function{Kind: durable.EntityFunction, Name: id.Name})
		if d := op.e.desk(h.key()); d.served() && !d.runs(f) && d.of(f).Protocol != durable.Protobuf {
			return &durable.Error{Code: durable.CodeUnknown, Text: d.functions.Missing(f.Kind, id.Name)}
		}
		bytes := op.e.st.ids.Next()
		r := plan.Request{Operation: name, Signal: true, ID: seeded.UUID(bytes).String()}
		if input != "" {
			r.Input = &input
		}
		if due.After(op.now) {
			due = due.UTC().Round(0)
			r.Due = &due
		}
		op.request(op.e.hubOf(h.name), id.String(), r)
		return nil
	})
}

// request puts an operation into the queue of an entity, now or when it is due.
func (op *operation) request(h *hub, id string, r plan.Request) {
	inst := h.instances[id]
	if inst == nil {
		name, _ := durable.ParseEntityID(id)
		inst = &instance{entity: true, record: record{ID: id, Name: name.Name, Status: durable.Running, Created: op.now, Updated: op.now}}
		h.insert(inst)
		op.save(inst)
	}
	text := r.String()
	e := durable.Event{Type: durable.EventRaised, ID: -1, Name: "op", Input: &text}
	if r.Due != nil && r.Due.After(op.now) {
		op.set(inst, -1, *r.Due, e)
		return
	}
	op.send(inst, "", e)
}

type batchJSON struct {
	Self   selfJSON        `json:"self"`
	Exists bool            `json:"exists"`
	State  *string         `json:"state"`
	Batch  []operationJSON `json:"batch"`
}

type selfJSON struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type operationJSON struct {
	Name   string  `json:"name"`
	Input  *string `json:"input"`
	Signal bool    `json:"isSignal"`
	ID     string  `json:"id"`
}

// takeBatch makes a batch of what waits at an entity, and writes what it is asked.
func (op *operation) takeBatch(t *turn) string {
	inst := t.inst
	most := t.d.of(inst.function()).MaxBatch
	if most <= 0 {
		most = defaultBatch
	}
	id, _ := durable.ParseEntityID(inst.ID)
	out := batchJSON{Self: selfJSON(id), Exists: inst.Exists, State: inst.Content, Batch: []operationJSON{}}
	for _, m := range inst.operations(most) {
		r := *m.request()
		t.batch = append(t.batch, r)
		out.Batch = append(out.Batch, operationJSON{r.Operation, r.Input, r.Signal, r.ID})
	}
	t.taken = len(t.batch)
	if t.d.protobuf(inst) {
		return wire.BatchRequest(inst.ID, inst.Content, t.batch)
	}
	b, err := json.Marshal(out)
	if err != nil { // texts always marshal
		panic(err)
	}
	return string(b)
}

type batchReply struct {
	Exists  bool    `json:"entityExists"`
	State   *string `json:"entityState"`
	Results []struct {
		Error  bool            `json:"isError"`
		Result json.RawMessage `json:"result"`
	} `json:"results"`
	Signals []struct {
		Target selfJSON `json:"target"`
		Name   string   `json:"name"`
		Input  *string  `json:"input"`
	} `json:"signals"`
}

// readBatch reads the reply to a batch. What is no full reply is as if there were none: the
// batch comes again (spec durable 7.4).
func readBatch(r *durable.Reply, n int) (*batchReply, error) {
	if r.Failed {
		return nil, errors.New(r.Message)
	}
	text := []byte(r.Value)
	var inner string
	if json.Unmarshal(text, &inner) == nil {
		text = []byte(inner)
	}
	out := &batchReply{}
	if len(text) == 0 || text[0] != '{' {
		return nil, errors.New("the entity has returned no object")
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, err
	}
	if len(out.Results) < n {
		return nil, errors.New("the entity has returned fewer results than there were operations")
	}
	return out, nil
}

// resultText is a result, which is JSON text.
func resultText(raw json.RawMessage) *string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	return &s
}

// commitBatch writes what a batch has come to: state, answers, then signals.
func (op *operation) commitBatch(t *turn, r *durable.Reply) {
	inst := t.inst
	if op.e.desk(inst.hub.key).protobuf(inst) {
		wired{op}.commitBatch(t, r)
		return
	}
	reply, err := readBatch(r, len(t.batch))
	if err != nil {
		op.abort(t, err)
		return
	}
	inst.aborts = 0
	op.takeOut(inst, t.taken)
	inst.Exists, inst.Content = reply.Exists, reply.State
	if !inst.Exists {
		inst.Content = nil
	}
	inst.Turns++
	inst.All++
	inst.Updated = op.now
	failed := 0
	for i := range t.batch {
		answer := plan.Answer{Result: resultText(reply.Results[i].Result)}
		if reply.Results[i].Error {
			failed++
			answer.Exception = "Error"
		}
		op.answer(inst, &t.batch[i], answer)
	}
	op.recordBatch(inst, t.batch, failed)
	for _, s := range reply.Signals {
		id := durable.EntityID(s.Target)
		bytes := op.e.st.ids.Next()
		op.request(inst.hub, id.String(), plan.Request{Operation: s.Name, Signal: true, Input: s.Input, ID: seeded.UUID(bytes).String(), Parent: inst.ID})
	}
	op.keep(inst)
}

// keep saves an entity, or removes it when nothing is left of it.
func (op *operation) keep(inst *instance) {
	if !inst.Exists && len(inst.inbox) == 0 && len(inst.alarms) == 0 && inst.LockedBy == "" {
		op.remove(inst)
		return
	}
	op.save(inst)
}

// failBatch answers every operation of a batch that has timed out; the state stays.
func (op *operation) failBatch(t *turn, why error) {
	b, err := json.Marshal(why.Error())
	if err != nil { // a text always marshals
		panic(err)
	}
	text := string(b)
	t.inst.aborts = 0
	op.takeOut(t.inst, t.taken)
	for i := range t.batch {
		op.answer(t.inst, &t.batch[i], plan.Answer{Result: &text, Exception: "Error"})
	}
	t.inst.Updated = op.now
	op.recordBatch(t.inst, t.batch, len(t.batch))
	op.save(t.inst)
}

// answer sends an answer to who has called.
func (op *operation) answer(inst *instance, r *plan.Request, a any) {
	if r.Signal {
		return
	}
	b, err := json.Marshal(a)
	if err != nil { // texts always marshal
		panic(err)
	}
	text := string(b)
	op.send(inst.hub.instances[r.Parent], r.Execution, durable.Event{Type: durable.EventRaised, ID: -1, Name: r.ID, Input: &text})
}

// Entity implements durable.Entities.
func (h *Hub) Entity(ctx context.Context, id durable.EntityID) (out *durable.Entity, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Entity", Function: id.Name, Instance: id.String()}, func(op *operation) error {
		inst := op.e.get(h.key(), id.String())
		if inst == nil || !inst.Exists {
			return notFound("entity " + id.String() + " does not exist")
		}
		out = inst.entityView(true)
		return nil
	})
	return out, err
}

func (inst *instance) entityView(state bool) *durable.Entity {
	id, _ := durable.ParseEntityID(inst.ID)
	out := &durable.Entity{ID: id, Modified: inst.Updated, Queue: len(inst.inbox), LockedBy: inst.LockedBy}
	if state {
		out.State = inst.Content
	}
	return out
}
