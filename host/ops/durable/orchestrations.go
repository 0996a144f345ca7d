package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/ops"
)

// ListOrchestrations lists the instances of orchestrators by their ids, at most 256.
type ListOrchestrations struct {
	ops.Op[OrchestrationList] `route:"GET /orchestrations"`

	Status string `query:"status"` // only those with this status
	Name   string `query:"name"`   // only those of this orchestrator
	Prefix string `query:"prefix"` // only those whose id begins so
	Hub    string `query:"hub"`    // of another task hub than the app's
}

// Do lists them.
func (in ListOrchestrations) Do(ctx context.Context, e *ops.Env) (out OrchestrationList, err error) {
	out = OrchestrationList{Orchestrations: []Orchestration{}, Statuses: map[string]int{}}
	if e.Host.Durable().Hub("") == nil {
		return out, nil
	}
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	statuses, err := statusesOf(in.Status)
	if err != nil {
		return out, err
	}
	now := e.Host.Clock().Now()
	err = each(ctx, h, durable.Query{Statuses: statuses, Name: in.Name, Prefix: in.Prefix}, func(i *durable.Instance) bool {
		out.Statuses[i.Status.String()]++
		if len(out.Orchestrations) < mostListed {
			out.Orchestrations = append(out.Orchestrations, shown(i, now))
		} else {
			out.More++
		}
		return true
	})
	return out, err
}

// statusesOf reads a status; empty: any.
func statusesOf(name string) ([]durable.Status, error) {
	if name == "" {
		return nil, nil
	}
	s, ok := durable.ParseStatus(name)
	if !ok {
		return nil, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("there is no status %q", name), "the statuses are Pending, Running, Suspended, Completed, Failed and Terminated")
	}
	return []durable.Status{s}, nil
}

// OrchestrationList are instances of orchestrators.
type OrchestrationList struct {
	Orchestrations []Orchestration `json:"orchestrations"`
	More           int             `json:"more,omitempty"`     // so many are not listed
	Statuses       map[string]int  `json:"statuses,omitempty"` // how many have each status
}

// Orchestration is how an instance of an orchestrator stands.
type Orchestration struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"` // of the orchestrator
	Status       string    `json:"status"`
	Parent       string    `json:"parent,omitempty"` // the instance that has made it
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"` // with its last turn
	Age          string    `json:"age"`     // since its start, by the host's clock
	Waits        []string  `json:"waits,omitempty"`
	CustomStatus string    `json:"customStatus,omitempty"` // JSON
	Findings     []string  `json:"findings,omitempty"`     // names of what it has met, see ShowOrchestration
	Turns        int       `json:"turns,omitempty"`
	Events       int       `json:"events,omitempty"` // of its history
}

func shown(i *durable.Instance, now time.Time) Orchestration {
	out := Orchestration{
		ID: i.ID, Name: i.Name, Status: i.Status.String(), Parent: i.Parent, Created: i.Created, Updated: i.Updated,
		Age: explain.Roughly(now.Sub(i.Created)), Waits: waits(i, now), Turns: i.Turns, Events: i.Events,
	}
	if i.CustomStatus != nil {
		out.CustomStatus = *i.CustomStatus
	}
	for _, f := range i.Findings {
		out.Findings = append(out.Findings, f.Name)
	}
	return out
}

// StartOrchestration starts an orchestrator. 404 when the app does not have it.
type StartOrchestration struct {
	ops.Op[OrchestrationStarted] `route:"POST /orchestrations" status:"201"`

	Name  string `query:"name,required"`
	ID    string `query:"id" usage:"the id of the instance (default one is made)"`
	Hub   string `query:"hub"`
	Input []byte `body:"raw"` // JSON
}

// Do starts it.
func (in StartOrchestration) Do(ctx context.Context, e *ops.Env) (out OrchestrationStarted, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	if err := known(e, durable.Orchestrator, "orchestrator", in.Name); err != nil {
		return out, err
	}
	input, err := jsonOf(in.Input, "the input")
	if err != nil {
		return out, err
	}
	if in.ID != "" {
		if text := durabletask.BadID(in.ID); text != "" {
			return out, ops.Refuse(http.StatusBadRequest, text, "")
		}
	}
	out.ID, err = h.Start(ctx, durable.Start{Name: in.Name, ID: in.ID, Input: input, By: "cli"})
	return out, err
}

// known refuses the name of a function that no app of the run has, whether it runs or not.
func known(e *ops.Env, kind durable.Kind, what, name string) error {
	var names []string
	for _, h := range e.Apps() {
		has := durabletask.FunctionsOf(h.App())
		for _, f := range slices.Concat(has.Known, has.Disabled) {
			if f.Kind != kind {
				continue
			}
			if strings.EqualFold(f.Name, name) {
				return nil
			}
			names = append(names, f.Name)
		}
	}
	return e.NoSuch(what, name, names)
}

// jsonOf reads a JSON value; nil: there is none.
func jsonOf(text []byte, what string) (*string, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if !json.Valid(text) {
		return nil, ops.Refuse(http.StatusBadRequest, what+" is not JSON", `a text is written with its quotes: '"text"'`)
	}
	out := string(text)
	return &out, nil
}

// OrchestrationStarted has the id of a new instance.
type OrchestrationStarted struct {
	ID string `json:"id"`
}

// PurgeOrchestrations removes the finished instance with an id, or those that were made before
// a time, with their histories. Of the latter those that still run are removed too, as on the
// platform, unless a status is given.
type PurgeOrchestrations struct {
	ops.Op[OrchestrationsPurged] `route:"DELETE /orchestrations"`

	ID     string `query:"id" usage:"only this instance, which has to be finished"`
	Before string `query:"before" usage:"those that were made before this time, as 2030-01-01T09:00:00Z"`
	Status string `query:"status" usage:"only those with this status: Completed, Failed, Terminated, Running, ..."`
	Hub    string `query:"hub"`
}

