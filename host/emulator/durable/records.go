package durable

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/journal"
)

// maxText is how much of an input or output a record has.
const maxText = 1024

func clip(s *string) string {
	if s == nil {
		return ""
	}
	if len(*s) <= maxText {
		return *s
	}
	return strings.ToValidUTF8((*s)[:maxText], "")
}

// record tells of an instance.
func (op *operation) record(inst *instance, r journal.Record, fields ...string) {
	if op.e.opts.Record == nil {
		return
	}
	r.Service, r.Source, r.MessageID, r.Generation = journal.Durable, inst.hub.name, inst.ID, inst.Generation
	if r.Function == "" {
		r.Function = inst.Name
	}
	if r.Trigger == "" {
		r.Trigger = "orchestrationTrigger"
		if inst.entity {
			r.Trigger = "entityTrigger"
		}
	}
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] != "" {
			r.Fields = append(r.Fields, journal.Field{Key: fields[i], Value: fields[i+1]})
		}
	}
	op.records = append(op.records, r)
}

func (op *operation) recordStart(inst *instance, cause string) {
	parent, number := "", ""
	if inst.Parent != nil {
		parent, number = inst.Parent.InstanceID, strconv.Itoa(inst.Parent.Number)
	}
	op.record(inst, journal.Record{Kind: journal.InstanceStarted, Cause: cause}, "execution", inst.Execution, "parent", parent, "number", number, "input", clip(inst.Input))
}

// recordTurn tells of a turn, of the ends that it has taken, and of what it has scheduled.
func (op *operation) recordTurn(inst *instance, t *turn, r *plan.Result, before *string) {
	if op.e.opts.Record == nil {
		return
	}
	status, failure := "waits", ""
	if o := r.Outcome; o != nil {
		status = map[durable.Status]string{durable.Completed: "completed", durable.Failed: "failed", durable.Terminated: "terminated", durable.ContinuedAsNew: "continued_as_new"}[o.Status]
		if o.Status == durable.Failed {
			failure = clip(o.Value)
		}
	}
	custom := ""
	if inst.Custom != nil && (before == nil || *before != *inst.Custom) {
		custom = clip(inst.Custom)
	}
	fields := []string{
		"turn", strconv.Itoa(inst.Turns), "execution", inst.Execution, "in", eventsText(t.events), "out", eventsText(r.Events),
		"open", openText(r.Open), "events", strconv.Itoa(len(inst.history)), "customStatus", custom,
		"unread", eventNames(r.Buffered),
	}
	if m := r.Mismatch; m != nil {
		planned := "nothing"
		if m.Planned != nil {
			planned = eventText(m.Planned)
		}
		fields = append(fields, "history", eventText(&m.Event), "plan", planned, "writtenBy", strconv.Itoa(m.Event.Generation))
	}
	op.record(inst, journal.Record{Kind: journal.OrchestrationTurn, Status: status, Error: failure}, fields...)
	for i := range t.events {
		op.recordEnded(inst, &t.events[i], r)
	}
	for i := range r.Events {
		op.recordScheduled(inst, &r.Events[i], r.Scheduled[i])
	}
}

func (op *operation) recordAborted(inst *instance, why error, pause time.Duration) {
	kind := journal.OrchestrationTurn
	if inst.entity {
		kind = journal.EntityBatch
	}
	op.record(inst, journal.Record{Kind: kind, Status: "aborted", Error: why.Error(), Delay: pause, HasDelay: true}, "turn", strconv.Itoa(inst.Turns+1), "execution", inst.Execution)
}

// recordEnded tells of the end of something that has a number.
func (op *operation) recordEnded(inst *instance, e *durable.Event, r *plan.Result) {
	status, failure := "", ""
	switch e.Type {
	case durable.TaskCompleted, durable.SubOrchestrationInstanceCompleted:
		status = "succeeded"
	case durable.TaskFailed, durable.SubOrchestrationInstanceFailed:
		status, failure = "failed", clip(e.Reason)
	case durable.TimerFired:
		status = "fired"
	default:
		return
	}
	if slices.Contains(r.Ignored, e.Task) || r.Outcome != nil && r.Outcome.Status == durable.Terminated {
		status = "ignored"
	}
	op.recordEnd1(inst, e.Task, status, failure, r)
}

