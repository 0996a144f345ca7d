package run

import (
	"context"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
)

// ListFaults lists the faults that wait for operations.
type ListFaults struct {
	ops.Op[Faults] `route:"GET /faults"`
}

func (ListFaults) Do(_ context.Context, e *ops.Env) (Faults, error) {
	return activeFaults(e), nil
}

// Faults are those that wait for operations, in the order in which they were added.
type Faults struct {
	Faults []Fault `json:"faults"`
}

// Fault lets operations fail. Its members are those of AddFault.
type Fault struct {
	Service   string     `json:"service,omitempty"`
	Entity    string     `json:"entity,omitempty"`
	Operation string     `json:"operation,omitempty"`
	DiskFull  bool       `json:"diskFull,omitempty"`
	After     bool       `json:"after,omitempty"`
	Lost      bool       `json:"lost,omitempty"`
	Latency   string     `json:"latency,omitempty"`
	Status    int        `json:"status,omitempty"`
	Error     string     `json:"error,omitempty"`
	Left      int        `json:"left,omitempty"`  // how many operations it is still for; 0 while only its time ends it
	Until     *time.Time `json:"until,omitempty"` // when it ends
}

// AddFault lets operations of the embedded services, or the handlers of functions, fail from
// now on: before their effect, or after it; a lost one has none and succeeds. Without a
// number and a time it is for one operation. The answer is all faults.
type AddFault struct {
	ops.Op[Faults] `route:"POST /faults" effect:"destroys"`

	Service   string        `query:"service" usage:"the only service; default each that has the operation"`
	Entity    string        `query:"entity" usage:"the only queue, container, entity, hub, database/container or topic/subscription"`
	Operation string        `query:"operation"`
	DiskFull  bool          `query:"diskFull"`
	After     bool          `query:"after" usage:"fail behind the effect"`
	Lost      bool          `query:"lost" usage:"succeed without an effect"`
	Latency   time.Duration `query:"latency" min:"0s" fault:"latency %q: want a duration of 0 or more" usage:"how long the operation takes, by the clock of the host"`
	Status    int           `query:"status" min:"0" max:"599" fault:"status must be a number from 0 to 599" usage:"answer of an endpoint of Event Grid, for the operation Deliver"`
	Error     string        `query:"error" usage:"the text of the failure"`
	Times     int           `query:"times" min:"0" fault:"times must be a number of 0 or more" usage:"number of operations that fail; default one, or with --for all of that time"` // number of operations that fail; default one, or with for all of that time
	For       time.Duration `query:"for" min:"0s" fault:"for %q: want a duration of 0 or more" usage:"how long it lasts, by the clock of the host"`
}

func (in AddFault) Do(ctx context.Context, e *ops.Env) (out Faults, err error) {
	if in.Service == faults.Handler && in.Entity != "" {
		of, own, err := e.Function(in.Entity)
		if err != nil {
			return out, err
		}
		in.Entity = ops.Qualified(of, own)
	} else if err := e.CheckEntity(ctx, in.Service, in.Entity, in.Operation); err != nil {
		return out, err
	}
	if err := e.Faults.Add(e.Host.Clock().Now(), faults.Fault{
		Service: in.Service, Entity: in.Entity, Operation: in.Operation, DiskFull: in.DiskFull, After: in.After, Lost: in.Lost,
		Latency: in.Latency, Status: in.Status, Error: in.Error, Times: in.Times, For: in.For,
	}); err != nil {
		return out, ops.Refuse(http.StatusBadRequest, err.Error(), "")
	}
	return activeFaults(e), nil
}

// ClearFaults ends all faults. The answer is those that there were.
type ClearFaults struct {
	ops.Op[Faults] `route:"DELETE /faults" effect:"changes"`
}

func (ClearFaults) Do(_ context.Context, e *ops.Env) (Faults, error) {
	out := activeFaults(e)
	e.Faults.Clear(e.Host.Clock().Now())
	return out, nil
}

// CrashAt has the process of the host killed at a point of a delivery of a function: nothing
// is settled then, nothing is given back, and nothing is cleaned up. Nth says which time the
// point is reached.
type CrashAt struct {
	ops.Op[ops.None] `route:"PUT /crash" effect:"destroys"`

	Function string `query:"function,required"`
	Point    string `query:"point,required"`
	Nth      int    `query:"nth" min:"1" default:"1" fault:"nth must be a number of 1 or more" usage:"which time the point is reached"`
}

func (in CrashAt) Do(_ context.Context, e *ops.Env) (out ops.None, err error) {
	of, own, err := e.Function(in.Function)
	if err != nil {
		return out, err
	}
	if err := e.Crash.Set(ops.Qualified(of, own), faults.Point(in.Point), in.Nth); err != nil {
		return out, ops.Refuse(http.StatusBadRequest, err.Error(), "")
	}
	return out, nil
}

// activeFaults are the faults that wait for operations.
func activeFaults(e *ops.Env) Faults {
	out := Faults{Faults: []Fault{}}
	for _, a := range e.Faults.Active(e.Host.Clock().Now()) {
		f := Fault{
			Service: a.Service, Entity: a.Entity, Operation: a.Operation, DiskFull: a.DiskFull, After: a.After, Lost: a.Lost,
			Status: a.Status, Error: a.Error, Left: a.Left,
		}
		if a.Latency > 0 {
			f.Latency = a.Latency.String()
		}
		if !a.Until.IsZero() {
			f.Until = &a.Until
		}
		out.Faults = append(out.Faults, f)
	}
	return out
}
