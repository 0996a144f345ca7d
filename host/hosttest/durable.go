package hosttest

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/journal"
	ops "github.com/redeliver/redeliver/host/ops/durable"
)

// durableCalls are the calls of a Host about the orchestrations and entities of the app's task
// hub. Inputs, outputs and data are JSON texts.
type durableCalls struct{ h *Host }

// StartOrchestration starts an orchestrator and returns the id of its instance; an empty id:
// one is made. An input "" is none. An orchestrator that the app does not have ends the test,
// and so does the id of an instance that runs.
func (k durableCalls) StartOrchestration(name, input, id string) string {
	k.h.tb.Helper()
	return Do(k.h, ops.StartOrchestration{Name: name, ID: id, Input: []byte(input)}).ID
}

// RaiseEvent gives an instance an external event; data "" is null. An instance that is not
// there, or has ended, ends the test.
func (k durableCalls) RaiseEvent(id, name, data string) {
	k.h.tb.Helper()
	Do(k.h, ops.RaiseEvent{ID: id, Event: name, Data: []byte(data)})
}

// SignalEntity sends an entity, "@name@key", an operation that nobody waits for.
func (k durableCalls) SignalEntity(entity, operation, input string) {
	k.h.tb.Helper()
	Do(k.h, ops.SignalEntity{Entity: entity, Operation: operation, Input: []byte(input)})
}

// Control terminates, suspends, resumes or rewinds an instance, and restarts it under its own
// id or purges it. A command that does not fit how it stands ends the test.
func (k durableCalls) Control(id, command, reason string) {
	k.h.tb.Helper()
	switch command {
	case "restart":
		Do(k.h, ops.RestartOrchestration{ID: id})
	case "purge":
		Do(k.h, ops.PurgeOrchestrations{ID: id})
	default:
		Do(k.h, ops.ControlOrchestration{ID: id, Command: command, Reason: reason})
	}
}

// Orchestration returns how an instance stands, with its history. An instance that is not there
// ends the test.
func (k durableCalls) Orchestration(id string) ops.OrchestrationShown {
	k.h.tb.Helper()
	return Do(k.h, ops.ShowOrchestration{ID: id})
}

// longestLife is how many turns an instance may have whose end is awaited: more than these an
// orchestration that never ends would take.
const longestLife = 20_000

// UntilEnded moves time until an instance of the app's task hub has ended, and returns how it
// stands then; nil: there is no such instance, or the app has no Durable Functions. Each turn
// of it gives 60 days more, so that a monitor may run for years; it gives up when nothing is
// left to happen, and after 20,000 turns.
func (d Driver) UntilEnded(id string) (found *durable.Instance, err error) {
	d.h.tb.Helper()
	hub := d.h.Durable().Hub("")
	if hub == nil {
		return nil, nil
	}
	look := func() {
		d.h.Act("look at "+id, func(ctx context.Context) { found, _ = hub.Instance(ctx, id, durable.Read{}) })
	}
	look()
	turns := &turnsOf{id: id, hosts: append([]*Host{d.h}, d.h.others...)}
	for n := 0; n < longestLife && (found == nil || !found.Status.Finished()); n++ {
		met, err := d.Until(turns.another, limit)
		if err != nil {
			return found, err
		}
		if look(); !met {
			break
		}
	}
	return found, nil
}

// turnsOf looks for turns of an instance, and for its end, in the journals of those who may run it.
type turnsOf struct {
	id    string
	hosts []*Host
	next  []uint64 // in the journal of each, the first record that was not looked at
}

// another reports whether there was one since it has last been asked.
func (t *turnsOf) another() (found bool) {
	if t.next == nil {
		for _, h := range t.hosts {
			t.next = append(t.next, h.Journal().Len()+1)
		}
	}
	mine := func(rec *journal.Record) bool { return rec.MessageID == t.id }
	for i, h := range t.hosts {
		j := h.Journal()
		for _, kind := range []journal.Kind{journal.OrchestrationTurn, journal.InstanceEnded} {
			if _, ok := j.FindKind(t.next[i], kind, mine); ok {
				found = true
			}
		}
		t.next[i] = j.Len() + 1
	}
	return found
}