// Do removes them.
func (in PurgeOrchestrations) Do(ctx context.Context, e *ops.Env) (out OrchestrationsPurged, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	if in.ID != "" {
		out.Removed, err = h.Purge(ctx, in.ID, "cli")
		return out, err
	}
	q := durable.Query{}
	if q.Statuses, err = statusesOf(in.Status); err != nil {
		return out, err
	}
	if in.Before != "" {
		if q.To, err = time.Parse(time.RFC3339, in.Before); err != nil {
			return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("before %q: want a time", in.Before), "for instance 2030-01-01T09:00:00Z")
		}
	}
	if q.To.IsZero() && q.Statuses == nil {
		return out, ops.Refuse(http.StatusBadRequest, "a purge of all instances, those that run too, has to say so", "--id names one instance; --before or --status chooses several")
	}
	out.Removed, err = h.PurgeAll(ctx, q, "cli")
	return out, err
}

// OrchestrationsPurged says how many instances are gone.
type OrchestrationsPurged struct {
	Removed int `json:"removed"`
}

// ShowOrchestration shows an instance with its history.
type ShowOrchestration struct {
	ops.Op[OrchestrationShown] `route:"GET /orchestrations/instance" verb:"show" short:"Show an orchestration with its history"`

	ID  string `query:"id,required"`
	Hub string `query:"hub"`
}

// Do shows it.
func (in ShowOrchestration) Do(ctx context.Context, e *ops.Env) (out OrchestrationShown, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	i, err := h.Instance(ctx, in.ID, durable.Read{History: true})
	if err != nil {
		return out, err
	}
	out.Orchestration = shown(i, e.Host.Clock().Now())
	out.Execution = i.Execution
	for _, v := range []struct {
		from *string
		to   *string
	}{{i.Input, &out.Input}, {i.Output, &out.Output}} {
		if v.from != nil {
			*v.to = *v.from
		}
	}
	for _, f := range i.Findings {
		out.Found = append(out.Found, OrchestrationFinding(f))
	}
	out.Steps = steps(i.History)
	for n := range i.History {
		out.History = append(out.History, eventOf(&i.History[n]))
	}
	return out, nil
}

// OrchestrationShown is an instance of an orchestrator.
type OrchestrationShown struct {
	Orchestration
	Execution string                 `json:"execution,omitempty"` // the id of its execution: continue-as-new makes another one
	Input     string                 `json:"input,omitempty"`     // JSON
	Output    string                 `json:"output,omitempty"`    // JSON; of a failure its text
	Found     []OrchestrationFinding `json:"found,omitempty"`     // what it has met, with a sentence
	Steps     []ScheduledStep        `json:"steps,omitempty"`     // what it has scheduled, in the order of their numbers
	History   []HistoryEvent         `json:"history"`             // of the last execution
}

// OrchestrationFinding is a fault of the platform or of the app that an instance has met.
type OrchestrationFinding struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// RaiseEvent gives an instance an external event. 410 when it is finished.
type RaiseEvent struct {
	ops.Op[EventRaised] `route:"POST /orchestrations/event" status:"202"`

	ID    string `query:"id,required"`
	Event string `query:"event,required"` // the name of the event
	Hub   string `query:"hub"`
	Data  []byte `body:"raw"` // JSON; none: null
}

// Do raises it.
func (in RaiseEvent) Do(ctx context.Context, e *ops.Env) (out EventRaised, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	data, err := jsonOf(in.Data, "the event")
	if err != nil {
		return out, err
	}
	text := "null"
	if data != nil {
		text = *data
	}
	return EventRaised{in.ID, in.Event}, h.RaiseEvent(ctx, in.ID, in.Event, text, "cli")
}

// EventRaised says which event an instance was given.
type EventRaised struct {
	ID    string `json:"id"`
	Event string `json:"event"`
}

// ControlOrchestration terminates, suspends, resumes or rewinds an instance. 410 when it is
// finished, 409 when the command does not fit its status.
type ControlOrchestration struct {
	ops.Op[Controlled] `route:"POST /orchestrations/command" status:"202" effect:"destroys"`

	Command string `query:"command,required" enum:"terminate,suspend,resume,rewind"`
	ID      string `query:"id,required"`
	Reason  string `query:"reason" arg:"reason"`
	Hub     string `query:"hub"`
}

// Do carries it out.
func (in ControlOrchestration) Do(ctx context.Context, e *ops.Env) (out Controlled, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	return Controlled{in.ID, in.Command}, h.Control(ctx, in.ID, durable.Control{Command: durable.Command(in.Command), Reason: in.Reason, By: "cli"})
}

// Controlled says which command an instance was given.
type Controlled struct {
	ID      string `json:"id"`
	Command string `json:"command"`
}

// RestartOrchestration starts the orchestration of an instance anew with its input.
type RestartOrchestration struct {
	ops.Op[OrchestrationStarted] `route:"POST /orchestrations/restart" status:"202" effect:"destroys"`

	ID    string `query:"id,required"`
	NewID string `query:"newId" usage:"the id of the new instance (default the same one, whose history is replaced)"`
	Hub   string `query:"hub"`
}

// Do restarts it.
func (in RestartOrchestration) Do(ctx context.Context, e *ops.Env) (out OrchestrationStarted, err error) {
	h, err := hub(e, in.Hub)
	if err != nil {
		return out, err
	}
	out.ID, err = h.Restart(ctx, in.ID, in.NewID, "cli")
	return out, err
}
