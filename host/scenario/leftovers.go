package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

// nothingElse looks for messages and functions that an expectation does not name.
func (r inspection) nothingElse(at string, e *expect) {
	ran := map[string]bool{}
	for _, rec := range r.journaled(func(rec *journal.Record) bool { return rec.Kind == journal.AttemptStarted }) {
		if rec.Trigger != app.ActivityTrigger || e.Orchestrations == nil { // which counts them
			ran[rec.Function] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ran)) {
		if !hasFold(e.Functions, name) && !slices.ContainsFunc(slices.Collect(maps.Keys(e.Functions)), func(given string) bool { return strings.EqualFold(r.cast.full(given), name) }) {
			r.mismatch(at, fmt.Sprintf("function %q has run", name), "no function that is not named", "attempts of "+name, r.of(name))
		}
	}
	for _, name := range r.h.Queues() {
		_, visible := e.Queues[name]
		_, hidden := e.Hidden[name]
		var left []string
		if !visible {
			left = append(left, r.h.Bodies(name)...)
		}
		if !hidden {
			left = append(left, r.h.HiddenBodies(name)...)
		}
		if len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("queue %q holds messages", name), "none", showList(left), r.all)
		}
	}
	taskHub(r).noOtherOrchestrations(at, e)
	r.noOtherEvents(at, e)
	r.noOtherBlobs(at, e)
	r.noOtherDocuments(at, e)
	r.noOtherMessages(at, e)
	for _, path := range r.busPaths() {
		if _, named := e.ServiceBus[path]; named {
			continue
		}
		if left := r.busBodies(path); len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("entity %q holds messages", path), "none", showList(left), r.all)
		}
	}
}

func hasFold[T any](m map[string]T, name string) bool {
	for key := range m {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// busPaths are the places of Service Bus that hold messages.
func (r inspection) busPaths() []string {
	var paths []string
	for _, path := range r.h.ServiceBusEntities() {
		paths = append(paths, path, path+"/$DeadLetterQueue")
	}
	slices.Sort(paths)
	return paths
}

// players are the scripts of one run, by function.
type players map[string]*player

// stays reports whether no attempt goes on to the next action of a list.
func (a *action) stays() bool { return a.Times == 0 && a.Chance == nil && a.Match.Regexp == nil }

// path is where an action stands, of the script of the function at a path.
func (s *script) path(function string, action int) string {
	at := schemas.JoinPath(function, "handler")
	if s.list {
		at = schemas.IndexPath(at, action)
	}
	return at
}

// unplayed tells of actions for messages that never came: their pattern is most likely
// mistyped, and the handler has done something else.
func (r inspection) unplayed(played players) {
	for _, name := range slices.Sorted(maps.Keys(r.s.Functions)) {
		f := r.s.Functions[name]
		for _, p := range played {
			if p.script != f.Handler {
				continue
			}
			p.mu.Lock()
			matched, called := slices.Clone(p.matched), len(p.done) > 0
			p.mu.Unlock()
			for i, a := range p.script.actions {
				if called && a.Match.Regexp != nil && !matched[i] {
					r.mismatch(schemas.JoinPath(p.script.path(schemas.JoinPath("functions", name), i), "match"), "no message of "+name+" matches: the action was never done", a.Match.String(), "", nil)
				}
			}
		}
	}
}

// idle tells of a scenario that passes because nothing was done: it has no steps, and no
// function was called.
func (r inspection) idle() {
	then := &r.s.Then
	if len(r.s.When) > 0 || len(r.res.Failures) > 0 || then.Lints != nil || then.Journal != nil || then.Timeline != "" {
		return
	}
	for _, f := range then.Functions {
		if f.InError != nil || f.Exists != nil {
			return
		}
	}
	if len(r.journaled(func(rec *journal.Record) bool { return rec.Kind == journal.Received })) == 0 {
		r.mismatch("then", "the scenario has no steps and no function was called: it holds whatever the app does; write under when what is done", "", "", nil)
	}
}
