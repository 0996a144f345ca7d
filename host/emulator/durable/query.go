package durable

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Instance implements durable.Reader.
func (h *Hub) Instance(ctx context.Context, id string, read durable.Read) (out *durable.Instance, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Instance", Instance: id}, func(op *operation) error {
		inst := op.e.get(h.key(), id)
		if inst == nil {
			return noInstance(id)
		}
		op.know(inst)
		out = inst.view(read)
		return nil
	})
	return out, err
}

// view is how an instance stands.
func (inst *instance) view(read durable.Read) *durable.Instance {
	out := &durable.Instance{
		ID: inst.ID, Name: inst.Name, Version: inst.Version, Execution: inst.Execution, Status: inst.Status,
		Input: inst.Input, Output: inst.Output, CustomStatus: inst.Custom, Failure: inst.Failure, Created: inst.Created, Updated: inst.Updated,
		Open: slices.Clone(inst.waits), Findings: slices.Clone(inst.Findings), Turns: inst.All, Events: len(inst.history),
	}
	out.Tags, out.Parent = inst.Tags, inst.StartedBy
	if len(inst.inbox) > 0 && inst.inbox[0].event.Type == durable.ExecutionStarted {
		out.Due = inst.inbox[0].event.FireAt
	}
	if inst.Parent != nil {
		out.Parent = inst.Parent.InstanceID
	}
	if read.History {
		out.History = slices.Clone(inst.history)
	}
	return out
}

// know finds what an instance waits for, when that is not known since it was loaded: from
// its history, and what is kept of events and answers.
func (op *operation) know(inst *instance) {
	if inst.known || inst.entity || inst.Status.Finished() {
		return
	}
	inst.known = true
	open := map[int]durable.Open{}
	for i := range inst.history {
		switch e := &inst.history[i]; e.Type {
		case durable.TaskScheduled:
			open[e.ID] = durable.Open{Number: e.ID, What: "activity", Name: e.Name}
		case durable.SubOrchestrationInstanceCreated:
			open[e.ID] = durable.Open{Number: e.ID, What: "child", Name: e.InstanceID}
		case durable.TimerCreated:
			if inst.timer(e.ID) != nil {
				open[e.ID] = durable.Open{Number: e.ID, What: "timer", Due: e.FireAt}
			}
		case durable.TaskCompleted, durable.TaskFailed, durable.SubOrchestrationInstanceCompleted, durable.SubOrchestrationInstanceFailed, durable.TimerFired:
			delete(open, e.Task)
		}
	}
	inst.waits = nil
	for i := range inst.history {
		if o, ok := open[inst.history[i].ID]; ok && inst.history[i].ID >= 0 {
			inst.waits = append(inst.waits, o)
			delete(open, inst.history[i].ID)
		}
	}
	inst.waits = append(inst.waits, inst.Awaits...)
}

// matches reports whether a query asks for an instance.
func (inst *instance) matches(q *durable.Query) bool {
	switch {
	case inst.entity && !q.Entities,
		!q.From.IsZero() && inst.Created.Before(q.From), !q.To.IsZero() && !inst.Created.Before(q.To),
		len(q.Statuses) > 0 && !slices.Contains(q.Statuses, inst.Status),
		!strings.HasPrefix(inst.ID, q.Prefix), q.Name != "" && !strings.EqualFold(q.Name, inst.Name):
		return false
	}
	return true
}

// Instances implements durable.Reader.
func (h *Hub) Instances(ctx context.Context, q durable.Query) (page []*durable.Instance, token string, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Instances"}, func(op *operation) error {
		token = op.page(h, q.Token, q.Top, func(inst *instance) bool { return inst.matches(&q) }, func(inst *instance) {
			op.know(inst)
			page = append(page, inst.view(durable.Read{}))
		})
		return nil
	})
	return page, token, err
}

// Entities implements durable.Entities.
func (h *Hub) Entities(ctx context.Context, q durable.EntityQuery) (page []*durable.Entity, token string, err error) {
	err = h.operate(ctx, FaultPoint{Op: "Entities"}, func(op *operation) error {
		token = op.page(h, q.Token, q.Top, func(inst *instance) bool { return inst.entityMatches(&q) }, func(inst *instance) {
			page = append(page, inst.entityView(q.State))
		})
		return nil
	})
	return page, token, err
}

func (inst *instance) entityMatches(q *durable.EntityQuery) bool {
	switch {
	case !inst.entity || !inst.Exists, q.Name != "" && !strings.EqualFold(q.Name, inst.Name), !strings.HasPrefix(inst.ID, q.Prefix),
		!q.From.IsZero() && inst.Updated.Before(q.From), !q.To.IsZero() && !inst.Updated.Before(q.To):
		return false
	}
	return true
}

// page gives the first instances behind a token that match, top of them, to take, and
// returns the token of the next page, if there is one. A token is the id of the last one; one that cannot be
// read begins anew.
func (op *operation) page(h *Hub, token string, top int, match func(*instance) bool, take func(*instance)) string {
	hub := op.e.st.hubs[h.key()]
	if hub == nil {
		return ""
	}
	if top <= 0 {
		top = 100
	}
	after, _ := base64.RawURLEncoding.DecodeString(strings.TrimSpace(token))
	n, last := 0, ""
	for inst := range hub.sorted.From(&instance{record: record{ID: string(after)}}) {
		if inst.ID == string(after) || !match(inst) {
			continue
		}
		if n == top {
			return base64.RawURLEncoding.EncodeToString([]byte(last))
		}
		take(inst)
		n++
		last = inst.ID
	}
	return ""
}
