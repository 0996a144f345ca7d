package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	ops_durable "github.com/redeliver/redeliver/host/ops/durable"
	"github.com/redeliver/redeliver/schemas"
)

// ofOrchestration is what is expected of an instance of an orchestrator.
type ofOrchestration struct {
	Status       string          `json:"status"`
	Output       json.RawMessage `json:"output"`
	CustomStatus json.RawMessage `json:"customStatus"`
	Error        *pattern        `json:"error"`
	Turns        *int            `json:"turns"`
	Executions   *int            `json:"executions"`
	Activities   map[string]int  `json:"activities"`
	Children     map[string]int  `json:"children"`
	Waits        *[]span         `json:"waits"`
	WaitsFor     *[]string       `json:"waitsFor"`
	Elapsed      *spanRange      `json:"elapsed"`
	Findings     *[]string       `json:"findings"`
	History      []string        `json:"history"`
}

// orchestrations compares instances with what is expected of them; nil: there is none.
func (r taskHub) orchestrations(at string, want map[string]*ofOrchestration) {
	for _, id := range slices.Sorted(maps.Keys(want)) {
		at, expected := schemas.JoinPath(at, id), want[id]
		got, refused := hosttest.Try(r.hubHost(), ops_durable.ShowOrchestration{ID: id})
		switch {
		case refused != nil && r.hub() == nil:
			r.mismatch(at, refused.Text, "", "", nil)
		case refused != nil && expected != nil:
			r.unknownInstance(at, id)
		case refused != nil && !slices.ContainsFunc(r.kept(), func(rec journal.Record) bool { return rec.Kind == journal.InstanceStarted && rec.MessageID == id }):
			r.unknownInstance(at, id) // it never was
		case refused == nil && expected == nil:
			r.mismatch(at, fmt.Sprintf("there is an orchestration %q", id), "none", got.Status, r.tale(id))
		case refused == nil:
			r.orchestration(at, expected, &got)
		}
	}
}

func (r taskHub) orchestration(at string, want *ofOrchestration, got *ops_durable.OrchestrationShown) {
	differs := func(member, wanted, has string) {
		r.mismatch(schemas.JoinPath(at, member), fmt.Sprintf("orchestration %q has another %s", got.ID, member), wanted, has, r.tale(got.ID))
	}
	compare := func(member, wanted, has string) {
		if wanted != has {
			differs(member, wanted, has)
		}
	}
	if want.Status != "" {
		compare("status", want.Status, got.Status)
	}
	for _, v := range []struct {
		member string
		want   json.RawMessage
		got    string
	}{{"output", want.Output, got.Output}, {"customStatus", want.CustomStatus, got.CustomStatus}} {
		if v.want != nil && !ops_durable.SameValue(string(v.want), v.got) {
			differs(v.member, string(v.want), v.got)
		}
	}
	if want.Error != nil && (got.Status != "Failed" || !want.Error.matches(got.Output)) {
		differs("error", want.Error.String(), got.Status+" "+got.Output)
	}
	if want.Turns != nil {
		compare("turns", strconv.Itoa(*want.Turns), strconv.Itoa(r.ofInstance(journal.OrchestrationTurn, got.ID)))
	}
	if want.Executions != nil {
		compare("executions", strconv.Itoa(*want.Executions), strconv.Itoa(r.ofInstance(journal.InstanceStarted, got.ID)))
	}
	for _, c := range []struct {
		member, what string
		want         map[string]int
	}{{"activities", "activity", want.Activities}, {"children", "child", want.Children}} {
		if c.want != nil {
			r.counts(schemas.JoinPath(at, c.member), got.ID, c.what, c.want)
		}
	}
	if want.Waits != nil {
		compare("waits", spans(*want.Waits), spans(r.waited(got.ID)))
	}
	if want.WaitsFor != nil {
		compare("waitsFor", strings.Join(*want.WaitsFor, ", "), strings.Join(got.Waits, ", "))
	}
	if elapsed := got.Updated.Sub(got.Created).Round(time.Millisecond); want.Elapsed != nil && !want.Elapsed.holds(elapsed) {
		differs("elapsed", want.Elapsed.text, explain.Span(elapsed))
	}
	if want.Findings != nil {
		compare("findings", showWords(slices.Sorted(slices.Values(*want.Findings))), showWords(slices.Sorted(slices.Values(got.Findings))))
	}
	if want.History != nil {
		compare("history", showWords(want.History), showWords(eventsOf(got.History)))
	}
}

