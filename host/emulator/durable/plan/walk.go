package plan

import (
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
)

// walk goes through the actions one after the other (spec durable 4.3): what comes behind
// an action that is not done is not reached.
type walk struct {
	m       *Machine
	begun   bool
	group   int
	at      int // in the group
	now     *Action
	task    *task // of now
	through bool
	stopped string // why the walk has failed; its text for the user, whole
}

// begin starts the walk at ExecutionStarted.
func (w *walk) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.on()
}

// on walks as far as it can.
func (w *walk) on() {
	if w.m.st.Schema == V1 {
		w.groups()
		return
	}
	actions := w.actions()
	for w.at < len(actions) {
		w.now = actions[w.at]
		w.task = w.m.reach(w.now)
		if w.stopped != "" {
			return
		}
		if !w.task.done {
			w.task.then = func() { w.at++; w.on() }
			return
		}
		w.at++
	}
	w.through = true
}

func (w *walk) actions() []*Action {
	if len(w.m.st.Groups) == 0 {
		return nil
	}
	return w.m.st.Groups[0]
}

// groups walks the groups of V1: it goes on when any task of a group is done that
// somebody may wait for (spec durable 4.5).
func (w *walk) groups() {
	for w.group < len(w.m.st.Groups) {
		gate := &task{done: true}
		var tasks []*task
		for _, a := range w.m.st.Groups[w.group] {
			w.now = a
			t := w.m.reach(a)
			if w.stopped != "" {
				return
			}
			switch a.Kind {
			case SignalEntity, ScheduledSignalEntity, ContinueAsNew:
			default:
				tasks = append(tasks, t)
			}
		}
		if len(tasks) > 0 {
			gate = anyOf(tasks)
		}
		w.task = gate
		if !gate.done {
			gate.then = func() { w.group++; w.groups() }
			return
		}
		w.group++
	}
	w.through = true
}

// last reports whether no action lies behind the present one.
func (w *walk) last() bool {
	if w.m.st.Schema == V1 {
		return w.group >= len(w.m.st.Groups)-1
	}
	return w.at >= len(w.actions())-1
}

// stop ends the walk with the failure of the orchestrator.
func (w *walk) stop(message string) *task {
	if w.stopped == "" {
		w.stopped = failedText(w.m.in.Name, message)
	}
	return &task{}
}

// reach gives an action its numbers, and returns its task.
func (m *Machine) reach(a *Action) *task {
	if a.noChildren && (a.Kind == WhenAny || a.Kind == WhenAll) {
		return m.walk.stop("Value cannot be null. (Parameter 'source')")
	}
	if a.Kind != WhenAny && a.Kind != WhenAll {
		if refused := m.count(a); refused {
			return done(true)
		}
	}
	switch a.Kind {
	case CallActivity, CallActivityWithRetry:
		return m.callActivity(a)
	case CallSubOrchestrator, CallSubOrchestratorWithRetry:
		return m.callChild(a)
	case ContinueAsNew:
		m.next = text(inputText(a.Input))
		return done(false)
	case CreateTimer:
		return m.timer(a)
	case WaitForExternalEvent:
		return m.waitFor(a.Name, nil)
	case CallEntity, SignalEntity, ScheduledSignalEntity:
		return m.entity(a)
	case CallHTTP:
		return m.callHTTP(a)
	case WhenAny:
		return m.whenAny(a)
	case WhenAll:
		return m.whenAll(a)
	case LockEntities:
		if a.LockSet == 0 {
			return m.walk.stop("LockEntities action requires a non-empty LockSet.")
		}
		return m.walk.stop("locks of entities are not emulated: take LockEntities out of the orchestrator")
	case ReleaseEntities:
		return done(false) // none is held
	}
	return m.walk.stop(fmt.Sprintf("Received an unexpected action type from the out-of-proc function: '$%s'.", a.as))
}

// count refuses an action above the limit.
func (m *Machine) count(a *Action) bool {
	m.actions++
	most := m.in.MaxActions
	if most == 0 {
		most = 100_000
	}
	if m.actions <= most {
		return false
	}
	m.note(refusedAction, fmt.Sprintf("%s has more than %d actions, so %s is never done and the instance hangs, as on the platform: use continueAsNew, or raise maxOrchestrationActions in host.json", m.in.Name, most, a.Kind))
	return true
}

// inputText is an action's input as JSON text.
func inputText(input []byte) string {
	if len(input) == 0 {
		return "null"
	}
	if v := value(input); v != nil {
		return *v
	}
	return "null"
}

func (m *Machine) callActivity(a *Action) *task {
	if !m.known(durable.Activities, a.Name, true) {
		return done(true)
	}
	e := durable.Event{Type: durable.TaskScheduled, Name: a.Name, Input: text("[" + inputText(a.Input) + "]")}
	if a.Kind == CallActivity {
		return m.schedule(e, Scheduled{What: "activity"}).task
	}
	return m.withRetry(a, a.Retry, func(attempt Scheduled) *task {
		attempt.What = "activity"
		return m.schedule(e, attempt).task
	})
}

func (m *Machine) callChild(a *Action) *task {
	if !m.known(durable.Orchestrator, a.Name, false) {
		return done(true)
	}
	if id := a.InstanceID; strings.HasPrefix(id, "@") || id != "" && (id == m.in.ID || id == m.in.Parent) {
		m.note(refusedAction, fmt.Sprintf("%s calls %s under the id %q, which is its own, its parent's or an entity's: the platform never starts it, and the instance hangs; give it another id", m.in.Name, a.Name, id))
		return done(true)
	}
	begin := func(what Scheduled) *task {
		id := a.InstanceID
		if id == "" {
			id = fmt.Sprintf("%s:%d", m.in.Execution, m.n)
		}
		what.What = "child"
		e := durable.Event{Type: durable.SubOrchestrationInstanceCreated, Name: a.Name, Version: a.Version, InstanceID: id}
		if in := inputText(a.Input); in != "null" { // as on the platform: no input, not the text "null"
			e.Input = text(in)
		}
		return m.schedule(e, what).task
	}
	if a.Kind == CallSubOrchestrator {
		return begin(Scheduled{})
	}
	return m.withRetry(a, a.Retry, begin)
}

// known reports whether a function is there, and notes when it is not. A disabled one
// counts where disabled does.
func (m *Machine) known(kind durable.Kind, name string, disabled bool) bool {
	there, runs := m.in.Functions.Has(kind, name)
	if runs || there && disabled || kind == durable.Orchestrator && there {
		return true
	}
	m.note(unknownFunction, fmt.Sprintf("%s calls %q, which does not exist: on the platform it never ends and nobody is told (azure-functions-durable-js#197, azure-functions-durable-python#132). %s", m.in.Name, name, m.in.Functions.Missing(kind, name)))
	return false
}
