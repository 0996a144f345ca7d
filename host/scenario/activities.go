package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// activitiesOnly reports whether the scripts are of activities, and the app's own worker runs
// everything else: orchestrators above all, which nobody can script (spec durable 12.4). Of
// functions that code declares it is looked at when the app has started.
func (s *Scenario) activitiesOnly(dir string) bool {
	if s.App == "" || s.of != "" || s.attached || s.played {
		return false
	}
	described, scripts := describedIn(dir), 0
	for name, f := range s.Functions {
		switch {
		case f.Trigger != nil:
			return false
		case f.Handler == nil:
		case hasName(described, name):
			own, err := s.functionFile(dir, name)
			if err != nil || !slices.ContainsFunc(bindingsIn(own), isActivity) {
				return false
			}
			scripts++
		case len(described) > 0:
			return false // it is not of the app, which says so in its own way
		default:
			scripts++
		}
	}
	return scripts > 0
}

func isActivity(binding map[string]any) bool {
	kind, _ := binding["type"].(string)
	return strings.EqualFold(kind, app.ActivityTrigger)
}

// activitiesScripted reports whether the scripts of an app are of its activities, and a worker
// runs the rest; else the run has failed.
func (r *run) activitiesScripted(p *part) (ok bool) {
	ok = true
	a := p.app()
	if a == nil {
		return true // what is wrong is said elsewhere
	}
	var activities []string
	for _, f := range a.Functions {
		if f.Trigger != nil && f.Trigger.Is(app.ActivityTrigger) {
			activities = append(activities, f.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.s.Functions)) {
		switch {
		case r.s.Functions[name].Handler == nil || hasName(activities, name) && a.Handler.Kind == app.Language:
			continue
		case a.Function(name) == nil:
			reason := fmt.Sprintf("the app has no activity %q", name)
			if near := schemas.Meant(name, activities); near != "" {
				reason += fmt.Sprintf("; did you mean %q?", near)
			}
			r.refuse(r.s.fault(r.s.path(name), reason, strings.Join(append(activities, "a function with a trigger"), ", ")))
		default:
			r.refuse(r.s.fault(schemas.JoinPath(r.s.path(name), "handler"), "the function is declared in code, and only activities of a language worker can be scripted beside the app's own functions", "a function that the app describes in a function.json, or an activity"))
		}
		ok = false
	}
	return ok
}

// orchestratorFaults are scripts of orchestrators and entities, and what activities alone have.
func (s *Scenario) orchestratorFaults(name string, f function) (faults []*schemas.Fault) {
	at := schemas.JoinPath("functions", name)
	kind, _ := f.Trigger["type"].(string)
	if strings.EqualFold(kind, app.OrchestrationTrigger) || strings.EqualFold(kind, app.EntityTrigger) {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "trigger.type"), schemas.Quote(kind), "an app with the orchestrator's code, and scripts of its activities", "orchestrators and entities cannot be scripted"))
	}
	if f.Handler == nil {
		return faults
	}
	for i, a := range f.Handler.actions {
		if a.Returns == nil {
			continue
		}
		at := schemas.JoinPath(f.Handler.path(at, i), "returns")
		switch {
		case f.Trigger != nil && !strings.EqualFold(kind, app.ActivityTrigger):
			faults = append(faults, s.doc.Fault(at, "", "status and body of an answer, or outputs", "only an activity returns a value"))
		case a.Do != "" && a.Do != "succeed":
			faults = append(faults, s.doc.Fault(at, "", "one of them", "an attempt that ends as "+a.Do+" returns nothing"))
		case a.Status != 0 || a.Body != nil:
			faults = append(faults, s.doc.Fault(at, "", "one of them", "the action has an answer and a value"))
		}
	}
	return faults
}
