package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// Turn is what a reply comes to.
type Turn struct {
	*plan.Result
	Custom *string // JSON; nil: none

	// Version is that of the next execution; nil: the same.
	Version *string

	// OutOfMemory: the orchestrator has failed for want of memory, and the turn comes again.
	OutOfMemory bool
}

// Read reads the reply to the last turn of a history. What is no reply fails the instance.
func Read(in *plan.Instance, history []durable.Event, r *durable.Reply) *Turn {
	t := &Turn{Result: &plan.Result{}}
	m := &machine{Turn: t, in: in, history: history, taken: map[int]*durable.Event{}}
	m.before()
	reply := &pb.OrchestratorResponse{}
	switch err := decode(r, reply); {
	case err != nil:
		m.fail(in.Name, err)
	default:
		t.Custom = Pointer(reply.GetCustomStatus())
		m.actions(reply)
	}
	m.after()
	return t
}

// decode reads base64, in JSON quotes or bare.
func decode(r *durable.Reply, into proto.Message) error {
	if r.Failed {
		return errors.New(r.Message)
	}
	value := r.Value
	var quoted string
	if json.Unmarshal([]byte(value), &quoted) == nil {
		value = quoted
	}
	if value == "" || value == "null" {
		return errors.New("the function has returned nothing")
	}
	b, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return fmt.Errorf("the function has returned no base64: %w", err)
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, into); err != nil {
		return fmt.Errorf("what the function has returned cannot be read: %w", errors.New(strings.ReplaceAll(err.Error(), "\u00a0", " ")))
	}
	return nil
}

// machine reads one reply against the history.
type machine struct {
	*Turn
	in      *plan.Instance
	history []durable.Event
	taken   map[int]*durable.Event // numbers of the history
}

// before looks at the history.
func (m *machine) before() {
	for i := range m.history {
		e := &m.history[i]
		switch e.Type {
		case durable.TaskScheduled, durable.TimerCreated, durable.SubOrchestrationInstanceCreated, durable.EventSent:
			m.taken[e.ID] = e
			m.number(e)
		case durable.ExecutionSuspended:
			m.Suspended = true
		case durable.ExecutionResumed:
			m.Suspended = false
		}
	}
}

// number notes what a number is for.
func (m *machine) number(e *durable.Event) plan.Scheduled {
	what := plan.Scheduled{What: "activity"}
	switch e.Type {
	case durable.TimerCreated:
		what.What = "timer"
	case durable.SubOrchestrationInstanceCreated:
		what.What = "child"
	case durable.EventSent:
		if what.What = "signal"; callOf(e) != "" {
			what.What = "call"
		}
	}
	if e.ID >= 0 && e.ID < 1<<20 {
		for len(m.Numbers) <= e.ID {
			m.Numbers = append(m.Numbers, plan.Scheduled{})
		}
		m.Numbers[e.ID] = what
	}
	m.Next = max(m.Next, e.ID+1)
	return what
}

// callOf is the id of a call to an entity, or of a request for locks, whose answer is waited
// for.
func callOf(e *durable.Event) string {
	var r plan.Request
	if _, ok := durable.ParseEntityID(e.InstanceID); !ok || e.Input == nil || e.Name == plan.Release || json.Unmarshal([]byte(*e.Input), &r) != nil || r.Signal {
		return ""
	}
	return r.ID
}

func (m *machine) fail(name string, why error) {
	text := Unhandled(name)
	m.Outcome = &plan.Outcome{Status: durable.Failed, Number: m.Next, Value: &text, Failure: &durable.Failure{Type: unknownType, Message: why.Error()}}
}

// actions makes events of what a worker wants.
func (m *machine) actions(reply *pb.OrchestratorResponse) {
	var mismatch *plan.Mismatch
	for _, a := range reply.GetActions() {
		if c := a.GetCompleteOrchestration(); c != nil {
			m.complete(int(a.GetId()), c)
			continue
		}
		e := eventOf(m.in, a)
		switch old := m.taken[int(a.GetId())]; {
		case e == nil:
		case old == nil:
			m.taken[e.ID] = e
			m.Scheduled = append(m.Scheduled, m.number(e))
			m.Events = append(m.Events, *e)
		case mismatch == nil && (old.Type != e.Type || !strings.EqualFold(old.Name, e.Name)):
			mismatch = &plan.Mismatch{Event: *old, Planned: e}
		}
	}
	if mismatch != nil && (m.Outcome == nil || m.Outcome.Status != durable.Failed) {
		m.Mismatch, m.Outcome = mismatch, plan.Mismatched(&mismatch.Event, mismatch.Planned, m.Next)
		m.Findings = append(m.Findings, durable.Finding{Name: plan.Nondeterministic, Message: *m.Outcome.Value})
	}
}