// eventsOf are the kinds of events without those that begin and end turns.
func eventsOf(history []ops_durable.HistoryEvent) (kinds []string) {
	for i := range history {
		if kind := history[i].EventType; kind != "OrchestratorStarted" && kind != "OrchestratorCompleted" {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// counts compares how often an instance has called each function. Names ignore case, as those
// of functions do; one that the app does not have is refused.
func (r taskHub) counts(at, id, what string, want map[string]int) {
	kind := map[string]durable.Kind{"activity": durable.Activities, "child": durable.Orchestrator}[what]
	has := map[string]int{}
	for _, rec := range r.journaled(func(rec *journal.Record) bool {
		return rec.Kind == journal.TaskScheduled && rec.MessageID == id && rec.Service == journal.Durable && fieldOf(rec, "what") == what
	}) {
		has[strings.ToLower(rec.Name)]++
	}
	same := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if has[strings.ToLower(name)] == 0 && !r.knownDurable(schemas.JoinPath(at, name), kind, name) {
			return
		}
		if n := want[name]; n > 0 {
			same[strings.ToLower(name)] += n
		}
	}
	if !maps.Equal(same, has) {
		member := map[string]string{"activity": "activities", "child": "children"}[what]
		r.mismatch(at, fmt.Sprintf("orchestration %q has called other %s", id, member), fmt.Sprint(same), fmt.Sprint(has), r.tale(id))
	}
}

// knownDurable tells of a name that no function of a kind has.
func (r taskHub) knownDurable(at string, kind durable.Kind, name string) bool {
	var all []string
	for _, p := range r.cast {
		if a := p.app(); a != nil {
			has := durabletask.FunctionsOf(a)
			for _, f := range slices.Concat(has.Known, has.Disabled) {
				if f.Kind == kind {
					all = append(all, f.Name)
				}
			}
		}
	}
	if slices.ContainsFunc(all, func(one string) bool { return strings.EqualFold(one, name) }) {
		return true
	}
	what := map[durable.Kind]string{durable.Activities: "activity", durable.Orchestrator: "orchestrator", durable.EntityFunction: "entity function"}[kind]
	text := fmt.Sprintf("the app has no %s %q", what, name)
	if near := schemas.Meant(name, all); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	r.mismatch(at, text, strings.Join(slices.Sorted(slices.Values(all)), ", "), schemas.Quote(name), nil)
	return false
}

func spans(list []span) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = explain.Span(time.Duration(s).Round(time.Millisecond))
	}
	return showWords(words)
}

// waited are the lengths of the waits of an instance, as explain tells them: pieces of a long
// timer are one, and one that was cancelled ends there.
func (r taskHub) waited(id string) (list []span) {
	for _, t := range explain.Tales(r.kept(), id) {
		for i := range t.Lines {
			if l := &t.Lines[i]; l.Until != nil {
				list = append(list, span(l.Until.Sub(l.Time)))
			}
		}
	}
	return list
}

func (r taskHub) kept() []journal.Record {
	return r.journaled(func(*journal.Record) bool { return true })
}

// tale is what has happened to an instance.
func (r taskHub) tale(id string) timeline {
	return func() []string {
		var lines []string
		for _, t := range explain.Tales(r.kept(), id) {
			lines = append(lines, strings.Split(strings.TrimSuffix(t.Text(), "\n"), "\n")...)
		}
		return lines
	}
}

// durableEntities compares the states of entities of Durable Functions; null: there is none.
func (r taskHub) durableEntities(at string, want map[string]json.RawMessage) {
	for _, id := range slices.Sorted(maps.Keys(want)) {
		at := schemas.JoinPath(at, id)
		entity, ok := durable.ParseEntityID(id)
		if !ok {
			r.mismatch(at, "this is not the id of an entity", "@name@key, such as @counter@k1", schemas.Quote(id), nil)
			continue
		}
		if !r.knownDurable(at, durable.EntityFunction, entity.Name) {
			continue
		}
		var found *durable.Entity
		r.hubHost().Act("look at "+id, func(ctx context.Context) { found, _ = r.hub().Entity(ctx, entity) })
		wanted := string(want[id])
		switch {
		case found == nil && wanted != "null":
			r.mismatch(at, fmt.Sprintf("there is no entity %q", id), wanted, "none", r.tale(entity.String()))
		case found != nil && wanted == "null":
			r.mismatch(at, fmt.Sprintf("there is an entity %q", id), "none", text(found.State), r.tale(entity.String()))
		case found != nil && !ops_durable.SameValue(wanted, text(found.State)):
			r.mismatch(at, fmt.Sprintf("entity %q has another state", id), wanted, text(found.State), r.tale(entity.String()))
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// noOtherOrchestrations looks for instances that have met a fault of the platform, or have not
// ended, and that an expectation does not name.
func (r taskHub) noOtherOrchestrations(at string, e *expect) {
	for _, i := range r.orchestrationsNow() {
		want := e.Orchestrations[i.ID]
		if len(i.Findings) > 0 && (want == nil || want.Findings == nil) {
			var names []string
			for _, f := range i.Findings {
				names = append(names, f.Name)
			}
			r.mismatch(at, fmt.Sprintf("orchestration %q has findings", i.ID), "none", strings.Join(names, ", "), r.tale(i.ID))
		}
		if want == nil && !i.Status.Finished() {
			r.mismatch(at, fmt.Sprintf("orchestration %q has not ended", i.ID), "no unfinished instance that is not named", r.stands(i), r.tale(i.ID))
		}
	}
}
