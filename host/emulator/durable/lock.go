package durable

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// Locks of entities (spec durable 7.6). A request for locks goes from entity to entity, in
// the order of its set; each that is free notes its owner, and the last one answers. Until it
// is released an entity serves its owner alone. No function is asked for any of that.

// locking is an operation on what is sent to entities.
type locking struct{ *operation }

// addRequest sends what an orchestrator has scheduled for an entity, or for another
// orchestrator.
func (op locking) addRequest(inst *instance, e *durable.Event) {
	_, ok := durable.ParseEntityID(e.InstanceID)
	var r plan.Request
	switch {
	case !ok:
		op.send(inst.hub.instances[e.InstanceID], "", durable.Event{Type: durable.EventRaised, ID: -1, Name: e.Name, Input: e.Input})
	case e.Input == nil || json.Unmarshal([]byte(*e.Input), &r) != nil: // nothing that an entity reads
	case e.Name == plan.Release:
		if to := inst.hub.instances[e.InstanceID]; to != nil {
			op.send(to, "", durable.Event{Type: durable.EventRaised, ID: -1, Name: plan.Release, Input: e.Input})
		}
	default:
		op.request(inst.hub, e.InstanceID, r)
	}
}

// request reads a message to an entity.
func (m *message) request() *plan.Request {
	if m.asks == nil {
		m.asks = &plan.Request{}
		_ = json.Unmarshal([]byte(*m.event.Input), m.asks) // it was written by String, or read before
	}
	return m.asks
}

func (m *message) isRelease() bool { return m.event.Name == plan.Release }

// held reports whether a message has to wait: another instance has locked the entity.
func (inst *instance) held(m *message) bool {
	return inst.LockedBy != "" && m.request().Parent != inst.LockedBy && !m.isRelease()
}

// operations are the messages of the next batch, most at the most, which are then the first
// of the inbox. A batch ends before a request for locks and before a release.
func (inst *instance) operations(most int) []*message {
	var list, rest []*message
	for i, m := range inst.inbox {
		if m.isRelease() || !inst.held(m) && m.request().LockSet != nil || len(list) == most {
			rest = append(rest, inst.inbox[i:]...)
			break
		}
		if inst.held(m) {
			rest = append(rest, m)
		} else {
			list = append(list, m)
		}
	}
	inst.inbox = append(list[:len(list):len(list)], rest...)
	return list
}

// firstOperation is the place of the first operation that an entity can serve; 0: none.
func (inst *instance) firstOperation() uint64 {
	for _, m := range inst.inbox {
		switch {
		case inst.held(m):
		case m.isRelease() || m.request().LockSet != nil:
			return 0
		default:
			return m.seq
		}
	}
	return 0
}

// serve serves the requests for locks and the releases that have their turn. It reports
// whether nothing is left of the entity.
func (op locking) serve(inst *instance) (gone bool) {
	changed := false
	for i := 0; i < len(inst.inbox); {
		m := inst.inbox[i]
		switch {
		case inst.held(m):
			i++
			continue
		case m.isRelease():
			op.takeOne(inst, i)
			if r := m.request(); inst.LockedBy != "" && r.ID == inst.Lock {
				inst.LockedBy, inst.Lock = "", ""
				i = 0 // who has waited goes first
			}
		case m.request().LockSet != nil:
			op.takeOne(inst, i)
			op.lock(inst, *m.request())
			i = 0
		default:
			i = len(inst.inbox) // an operation has its turn before what is behind it
			continue
		}
		changed = true
	}
	if changed {
		inst.Updated = op.now
		op.keep(inst)
	}
	return inst.hub.instances[inst.ID] != inst
}

// takeOne removes one message of the inbox.
func (op locking) takeOne(inst *instance, i int) {
	op.dropMessage(inst, inst.inbox[i])
	inst.inbox = slices.Delete(slices.Clone(inst.inbox), i, i+1)
}

// lock notes the owner of an entity, and sends the request on.
func (op locking) lock(inst *instance, r plan.Request) {
	inst.LockedBy, inst.Lock = r.Parent, r.ID
	r.Position++
	if r.Position < len(r.LockSet) {
		next := r.LockSet[r.Position]
		op.request(inst.hub, durable.EntityID(next).String(), r)
		return
	}
	result := "Lock Acquisition Completed"
	op.answer(inst, &r, plan.Answer{Result: &result})
}

// Clean implements durable.Entities.
func (h *Hub) Clean(ctx context.Context, empty, orphaned bool) (removed, released int, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Clean"}, func(op *operation) error {
		hub := op.e.st.hubs[h.key()]
		if hub == nil {
			return nil
		}
		for inst := range hub.sorted.Behind(0) {
			if !inst.entity || inst.LockedBy == "" || !orphaned {
				continue
			}
			if owner := hub.instances[inst.LockedBy]; owner == nil || owner.Status.Finished() {
				inst.LockedBy, inst.Lock = "", ""
				released++
				op.save(inst)
				op.touch(inst)
			}
		}
		var gone []*instance
		for inst := range hub.sorted.Behind(0) {
			if empty && inst.entity && !inst.Exists && inst.LockedBy == "" && len(inst.inbox) == 0 && len(inst.alarms) == 0 && inst.turn == nil {
				gone = append(gone, inst)
			}
		}
		for _, inst := range gone {
			op.remove(inst)
		}
		removed = len(gone)
		return nil
	})
	return removed, released, err
}