// AwaitOrchestration moves time until an instance has ended. Each turn of it gives the wait 60
// days more, so that a monitor may run for years; 20,000 turns are enough. It fails the test when
// the instance can no longer end, and then says what it waits for; and when it ends with another
// status than the one given, which may be empty.
func (k durableCalls) AwaitOrchestration(id, status string) ops.OrchestrationShown {
	k.h.tb.Helper()
	if k.h.Durable().Hub("") == nil {
		k.h.tb.Fatalf("hosttest: await orchestration %q: the app has no Durable Functions", id)
	}
	if _, err := k.h.For(context.Background()).UntilEnded(id); err != nil { // the context has no end
		k.h.tb.Fatalf("hosttest: await orchestration %q: %v", id, err)
	}
	got := k.Orchestration(id)
	if s, ok := durable.ParseStatus(got.Status); !ok || !s.Finished() {
		k.h.tb.Fatalf("hosttest: orchestration %q has not ended: it is %s and waits for %s; it has met %s", id, got.Status, words(got.Waits), words(got.Findings))
	}
	if status != "" && got.Status != status {
		k.h.tb.Fatalf("hosttest: orchestration %q has ended as %s, want %s: %s", id, got.Status, status, got.Output)
	}
	return got
}

func words(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// WantOrchestration fails the test unless an instance has a status and an output: a JSON text,
// or of a failure a part of its text.
func (k durableCalls) WantOrchestration(id, status, output string) {
	k.h.tb.Helper()
	got := k.Orchestration(id)
	same := ops.SameValue(got.Output, output)
	if got.Status == "Failed" && output != "" {
		same = strings.Contains(got.Output, output)
	}
	if got.Status != status || !same {
		k.h.tb.Errorf("hosttest: orchestration %q is %s with %s, want %s with %s", id, got.Status, got.Output, status, output)
	}
}

// WantActivities fails the test unless an instance has called exactly these activities, each so
// often, in all its executions, retries of the orchestrator among them. Names ignore case.
func (k durableCalls) WantActivities(id string, want map[string]int) {
	k.h.tb.Helper()
	k.Orchestration(id) // it is there
	got, wanted := map[string]int{}, map[string]int{}
	for _, r := range k.h.Select(func(r *journal.Record) bool { return r.Kind == journal.TaskScheduled && r.MessageID == id }) {
		for _, f := range r.Fields {
			if f.Key == "what" && f.Value == "activity" {
				got[strings.ToLower(r.Name)]++
			}
		}
	}
	for name, n := range want {
		if n != 0 {
			wanted[strings.ToLower(name)] += n
		}
		k.mustHave(durable.Activities, "activity", name)
	}
	if !maps.Equal(got, wanted) {
		k.h.tb.Errorf("hosttest: orchestration %q has called %v, want %v", id, got, wanted)
	}
}

// Entity returns the state of an entity, "@name@key", as JSON, and whether it exists. An entity
// function that the app does not have ends the test.
func (k durableCalls) Entity(id string) (state string, exists bool) {
	k.h.tb.Helper()
	entity, ok := durable.ParseEntityID(id)
	if !ok {
		k.h.tb.Fatalf("hosttest: %q is not the id of an entity: want @name@key", id)
	}
	k.mustHave(durable.EntityFunction, "entity function", entity.Name)
	k.h.do("look at "+id, func() {
		found, err := k.h.Durable().Hub("").Entity(context.Background(), entity)
		if exists = err == nil; exists && found.State != nil {
			state = *found.State
		}
	})
	return state, exists
}

// mustHave ends the test unless the app has a function of that kind.
func (k durableCalls) mustHave(kind durable.Kind, what, name string) {
	k.h.tb.Helper()
	var all []string
	if a := k.h.ran(); a != nil {
		has := durabletask.FunctionsOf(a)
		for _, f := range slices.Concat(has.Known, has.Disabled) {
			if f.Kind == kind {
				all = append(all, f.Name)
			}
		}
	}
	if !slices.ContainsFunc(all, func(one string) bool { return strings.EqualFold(one, name) }) {
		k.h.tb.Fatalf("hosttest: the app has no %s %q; it has %s%s", what, name, words(all), orMeant(name, all))
	}
}
