package plan

import "fmt"

// whenAny is done when any child is, also by cancellation.
func (m *Machine) whenAny(a *Action) *task {
	m.lookForLosers(a)
	tasks, stopped := m.children(a)
	if stopped {
		return &task{}
	}
	if m.in.Runtime == "node" && !cancels(a) {
		outer := anyOf(tasks)
		inner := &task{}
		outer.await(func() {
			for i, t := range tasks {
				if !t.done {
					m.losers[string(a.Children[i].raw)] = true
				}
			}
			inner.resolve(outer.failed, outer.end)
		})
		return inner
	}
	return anyOf(tasks)
}

// cancels reports whether a child was cancelled: then what has won is not known.
func cancels(a *Action) bool {
	for _, child := range a.Children {
		if child.Canceled {
			return true
		}
	}
	return false
}

// lookForLosers notes children that may be tasks of an earlier WhenAny, which Node
// schedules once more.
func (m *Machine) lookForLosers(a *Action) {
	if len(m.losers) == 0 {
		return
	}
	for _, child := range a.Children {
		if m.losers[string(child.raw)] {
			m.note(rescheduled, fmt.Sprintf("%s waits in %s for a %s %s that lost an earlier Task.any: if it is the same task, the package schedules it again and it runs twice (azure-functions-durable-js#574); start a new task, or wait for it alone", m.in.Name, a.Kind, child.Kind, child.Name))
			return
		}
	}
}

// whenAll is done when all children are, however they ended.
func (m *Machine) whenAll(a *Action) *task {
	m.lookForLosers(a)
	tasks, stopped := m.children(a)
	outer := &task{}
	if stopped {
		return outer
	}
	left := len(tasks)
	for _, t := range tasks {
		t.await(func() {
			outer.childFailed = outer.childFailed || t.failed
			if left--; left == 0 {
				outer.resolve(outer.childFailed, nil)
			}
		})
	}
	if len(tasks) == 0 {
		outer.done = true
	}
	return outer
}

// children reaches the children from left to right.
func (m *Machine) children(a *Action) (tasks []*task, stopped bool) {
	for _, child := range a.Children {
		tasks = append(tasks, m.reach(child))
		if m.walk.stopped != "" {
			return nil, true
		}
	}
	return tasks, false
}

// anyOf is a task that is done with the first of others. Without any it never is.
func anyOf(tasks []*task) *task {
	outer := &task{}
	for _, t := range tasks {
		t.await(func() { outer.resolve(t.failed, t.end) })
	}
	return outer
}
