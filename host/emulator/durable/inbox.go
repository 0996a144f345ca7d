package durable

import (
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
)

// message is one entry of an inbox.
type message struct {
	seq       uint64
	execution string // for which it is; "": any
	event     durable.Event
	asks      *plan.Request // of an entity, once it was read
}

// send puts an event into an inbox, unless it is for another execution or the instance has
// ended: then it reports false.
func (op *operation) send(inst *instance, execution string, e durable.Event) bool {
	if inst == nil || inst.Status.Finished() || execution != "" && execution != inst.Execution {
		return false
	}
	e.Time = op.now
	m := &message{seq: op.e.st.next(), execution: execution, event: e}
	inst.inbox = append(inst.inbox, m)
	op.saveMessage(inst, m)
	op.touch(inst)
	return true
}

// touch has an instance looked at before the operation ends.
func (op *operation) touch(inst *instance) { op.touched = append(op.touched, inst) }

// isReady is the place of the oldest message, when a turn may be made; else 0.
func (inst *instance) isReady(now time.Time) uint64 {
	if inst.turn != nil || len(inst.inbox) == 0 || inst.paused.After(now) || inst.Status.Finished() {
		return 0
	}
	if inst.inbox[0].event.Type == durable.ExecutionStarted && inst.inbox[0].event.FireAt.After(now) {
		return 0 // a start that waits
	}
	if inst.entity {
		return inst.firstOperation()
	}
	return inst.inbox[0].seq
}

// settle looks at what was touched: some turns need no worker, the others are made ready.
func (op *operation) settle() {
	for len(op.touched) > 0 {
		inst := op.touched[0]
		op.touched = op.touched[1:]
		d := op.e.desk(inst.hub.key)
		if inst.hub.instances[inst.ID] != inst {
			d.drop(inst)
			continue
		}
		if inst.entity && inst.turn == nil && (locking{op}).serve(inst) {
			continue // it is gone
		}
		switch {
		case inst.turn != nil || len(inst.inbox) == 0:
			d.drop(inst)
		case inst.terminates():
			op.terminate(inst)
		case d.served() && !inst.entity && !d.runs(inst.function()) && inst.isReady(op.now) != 0:
			op.refuse(inst)
		case d.served() && inst.entity && d.protobuf(inst) && !d.runs(inst.function()) && inst.isReady(op.now) != 0:
			wired{op}.refuseBatch(inst)
		default:
			d.look(inst)
		}
	}
}

// terminates reports whether an inbox has the command to end.
func (inst *instance) terminates() bool {
	for _, m := range inst.inbox {
		if m.event.Type == durable.ExecutionTerminated {
			return true
		}
	}
	return false
}
