package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

// A fault is a step that lets operations fail. See schemas/scenario.json.
type fault struct {
	Operation  string `json:"operation"`
	DiskFull   bool   `json:"diskFull"`
	Queue      string `json:"queue"`
	Container  string `json:"container"`
	ServiceBus string `json:"serviceBus"`
	EventHub   string `json:"eventHub"`
	Cosmos     string `json:"cosmos"`
	EventGrid  string `json:"eventGrid"`
	Handler    string `json:"handler"`
	Output     string `json:"output"`
	After      bool   `json:"after"`
	Lost       bool   `json:"lost"`
	Latency    span   `json:"latency"`
	Status     int    `json:"status"`
	Times      int    `json:"times"`
	For        span   `json:"for"`
	Error      string `json:"error"`
	Required   *bool  `json:"required"` // nil: true
}

// required reports whether the scenario fails when nothing meets the fault.
func (f *fault) required() bool { return f.Required == nil || *f.Required }

// of is the service that the fault names, and its entity; a star names all of them.
func (f *fault) of() (service, entity string) {
	for _, named := range []struct{ service, entity string }{
		{"queue", f.Queue}, {"blob", f.Container}, {"servicebus", f.ServiceBus}, {"eventhubs", f.EventHub}, {"cosmos", f.Cosmos}, {"eventgrid", f.EventGrid}, {faults.Handler, f.Handler},
	} {
		if named.entity == "*" {
			return named.service, ""
		}
		if named.entity != "" {
			return named.service, named.entity
		}
	}
	return "", ""
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
	makes := strings.HasPrefix(strings.ToLower(f.Operation), "create")
	container, _, _ := strings.Cut(f.Container, "/")
	for _, named := range []struct {
		key  string
		of   place
		name string
	}{
		{"queue", aQueue, f.Queue}, {"container", aContainer, container}, {"serviceBus", anEntity, busPath(f.ServiceBus)}, {"eventHub", aHub, f.EventHub},
		{"cosmos", aCosmos, f.Cosmos}, {"eventGrid", aSubscription, f.EventGrid}, {"handler", aFunction, f.Handler}, {"output", anOutput, f.Output},
	} {
		if named.name != "" && named.name != "*" && !makes {
			r.mustKnow("fault."+named.key, named.of, named.name)
		}
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
