package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
)

// Machine is an execution under a reply: what [Plan] is made of. Feed takes the events one
// after the other, and Result may be asked at any time between them, which changes
// nothing.
type Machine struct {
	in *Instance
	st *State

	n         int // next number
	scheduled []*scheduled
	open      map[int]*scheduled
	waiters   map[string][]*waiter // by name in lower case; the last one is the top
	waits     int                  // waiters made, for their order
	buffer    []durable.Event
	carried   []durable.Event
	raised    []Raised // of the last turn
	ignored   []int
	held      []*durable.Event
	now       time.Time
	next      *string // the input of continue-as-new, when it is reached
	suspended bool
	ended     *Outcome // Terminated, or not deterministic
	mismatch  *Mismatch
	guids     int // request ids made
	actions   int // reached

	walk walk

	findings  []durable.Finding
	cancelled []int
	losers    map[string]bool // children of a WhenAny that did not win it
}

// scheduled is what took a number.
type scheduled struct {
	Scheduled
	event   durable.Event
	matched bool // it is in the history
	task    *task
}

// waiter waits for an event.
type waiter struct {
	name  string // as it was written
	order int
	task  *task
	call  *scheduled // an entity's answer; nil: an external event
}

// task is what an action waits for.
type task struct {
	done, failed bool
	childFailed  bool           // of a WhenAll
	end          *durable.Event // what it has ended with, if anything
	then         func()         // who waits
}

// await calls f when the task is done: at once when it is.
func (t *task) await(f func()) {
	if t.done {
		f()
		return
	}
	t.then = f
}

// resolve ends a task, once.
func (t *task) resolve(failed bool, end *durable.Event) {
	if t.done {
		return
	}
	t.done, t.failed, t.end = true, failed, end
	if then := t.then; then != nil {
		t.then = nil
		then()
	}
}

// done is a task that has ended.
func done(failed bool) *task { return &task{done: true, failed: failed} }

// New returns a machine that has seen nothing.
func New(in *Instance, st *State) *Machine {
	m := &Machine{in: in, st: st, open: map[int]*scheduled{}, waiters: map[string][]*waiter{}, losers: map[string]bool{}}
	m.walk.m = m
	m.findings = append(m.findings, st.findings...)
	return m
}

// Feed takes the next event of the history, which must not change afterwards.
func (m *Machine) Feed(e *durable.Event) {
	if m.ended != nil {
		return
	}
	if e.Type == durable.OrchestratorStarted {
		m.raised, m.ignored = nil, nil
	}
	switch e.Type {
	case durable.ExecutionResumed:
		m.suspended = false
		held := m.held
		m.held = nil
		for _, h := range held {
			m.take(h)
		}
	case durable.ExecutionTerminated:
		m.ended = &Outcome{Status: durable.Terminated, Number: m.n, Value: e.Input}
	default:
		if m.suspended {
			m.held = append(m.held, e)
			if e.Type == durable.EventRaised {
				m.raised = append(m.raised, Raised{e.Name, "held"})
			}
			return
		}
		m.take(e)
	}
}

// take carries an event out.
func (m *Machine) take(e *durable.Event) {
	if m.ended != nil {
		return
	}
	switch e.Type {
	case durable.OrchestratorStarted:
		m.now = e.Time
	case durable.ExecutionStarted:
		m.walk.begin()
	case durable.TaskScheduled, durable.TimerCreated, durable.SubOrchestrationInstanceCreated, durable.EventSent:
		m.match(e)
	case durable.TaskCompleted, durable.SubOrchestrationInstanceCompleted, durable.TimerFired:
		m.end(e, false)
	case durable.TaskFailed, durable.SubOrchestrationInstanceFailed:
		m.end(e, true)
	case durable.EventRaised:
		m.raise(e)
	case durable.ExecutionSuspended:
		m.suspended = true
	}
}

// end resolves what has a number; an end that nobody waits for is ignored.
func (m *Machine) end(e *durable.Event, failed bool) {
	s := m.open[e.Task]
	if s == nil {
		m.ignored = append(m.ignored, e.Task)
		return
	}
	delete(m.open, e.Task)
	s.task.resolve(failed, e)
}

// match finds a scheduling event of the history in the plan.
func (m *Machine) match(e *durable.Event) {
	var planned *scheduled
	if e.ID >= 0 && e.ID < len(m.scheduled) && !m.scheduled[e.ID].matched {
		planned = m.scheduled[e.ID]
	}
	switch {
	case planned == nil:
		m.mismatched(e, nil)
	case planned.event.Type != e.Type || e.Type != durable.TimerCreated && !strings.EqualFold(planned.event.Name, e.Name):
		m.mismatched(e, &planned.event)
	default:
		planned.matched = true
		planned.event.FireAt = e.FireAt
	}
}

// raise gives an event to the latest waiter of its name.
func (m *Machine) raise(e *durable.Event) {
	if m.next != nil {
		m.carried = append(m.carried, *e)
		m.raised = append(m.raised, Raised{e.Name, "carried"})
		return
	}
	key := strings.ToLower(e.Name)
	stack := m.waiters[key]
	if len(stack) == 0 {
		m.raised = append(m.raised, Raised{e.Name, "buffered"})
		if m.in.Runtime == "python" && m.bufferHas(key) {
			m.note(eventOverwritten, fmt.Sprintf("%s: two events %q wait unread, of which Python's package delivers the later one twice and loses the earlier one: wait for the first before the second is raised (azure-functions-durable-python)", m.in.Name, e.Name))
		}
		m.buffer = append(m.buffer, *e)
		return
	}
	m.raised = append(m.raised, Raised{e.Name, "delivered"})
	top := stack[len(stack)-1]
	m.waiters[key] = stack[:len(stack)-1]
	top.task.resolve(top.call != nil && isException(e.Input), e)
}

func (m *Machine) bufferHas(key string) bool {
	for i := range m.buffer {
		if strings.EqualFold(m.buffer[i].Name, key) {
			return true
		}
	}
	return false
}

// waitFor makes a task that an event of a name resolves: one of the buffer at once.
func (m *Machine) waitFor(name string, call *scheduled) *task {
	for i := range m.buffer {
		if strings.EqualFold(m.buffer[i].Name, name) {
			e := m.buffer[i]
			m.buffer = append(m.buffer[:i:i], m.buffer[i+1:]...)
			return &task{done: true, failed: call != nil && isException(e.Input), end: &e}
		}
	}
	t := &task{}
	m.waits++
	key := strings.ToLower(name)
	m.waiters[key] = append(m.waiters[key], &waiter{name, m.waits, t, call})
	return t
}

// schedule gives the next number to an event.
func (m *Machine) schedule(e durable.Event, what Scheduled) *scheduled {
	e.ID, e.Time = m.n, m.now
	s := &scheduled{Scheduled: what, event: e, task: &task{}}
	m.scheduled = append(m.scheduled, s)
	m.n++
	if e.Type != durable.EventSent {
		m.open[e.ID] = s
	}
	return s
}
