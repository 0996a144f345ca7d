package scenario

import (
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/faults"
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
}

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
	var err error
	if f.Output != "" {
		err = r.h.FailOutput(f.Output, max(f.Times, 1), f.Error)
	} else {
		service, entity := f.of()
		injected := faults.Fault{
			Service: service, Entity: entity, Operation: f.Operation, DiskFull: f.DiskFull, After: f.After, Lost: f.Lost,
			Latency: time.Duration(f.Latency), Status: f.Status, Error: f.Error, Times: f.Times, For: time.Duration(f.For),
		}
		err = r.h.Inject(injected)
		r.waiting = append(r.waiting, waitingFault{schemas.JoinPath(r.at, "fault"), injected})
	}
	if err != nil {
		r.at = schemas.JoinPath(r.at, "fault")
		r.Fatalf("%v", err)
	}
}

// waitingFault is a fault and its step.
type waitingFault struct {
	at    string
	fault faults.Fault
}

// struck tells of faults for which no operation has come: of a misspelt operation or
// entity, for instance. Where chance decides what happens, none needs to come; and a fault
// for a span of time may pass unused.
func (r *run) struck() {
	if r.s.Then.Invariants {
		return
	}
	for _, f := range r.h.Faults().Active(r.h.Clock().Now()) {
		if !f.Until.IsZero() || f.Left < max(f.Times, 1) {
			continue
		}
		i := slices.IndexFunc(r.waiting, func(w waitingFault) bool { return w.fault == f.Fault })
		if i < 0 {
			continue
		}
		r.mismatch(r.waiting[i].at, "the fault still waits: nothing that it is for has happened", "", "", r.records)
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
}
