// Package trouble has the operations of the control API by which a running host gets faults:
// operations and handlers that fail (package faults), and the end of its process at a point
// of a delivery. All others are in package control. Read [AddFault] and [CrashAt].
package trouble

import (
	"time"

	"github.com/redeliver/redeliver/host/web/api"
)

// ListFaults lists the faults that wait for operations.
type ListFaults struct {
	api.Op[Faults] `route:"GET /faults"`
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
	api.Op[Faults] `route:"POST /faults"`

	Service   string        `query:"service"`
	Entity    string        `query:"entity"`
	Operation string        `query:"operation"`
	DiskFull  bool          `query:"diskFull"`
	After     bool          `query:"after"`
	Lost      bool          `query:"lost"`
	Latency   time.Duration `query:"latency" min:"0s" fault:"latency %q: want a duration of 0 or more"`
	Status    int           `query:"status" min:"0" max:"599" fault:"status must be a number from 0 to 599"`
	Error     string        `query:"error"`
	Times     int           `query:"times" min:"0" fault:"times must be a number of 0 or more"`
	For       time.Duration `query:"for" min:"0s" fault:"for %q: want a duration of 0 or more"`
}

// ClearFaults ends all faults. The answer is those that there were.
type ClearFaults struct {
	api.Op[Faults] `route:"DELETE /faults"`
}

// CrashAt has the process of the host killed at a point of a delivery of a function: nothing
// is settled then, nothing is given back, and nothing is cleaned up. Nth says which time the
// point is reached.
type CrashAt struct {
	api.Op[api.None] `route:"PUT /crash"`

	Function string `query:"function,required"`
	Point    string `query:"point,required"`
	Nth      int    `query:"nth" min:"1" default:"1" fault:"nth must be a number of 1 or more"`
}
