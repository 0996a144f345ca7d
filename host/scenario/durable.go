package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	ops_durable "github.com/redeliver/redeliver/host/ops/durable"
	"github.com/redeliver/redeliver/schemas"
)

// The steps for Durable Functions (spec durable 12.4).
type (
	startOrchestration struct {
		Name  string          `json:"name"`
		ID    string          `json:"id"` // empty: i1, i2, ...
		Input json.RawMessage `json:"input"`
	}
	raiseEvent struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Data        json.RawMessage `json:"data"`
		MayBeUnread bool            `json:"mayBeUnread"`
	}
	signal struct {
		Entity string          `json:"entity"`
		Op     string          `json:"op"`
		Input  json.RawMessage `json:"input"`
	}
	controlled struct {
		Command string  `json:"command"`
		ID      string  `json:"id"`
		Reason  *string `json:"reason"`
		NewID   *string `json:"newId"`
	}
)

// taskHub is a run with its task hub: that of the first app that has one.
type taskHub struct{ *run }

// orchestrate carries out a step for Durable Functions, and reports whether s is one.
func (r taskHub) orchestrate(s *step) bool {
	switch {
	case s.StartOrchestration != nil:
		in := *s.StartOrchestration
		if in.ID == "" {
			r.started++
			in.ID = "i" + strconv.Itoa(r.started)
		}
		orchestrated(r, "startOrchestration", ops_durable.StartOrchestration{Name: in.Name, ID: in.ID, Input: in.Input})
	case s.RaiseEvent != nil:
		in := s.RaiseEvent
		orchestrated(r, "raiseEvent", ops_durable.RaiseEvent{ID: in.ID, Event: in.Name, Data: in.Data})
		if !in.MayBeUnread {
			r.raised = append(r.raised, raised{schemas.JoinPath(r.at, "raiseEvent"), in.ID, in.Name})
		}
	case s.Signal != nil:
		orchestrated(r, "signal", ops_durable.SignalEntity{Entity: s.Signal.Entity, Operation: s.Signal.Op, Input: s.Signal.Input})
	case s.Orchestration != nil:
		r.control(s.Orchestration)
	default:
		return false
	}
	return true
}

// control gives an instance a command.
func (r taskHub) control(c *controlled) {
	switch c.Command {
	case "restart":
		orchestrated(r, "orchestration", ops_durable.RestartOrchestration{ID: c.ID, NewID: text(c.NewID)})
	case "purge":
		gone := orchestrated(r, "orchestration", ops_durable.PurgeOrchestrations{ID: c.ID})
		if gone.Removed == 0 {
			r.unknownInstance(schemas.JoinPath(r.at, "orchestration"), c.ID)
			runtime.Goexit()
		}
	default:
		orchestrated(r, "orchestration", ops_durable.ControlOrchestration{Command: c.Command, ID: c.ID, Reason: text(c.Reason)})
	}
}

// awaitFaults are members that an await of an orchestration, or of a record, does not have.
func (s *Scenario) awaitFaults(at string, a *await) (faults []*schemas.Fault) {
	record := await{a.Function, a.Kind, a.Settled, a.Attempt, a.DeliveryCount, "", ""}
	switch {
	case a.Orchestration == "" && a.Status != "":
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "status"), "", "with orchestration", "the end of an orchestration has a status, and no record"))
	case a.Orchestration != "" && record != (await{}):
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "orchestration"), "", "one of them: write each as a step", "the step awaits an orchestration and a record"))
	}
	return faults
}

// controlFaults are members that a command does not have.
func (s *Scenario) controlFaults(at string, c *controlled) (faults []*schemas.Fault) {
	if c.NewID != nil && c.Command != "restart" {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "newId"), "", "only of restart", c.Command+" has no newId"))
	}
	if c.Reason != nil && (c.Command == "restart" || c.Command == "purge") {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "reason"), "", "of terminate, suspend, resume and rewind", c.Command+" has no reason"))
	}
	return faults
}

// orchestrated does an operation of a step, which fails when it is refused.
func orchestrated[Out any](r taskHub, step string, in ops.Operation[Out]) Out {
	out, refused := hosttest.Try(r.hubHost(), in)
	if refused == nil {
		return out
	}
	text := refused.Text
	if refused.Hint != "" {
		text += "; " + refused.Hint
	}
	r.mismatch(schemas.JoinPath(r.at, step), text, "", "", r.all)
	runtime.Goexit()
	return out
}

// hubHost is the host of the first app that has Durable Functions.
func (r taskHub) hubHost() *hosttest.Host {
	for _, p := range r.cast {
		if p.h.Durable().Hub("") != nil {
			return p.h
		}
	}
	return r.h
}