// recordEnd1 tells of the end of a number.
func (op *operation) recordEnd1(inst *instance, number int, status, failure string, r *plan.Result) {
	rec := journal.Record{Kind: journal.TaskEnded, Status: status, Error: failure, Name: "timer"}
	what := ""
	if number < len(r.Numbers) {
		what = r.Numbers[number].What
	}
	if scheduled := inst.scheduled(number); scheduled != nil {
		rec.Delay, rec.HasDelay = op.now.Sub(scheduled.Time), true
		if scheduled.Name != "" {
			rec.Name = scheduled.Name
		}
	}
	op.record(inst, rec, "number", strconv.Itoa(number), "what", what)
}

// scheduled finds the event that has taken a number.
func (inst *instance) scheduled(number int) *durable.Event {
	if i, ok := inst.places[number]; ok {
		return &inst.history[i]
	}
	return nil
}

// recordScheduled tells of what has taken a number.
func (op *operation) recordScheduled(inst *instance, e *durable.Event, what plan.Scheduled) {
	rec := journal.Record{Kind: journal.TaskScheduled, Name: e.Name}
	due, attempt, instance := "", "", ""
	switch e.Type {
	case durable.TimerCreated:
		rec.Name, due = "timer", e.FireAt.Format(time.RFC3339Nano)
		rec.Delay, rec.HasDelay = max(e.FireAt.Sub(op.now), 0), true
	case durable.SubOrchestrationInstanceCreated:
		instance = e.InstanceID
	case durable.EventSent:
		rec.Name = e.InstanceID
	}
	if what.Attempt > 0 {
		attempt = fmt.Sprintf("%d/%d", what.Attempt, what.Attempts)
	}
	op.record(inst, rec, "number", strconv.Itoa(e.ID), "what", what.What, "due", due, "attemptOf", attempt, "instance", instance)
}

// cancel takes a timer that has lost off the clock.
func (op *operation) cancel(inst *instance, number int, r *plan.Result) {
	if a := inst.timer(number); a != nil {
		op.unset(a)
		op.recordEnd1(inst, number, "cancelled", "", r)
	}
}

// recordIgnored tells of an activity's end that nobody hears.
func (op *operation) recordIgnored(a *activity, e *durable.Event) {
	inst := a.hub.instances[a.instance]
	if inst == nil {
		inst = &instance{hub: a.hub, record: record{ID: a.instance}}
	}
	what := "activity"
	if a.Name == plan.HTTPActivity {
		what = "http"
	}
	op.record(inst, journal.Record{Kind: journal.TaskEnded, Status: "ignored", Name: a.Name}, "number", strconv.Itoa(e.Task), "what", what)
}

// recordRaised tells of an external event, and what will become of it as far as is known.
func (op *operation) recordRaised(inst *instance, name, by string) {
	status := "buffered"
	waits := 0
	for _, o := range inst.waits {
		if o.What == "event" && strings.EqualFold(o.Name, name) {
			waits++
		}
	}
	for _, m := range inst.inbox {
		if m.event.Type == durable.EventRaised && strings.EqualFold(m.event.Name, name) {
			waits--
		}
	}
	switch {
	case inst.Status == durable.Suspended:
		status = "held"
	case waits > 0:
		status = "delivered"
	}
	op.record(inst, journal.Record{Kind: journal.EventRaised, Name: name, Status: status}, "by", by)
}

func (op *operation) recordControl(inst *instance, command, by, reason string) {
	op.record(inst, journal.Record{Kind: journal.InstanceControlled, Status: command, Cause: by, Error: reason})
}

