package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// A fault is a step that lets operations fail. See schemas/scenario.json.
type fault struct {
	Operation string `json:"operation"`
	DiskFull  bool   `json:"diskFull"`
	Output    string `json:"output"`
	After     bool   `json:"after"`
	Lost      bool   `json:"lost"`
	Latency   span   `json:"latency"`
	Status    int    `json:"status"`
	Times     int    `json:"times"`
	For       span   `json:"for"`
	Error     string `json:"error"`
	Required  *bool  `json:"required"` // nil: true

	service *ops.Service // that has the place; nil: the fault names none
	entity  string       // its name; a star: all of them
	places  []string     // the members that name one: no more than one may
}

// place reads which place the fault names, by the members that services have for it.
func (f *fault) place(services []*ops.Service, raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return err
	}
	for _, s := range services {
		if name := textOf(given[s.Scene.Entity]); name != "" {
			f.service, f.entity, f.places = s, name, append(f.places, s.Scene.Entity)
		}
	}
	return nil
}

// member is the word for the place that the fault names; empty: it names none.
func (f *fault) member() string {
	if f.service == nil {
		return ""
	}
	return f.service.Scene.Entity
}

// required reports whether the scenario fails when nothing meets the fault.
func (f *fault) required() bool { return f.Required == nil || *f.Required }

// of is the service that the fault names, and its entity; a star names all of them.
func (f *fault) of() (service, entity string) {
	switch {
	case f.service == nil:
		return "", ""
	case f.entity == "*":
		return f.service.Faults.Name, ""
	}
	return f.service.Faults.Name, f.entity
}

// fault carries out a step.
func (r *run) fault(f *fault) {
	r.mustKnowPlaces(f)
	var err error
	if f.Output != "" {
		p, own, _ := r.cast.of(f.Output) // a known output begins with its app
		err = p.h.Host.FailOutput(own, max(f.Times, 1), f.Error)
		if f.required() {
			r.unwritten = append(r.unwritten, unwritten{schemas.JoinPath(r.at, "fault"), f.Output, len(r.outputFaults(f.Output))})
		}
	} else {
		service, entity := f.of()
		injected := faults.Fault{
			Service: service, Entity: entity, Operation: f.Operation, DiskFull: f.DiskFull, After: f.After, Lost: f.Lost,
			Latency: time.Duration(f.Latency), Status: f.Status, Error: f.Error, Times: f.Times, For: time.Duration(f.For),
			Optional: true, // the step tells of it by itself
		}
		err = r.h.Inject(injected)
		if f.required() {
			r.waiting = append(r.waiting, waitingFault{schemas.JoinPath(r.at, "fault"), injected})
		}
	}
	if err != nil {
		r.at = schemas.JoinPath(r.at, "fault")
		r.Fatalf("%v", err)
	}
}

// mustKnowPlaces ends the run at a fault for something that is nowhere: nothing would meet
// it. An operation that makes its place is for what is not there yet.
func (r *run) mustKnowPlaces(f *fault) {
	if strings.HasPrefix(strings.ToLower(f.Operation), "create") {
		return
	}
	if s := f.service; s != nil && f.entity != "*" {
		name := spelled(s, f.entity)
		if s.Faults.Within != nil {
			name = s.Faults.Within(name)
		}
		r.mustKnow("fault."+f.member(), kindOf(s), name)
	}
	if f.Output != "" {
		r.mustKnow("fault.output", anOutput, f.Output)
	}
}

// waitingFault is a fault and its step.
type waitingFault struct {
	at    string
	fault faults.Fault
}

// unwritten is a fault of outputs, its step, and how many writes had failed before it.
type unwritten struct {
	at, output string
	before     int
}

// outputFaults are the writes of an output, "function" or "function/binding", that were made
// to fail.
func (r *run) outputFaults(name string) []journal.Record {
	p, own, _ := r.cast.of(name) // a known output begins with its app
	function, binding, one := strings.Cut(own, "/")
	function = journal.Qualified(p.name, function)
	return r.journaled(func(rec *journal.Record) bool {
		return rec.Kind == journal.FaultInjected && strings.EqualFold(rec.Function, function) && (!one || strings.EqualFold(rec.Name, binding))
	})
}

// struck tells of faults that nothing has met: those of a misspelt operation or entity, for
// instance, for a number of operations or for a span of time.
func (r *run) struck() {
	for _, f := range r.h.Faults().Unmet(r.h.Clock().Now()) {
		i := slices.IndexFunc(r.waiting, func(w waitingFault) bool { return w.fault == f.Fault })
		if i < 0 {
			continue
		}
		what := "the fault still waits: nothing that it is for has happened"
		if !f.Until.IsZero() {
			what = "the fault was for nothing: while it lasted, nothing that it is for has happened"
		}
		r.mismatch(r.waiting[i].at, what, "", "", r.records)
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
	for _, u := range r.unwritten {
		if len(r.outputFaults(u.output)) == u.before {
			r.mismatch(u.at, fmt.Sprintf("the fault still waits: output %q was not written", u.output), "", "", r.records)
		}
	}
}
