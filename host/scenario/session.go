package scenario

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/schemas"
)

// A Session is a scenario whose steps come one after the other, from a program that looks at
// the host in between (host/kit). Its calls are made one at a time, from outside the clock;
// each returns what did not hold.
type Session struct {
	*run
	given    map[string]any
	attached bool
}

// SessionOptions change what a Session starts.
type SessionOptions struct {
	Dir       string           // takes the place of the app that the document names, which is then "."
	Seed      uint64           // of all chance
	Instances bool             // the app may run in several: see hosttest.Options
	Workers   *worker.Pool     // lends the processes of language workers; nil: each host has its own
	Attached  *worker.Seat     // of a worker that runs the functions that have no script; nil: none
	Set       []string         // switches, "name=value"
	Ports     bool             // see hosttest.Options
	Sleepers  *worker.Sleepers // the handlers that wait for virtual time; nil: none can
}

// apply changes what a host is made with.
func (o *SessionOptions) apply(to *hosttest.Options) {
	to.Instances, to.Set, to.Attached, to.Ports, to.Sleepers = o.Instances, o.Set, o.Attached, o.Ports, o.Sleepers
}

// NewSession reads what a scenario says before its steps: app, functions, host, settings,
// entities and start. All faults are reported.
func NewSession(given map[string]any, o *SessionOptions) (*Session, []*schemas.Fault) {
	p := &Session{given: given, attached: o.Attached != nil}
	s, faults := p.parse("then", map[string]any{"invariants": true})
	if len(faults) > 0 {
		return nil, faults
	}
	s.attached = p.attached
	res := &Result{Scenario: s, Seed: o.Seed}
	p.run = &run{s: s, res: res, session: o}
	return p, nil
}

// sessionFile is the name of a session's document in texts.
const sessionFile = "host"

// parse is the scenario with one thing more.
func (p *Session) parse(key string, value any) (*Scenario, []*schemas.Fault) {
	whole := maps.Clone(p.given)
	if whole[key] = value; key != "then" {
		whole["then"] = map[string]any{"invariants": true}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, []*schemas.Fault{{File: sessionFile, Reason: err.Error()}}
	}
	doc, fault := schemas.Parse(sessionFile, text)
	if fault != nil {
		return nil, []*schemas.Fault{fault}
	}
	language := *own()
	language.attached = p.attached
	return read(&language, doc)
}

// Open starts the app.
func (p *Session) Open() []Failure {
	return p.Call(func() {
		before := &lineage{}
		if p.open(&Options{App: p.session.Dir, workers: p.session.Workers}, before, players{}) {
			before.set(p.h)
			p.begins = p.h.Clock().Now()
			if p.written() {
				p.found()
			}
		}
	})
}

// Host is the first instance; nil before Open, and when that has failed.
func (p *Session) Host() *hosttest.Host { return p.h }

// Call calls what may end its goroutine, as the calls of the kit do that fail.
func (p *Session) Call(f func()) []Failure {
	on(p.run, f)
	return p.take()
}

// take is what has not held since the last call.
func (p *Session) take() []Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.res.Failures
	p.res.Failures = nil
	for i := range list {
		list[i].File, list[i].Line = "", 0
		list[i].Path = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(list[i].Path, "when[0]"), "then"), ".")
	}
	return list
}

// Do carries out a step of a scenario. Faults are of a step that cannot be.
func (p *Session) Do(step map[string]any) ([]Failure, []*schemas.Fault) {
	s, faults := p.parse("when", []any{step})
	if len(faults) > 0 {
		return nil, faults
	}
	return p.Call(func() { p.as(s, schemas.IndexPath("when", 0), func() { p.step(&s.When[0]) }) }), nil
}

// Expect compares what has happened with the "then" of a scenario.
func (p *Session) Expect(then map[string]any) ([]Failure, []*schemas.Fault) {
	s, faults := p.parse("then", then)
	if len(faults) > 0 {
		return nil, faults
	}
	return p.Call(func() { p.as(s, "then", func() { inspection{p.run}.expect("then", &s.Then) }) }), nil
}

// as does something for another document of the same scenario.
func (p *Session) as(s *Scenario, at string, f func()) {
	own := p.s
	p.s, p.at = s, at
	defer func() { p.s, p.at = own, "" }()
	f()
}

// Records are those of all runs and instances, in the order of their times.
func (p *Session) Records() []journal.Record {
	return p.journaled(func(*journal.Record) bool { return true })
}

// Timeline is the life of every message, with the time from the beginning: whole, or with the
// middle left out.
func (p *Session) Timeline(whole bool) []string {
	if whole {
		return p.all()
	}
	return shorten(p.all())
}

// Begins is the time at which the session began.
func (p *Session) Begins() time.Time { return p.begins }

// Crashed reports whether the host is dead: killed, or come to the crash that was asked for.
func (p *Session) Crashed() bool { return p.h.Killed() }

// Known is the name of a function as records have it; the error of another name says which
// one is meant.
func (p *Session) Known(function string) (string, error) {
	if p.cast.defined(function) != nil {
		return p.cast.full(function), nil
	}
	have := names{}
	if a := p.cast[0].app(); a != nil {
		for _, f := range a.Functions {
			have.add(aFunction, f.Name)
		}
	}
	reason, _ := have.unknown(aFunction, function)
	return "", errors.New(reason)
}

// KnownEntity is the error of an entity of Service Bus that is nowhere, which says the one that
// is meant.
func (p *Session) KnownEntity(path string) error {
	all := p.names()
	if all.have(anEntity, busPath(path)) {
		return nil
	}
	reason, _ := all.unknown(anEntity, path)
	return errors.New(reason)
}

// MeantSource is the queue, entity, hub or topic that is meant by a name which nothing has;
// empty: something has it, or none is near.
func (p *Session) MeantSource(name string) string {
	all := p.names()
	var known []string
	for _, place := range []place{aQueue, aContainer, aHub, anEntity, aCosmos, aTopic} {
		if all.have(place, name) {
			return ""
		}
		known = append(known, all[place]...)
	}
	for _, rec := range p.Records() {
		if strings.EqualFold(rec.Source, name) {
			return ""
		}
	}
	if near := nearest(name, known); near != "" && !schemas.Numbered(name, near) {
		return near
	}
	return ""
}

// End ends the host. A fault that nothing has met, and a crash that has not come, is a
// failure.
func (p *Session) End() []Failure {
	var failures []Failure
	if p.h != nil {
		failures = p.Call(p.struck)
	}
	p.guard(func() {})
	return append(failures, p.take()...)
}

// Pattern is what a pattern of the journal matches, in the form that a scenario's "journal"
// has.
func Pattern(want map[string]any) (func(*journal.Record) bool, error) {
	matches, err := recordPattern(want)
	if err != nil {
		return nil, err
	}
	return func(rec *journal.Record) bool { return matches(fieldsOf(rec)) }, nil
}