// eventOf is the scheduling event of an action; nil for one that this host does not know.
func eventOf(in *plan.Instance, a *pb.OrchestratorAction) *durable.Event {
	e := &durable.Event{ID: int(a.GetId())}
	switch a := a.GetAction().(type) {
	case *pb.OrchestratorAction_ScheduleTask:
		t := a.ScheduleTask
		e.Type, e.Name, e.Version, e.Input, e.Tags = durable.TaskScheduled, t.GetName(), t.GetVersion().GetValue(), Pointer(t.GetInput()), tags(t.GetTags())
	case *pb.OrchestratorAction_CreateSubOrchestration:
		s := a.CreateSubOrchestration
		e.Type, e.Name, e.Version, e.Input, e.Tags = durable.SubOrchestrationInstanceCreated, s.GetName(), s.GetVersion().GetValue(), Pointer(s.GetInput()), tags(s.GetTags())
		if e.InstanceID = s.GetInstanceId(); e.InstanceID == "" {
			e.InstanceID = fmt.Sprintf("%s:%d", in.Execution, e.ID)
		}
	case *pb.OrchestratorAction_CreateTimer:
		e.Type, e.FireAt = durable.TimerCreated, Time(a.CreateTimer.GetFireAt())
	case *pb.OrchestratorAction_SendEvent:
		s := a.SendEvent
		e.Type, e.Name, e.InstanceID, e.Input = durable.EventSent, s.GetName(), s.GetInstance().GetInstanceId(), Pointer(s.GetData())
	default:
		return nil
	}
	return e
}

// complete reads how the execution ends.
func (m *machine) complete(number int, c *pb.CompleteOrchestrationAction) {
	o := &plan.Outcome{Status: durable.Status(c.GetStatus()), Number: number, Value: Pointer(c.GetResult()), Details: Pointer(c.GetDetails())}
	switch o.Status {
	case durable.Failed:
		if o.Failure = failureOf(c.GetFailureDetails()); o.Failure != nil {
			text := failureText(o.Failure)
			if o.Output = &text; o.Value == nil {
				o.Value = &o.Failure.Message
			}
			inner := o.Failure
			for inner.Inner != nil {
				inner = inner.Inner
			}
			m.OutOfMemory = inner.Type == "System.OutOfMemoryException"
		}
	case durable.ContinuedAsNew:
		m.Version = Pointer(c.GetNewVersion())
		for _, e := range c.GetCarryoverEvents() {
			if raised := e.GetEventRaised(); raised != nil {
				m.Carried = append(m.Carried, durable.Event{Type: durable.EventRaised, ID: -1, Name: raised.GetName(), Input: Pointer(raised.GetInput())})
			}
		}
	case durable.Completed, durable.Terminated:
	default:
		m.fail(m.in.Name, fmt.Errorf("the orchestrator ends as %s, which is no end", o.Status))
		return
	}
	m.Outcome = o
}

// after says what the execution waits for: what has a number and no end. Which events it
// waits for the worker does not tell.
func (m *machine) after() {
	slices.SortStableFunc(m.Events, func(a, b durable.Event) int { return a.ID - b.ID })
	if m.Outcome != nil {
		return
	}
	open, calls := map[int]durable.Open{}, map[string]int{}
	m.look(m.history, open, calls)
	m.look(m.Events, open, calls)
	for number := range m.Next {
		if o, ok := open[number]; ok {
			m.Open = append(m.Open, o)
		}
	}
	if len(m.Open) == 0 {
		m.Open = []durable.Open{{Number: -1, What: "event", Name: AnyEvent}}
	}
}

// AnyEvent stands for the name of an event that is waited for.
const AnyEvent = "*"

func (m *machine) look(events []durable.Event, open map[int]durable.Open, calls map[string]int) {
	for i := range events {
		e := &events[i]
		switch e.Type {
		case durable.TaskScheduled:
			open[e.ID] = durable.Open{Number: e.ID, What: "activity", Name: e.Name}
		case durable.SubOrchestrationInstanceCreated:
			open[e.ID] = durable.Open{Number: e.ID, What: "child", Name: e.InstanceID}
		case durable.TimerCreated:
			open[e.ID] = durable.Open{Number: e.ID, What: "timer", Due: e.FireAt}
		case durable.EventSent:
			if id := callOf(e); id != "" {
				open[e.ID], calls[id] = durable.Open{Number: e.ID, What: "call", Name: e.InstanceID}, e.ID
			}
		case durable.EventRaised:
			if number, ok := calls[e.Name]; ok {
				delete(open, number)
			}
		case durable.TaskCompleted, durable.TaskFailed, durable.SubOrchestrationInstanceCompleted, durable.SubOrchestrationInstanceFailed, durable.TimerFired:
			delete(open, e.Task)
		}
	}
}