func (op *operation) recordEnd(inst *instance) {
	rec := journal.Record{Kind: journal.InstanceEnded, Status: strings.ToLower(inst.Status.String()), Delay: op.now.Sub(inst.Created), HasDelay: true}
	output := clip(inst.Output)
	if inst.Status == durable.Failed {
		rec.Error, output = output, ""
	}
	op.record(inst, rec, "turns", strconv.Itoa(inst.All), "events", strconv.Itoa(len(inst.history)), "output", output)
}

func (op *operation) recordBatch(inst *instance, batch []plan.Request, failed int) {
	var names []string
	counts := map[string]int{}
	for _, r := range batch {
		if counts[r.Operation]++; counts[r.Operation] == 1 {
			names = append(names, r.Operation)
		}
	}
	for i, name := range names {
		if n := counts[name]; n > 1 {
			names[i] = fmt.Sprintf("%s×%d", name, n)
		}
	}
	status := "succeeded"
	if failed > 0 {
		status = "failed"
	}
	op.record(inst, journal.Record{Kind: journal.EntityBatch, Status: status}, "operations", strings.Join(names, " "), "failed", strconv.Itoa(failed), "exists", strconv.FormatBool(inst.Exists))
}

func (op *operation) recordFinding(inst *instance, f durable.Finding) {
	op.record(inst, journal.Record{Kind: journal.DurableFinding, Name: f.Name, Message: f.Message})
}

// eventsText names events as records do: "TaskCompleted#4 EventRaised(ok)".
func eventsText(events []durable.Event) string {
	var words []string
	for i := range events {
		if events[i].Type != durable.OrchestratorStarted {
			words = append(words, eventText(&events[i]))
		}
	}
	return strings.Join(words, " ")
}

// eventNames are the names of external events, each as JSON, which any name can be.
func eventNames(events []durable.Event) string {
	if len(events) == 0 {
		return ""
	}
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].Name
	}
	text, _ := json.Marshal(names) // strings can be written
	return string(text)
}

var typeNames = [...]string{"ExecutionStarted", "ExecutionCompleted", "ExecutionFailed", "ExecutionTerminated", "TaskScheduled", "TaskCompleted", "TaskFailed",
	"SubOrchestrationInstanceCreated", "SubOrchestrationInstanceCompleted", "SubOrchestrationInstanceFailed", "TimerCreated", "TimerFired", "OrchestratorStarted",
	"OrchestratorCompleted", "EventSent", "EventRaised", "ContinueAsNew", "GenericEvent", "HistoryState", "ExecutionSuspended", "ExecutionResumed", "ExecutionRewound"} // read only

func eventText(e *durable.Event) string {
	name := typeNames[e.Type]
	switch e.Type {
	case durable.TaskScheduled, durable.SubOrchestrationInstanceCreated:
		return fmt.Sprintf("%s#%d %s", name, e.ID, e.Name)
	case durable.EventSent:
		return fmt.Sprintf("%s#%d %s", name, e.ID, e.InstanceID)
	case durable.TimerCreated:
		return fmt.Sprintf("%s#%d", name, e.ID)
	case durable.TaskCompleted, durable.TaskFailed, durable.SubOrchestrationInstanceCompleted, durable.SubOrchestrationInstanceFailed, durable.TimerFired:
		return fmt.Sprintf("%s#%d", name, e.Task)
	case durable.EventRaised:
		return fmt.Sprintf("%s(%s)", name, e.Name)
	}
	return name
}

// openText names what is open: "#1 timer, ok".
func openText(open []durable.Open) string {
	var words []string
	for _, o := range open {
		switch o.What {
		case "event":
			words = append(words, "event "+o.Name)
		case "timer":
			words = append(words, fmt.Sprintf("timer#%d", o.Number))
		default:
			words = append(words, fmt.Sprintf("%s#%d", o.Name, o.Number))
		}
		if len(words) == 20 && len(open) > 20 {
			return strings.Join(words, " ") + fmt.Sprintf(" and %d more", len(open)-20)
		}
	}
	return strings.Join(words, " ")
}