// hub is its task hub; nil: no app has one.
func (r taskHub) hub() durable.Hub { return r.hubHost().Durable().Hub("") }

// orchestrationsNow are the instances that there are, by their ids.
func (r taskHub) orchestrationsNow() (list []*durable.Instance) {
	hub := r.hub()
	if hub == nil {
		return nil
	}
	var err error
	r.hubHost().Act("look at the orchestrations", func(ctx context.Context) {
		for q := (durable.Query{Top: 1000}); ; {
			var page []*durable.Instance
			if page, q.Token, err = hub.Instances(ctx, q); err != nil {
				return
			}
			if list = append(list, page...); q.Token == "" {
				return
			}
		}
	})
	if err != nil {
		r.Fatalf("%v", err)
	}
	return list
}

// unknownInstance tells of the id of no instance, with the one that was meant.
func (r taskHub) unknownInstance(at, id string) {
	var ids []string
	for _, i := range r.orchestrationsNow() {
		ids = append(ids, i.ID)
	}
	text := fmt.Sprintf("there is no orchestration %q", id)
	if near := schemas.Meant(id, ids); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	list := strings.Join(ids[:min(len(ids), 20)], ", ")
	if list == "" {
		list = "none"
	}
	r.mismatch(at, text, "one that was started", list, r.all)
}

// awaitOrchestration moves time until an instance has ended. Time has no limit of its own: each
// turn of the instance gives it two months more, so that a monitor may run for a year.
func (r taskHub) awaitOrchestration(a *await) {
	at := schemas.JoinPath(r.at, "await")
	if r.hub() == nil {
		r.mismatch(at, "the app has no Durable Functions", "", "", nil)
		runtime.Goexit()
	}
	found, err := r.hubHost().For(context.Background()).UntilEnded(a.Orchestration)
	if err != nil {
		r.Fatalf("%v", err)
	}
	switch {
	case found == nil:
		r.unknownInstance(schemas.JoinPath(at, "orchestration"), a.Orchestration)
	case !found.Status.Finished():
		r.mismatch(schemas.JoinPath(at, "orchestration"), fmt.Sprintf("orchestration %q has not ended", found.ID), "an end", r.stands(found), r.tale(found.ID))
	case a.Status != "" && a.Status != found.Status.String():
		r.mismatch(schemas.JoinPath(at, "status"), fmt.Sprintf("orchestration %q has ended otherwise", found.ID), a.Status, found.Status.String(), r.tale(found.ID))
	default:
		return
	}
	runtime.Goexit()
}

// stands says how an instance that has not ended stands: "Running, waits for event ok".
func (r taskHub) stands(i *durable.Instance) string {
	text := i.Status.String()
	var waits, names []string
	for _, o := range i.Open {
		waits = append(waits, ops_durable.Waits(o, r.h.Clock().Now()))
	}
	if len(waits) > 0 {
		text += ", waits for " + strings.Join(waits[:min(len(waits), 5)], ", ")
	}
	for _, f := range i.Findings {
		names = append(names, f.Name+": "+f.Message)
	}
	if len(names) > 0 {
		text += "; " + strings.Join(names, "; ")
	}
	return text
}

// ofInstance counts the records of a kind that are of an instance, those of all its executions.
func (r taskHub) ofInstance(kind journal.Kind, id string) int {
	return len(r.journaled(func(rec *journal.Record) bool { return rec.Kind == kind && rec.MessageID == id }))
}

// fieldOf is one of the fields that only some kinds of records have; empty: there is none.
func fieldOf(rec *journal.Record, key string) string {
	for _, f := range rec.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// A raised event has to be read by the instance that got it.
type raised struct{ at, id, name string }

// unread tells of external events that an instance was given and has never asked for: their name
// is most likely mistyped.
func (r taskHub) unread() {
	for _, e := range r.raised {
		var left []string
		for _, rec := range r.journaled(func(rec *journal.Record) bool { return rec.Kind == journal.OrchestrationTurn && rec.MessageID == e.id }) {
			left = nil
			_ = json.Unmarshal([]byte(fieldOf(&rec, "unread")), &left) // without events there is nothing
		}
		if slices.ContainsFunc(left, func(name string) bool { return strings.EqualFold(name, e.name) }) {
			r.mismatch(e.at, fmt.Sprintf("orchestration %q has never waited for event %q: it is still unread", e.id, e.name), "an event that it waits for, or mayBeUnread: true", "", r.tale(e.id))
		}
	}
}
