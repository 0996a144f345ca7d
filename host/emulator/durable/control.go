package durable

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Control implements durable.Controller.
func (h *Hub) Control(ctx context.Context, id string, c durable.Control) error {
	return h.operate(ctx, FaultPoint{Op: "Control", Instance: id}, func(op *operation) error {
		inst := op.e.get(h.key(), id)
		if inst == nil || inst.entity {
			if c.Command == durable.Rewind {
				return notFound(fmt.Sprintf("No orchestration with instance ID \"$%s\" found.", id))
			}
			return noInstance(id)
		}
		if err := inst.allows(c.Command); err != nil {
			return err
		}
		op.recordControl(inst, string(c.Command), c.By, c.Reason)
		switch c.Command {
		case durable.Rewind:
			op.rewind(inst, c.Reason)
		default:
			op.command(inst, c)
		}
		return nil
	})
}

// allows refuses a command that does not fit the state, in the platform's words (spec
// durable 5.3). What waits in the inbox does not count yet.
func (inst *instance) allows(c durable.Command) error {
	refuse := func(code durable.Code, text string) error {
		return &durable.Error{Code: code, Status: inst.Status, Text: text}
	}
	cannot := fmt.Sprintf("Cannot %s the orchestration instance %s because instance is in the %s state.", c, inst.ID, inst.Status)
	switch c {
	case durable.Rewind:
		if inst.Status != durable.Failed {
			return refuse(durable.CodeWrongState, fmt.Sprintf("This orchestration has status %s, but only orchestrations in the \"Failed\" state can be rewound.", inst.Status))
		}
		return nil
	case durable.Terminate, durable.Suspend, durable.Resume:
	default:
		return refuse(durable.CodeWrongState, fmt.Sprintf("there is no command %q: want terminate, suspend, resume or rewind", c))
	}
	switch {
	case inst.Status.Finished():
		return finished(inst)
	case c == durable.Suspend && inst.Status == durable.Suspended, c == durable.Resume && inst.Status != durable.Suspended:
		return refuse(durable.CodeWrongState, cannot)
	}
	return nil
}

// command puts a command into the inbox.
func (op *operation) command(inst *instance, c durable.Control) {
	reason := c.Reason
	e := durable.Event{ID: -1}
	var given *string
	if reason != "" {
		given = &reason
	}
	switch c.Command {
	case durable.Terminate:
		e.Type, e.Input = durable.ExecutionTerminated, &reason
	case durable.Suspend:
		e.Type, e.Reason = durable.ExecutionSuspended, given
	case durable.Resume:
		e.Type, e.Reason = durable.ExecutionResumed, given
	}
	op.send(inst, "", e)
}

// rewind brings a failed instance back to before its failures (spec durable 5.10).
//
// Source: azst Tracking/AzureTableTrackingStore.cs.
func (op *operation) rewind(inst *instance, reason string) {
	failed := map[int]bool{} // activities that have failed, by number
	for i := range inst.history {
		if e := &inst.history[i]; e.Type == durable.TaskFailed {
			failed[e.Task] = true
		}
	}
	deepest := true
	for i := range inst.history {
		e := &inst.history[i]
		switch {
		case e.Type == durable.SubOrchestrationInstanceFailed:
			if child := op.childOf(inst, e.Task); child != nil && child.Status == durable.Failed {
				deepest = false
				op.rewind(child, reason)
			}
		case e.Type == durable.TaskFailed, e.Type == durable.TaskScheduled && failed[e.ID], e.Type == durable.ExecutionCompleted:
		default:
			continue
		}
		*e = durable.Event{Type: durable.GenericEvent, ID: -1, Time: e.Time, Generation: e.Generation}
	}
	op.rewrite(inst)
	inst.played, inst.encoded, inst.state, inst.reply = nil, 0, nil, ""
	inst.Status, inst.Output, inst.Failure, inst.known, inst.Updated = durable.Pending, nil, nil, false, op.now
	op.save(inst)
	if deepest {
		e := durable.Event{Type: durable.GenericEvent, ID: -1}
		if reason != "" {
			e.Data = &reason
		}
		op.send(inst, "", e)
	}
}

// childOf finds the child that an instance has made under a number.
func (op *operation) childOf(inst *instance, number int) *instance {
	for i := range inst.history {
		if e := &inst.history[i]; e.Type == durable.SubOrchestrationInstanceCreated && e.ID == number {
			return inst.hub.instances[e.InstanceID]
		}
	}
	return nil
}

// Purge implements durable.Controller.
func (h *Hub) Purge(ctx context.Context, id, by string) (n int, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Purge", Instance: id}, func(op *operation) error {
		inst := op.e.get(h.key(), id)
		switch {
		case inst == nil && len(id) > 0 && id[0] == '@':
			return nil
		case inst == nil:
			return noInstance(id)
		case !inst.entity && !inst.Status.Finished():
			return &durable.Error{Code: durable.CodeWrongState, Status: inst.Status, Text: fmt.Sprintf("Only orchestrations in a terminal state can be purged, but the orchestration with instance ID %s has status %s", id, inst.Status)}
		}
		op.purge(inst, by)
		n = 1
		return nil
	})
	return n, err
}

// PurgeAll implements durable.Controller. Top and Token of q do not count.
func (h *Hub) PurgeAll(ctx context.Context, q durable.Query, by string) (n int, err error) {
	err = h.operate(ctx, FaultPoint{Op: "PurgeAll"}, func(op *operation) error {
		hub := op.e.st.hubs[h.key()]
		if hub == nil {
			return nil
		}
		var list []*instance
		for inst := range hub.sorted.Behind(0) {
			if inst.matches(&q) {
				list = append(list, inst)
			}
		}
		for _, inst := range list {
			op.purge(inst, by)
		}
		n = len(list)
		return nil
	})
	return n, err
}

// purge removes an instance; one that has not ended is named.
func (op *operation) purge(inst *instance, by string) {
	op.recordControl(inst, "purge", by, "")
	if !inst.entity && !inst.Status.Finished() {
		op.recordFinding(inst, durable.Finding{Name: "purged_running", Message: fmt.Sprintf("%s was removed by a purge while it was %s: the platform's purge by filter takes every state when none is listed; list runtimeStatus", inst.ID, inst.Status)})
	}
	op.remove(inst)
}
