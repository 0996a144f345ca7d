package scenario

import (
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

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
