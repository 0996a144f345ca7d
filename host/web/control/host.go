// Package control is the control API of a host, operation by operation: parameters and
// answer of each. The host's server (package web) binds a handler to each operation, and
// clients make requests of them; neither knows a path. Package api says what the tags
// mean.
//
// The comments of operations, answers and fields are the words of the OpenAPI
// description, which a test of package web makes from them.
package control

import (
	"io"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/web/api"
)

// GetStatus tells the state of the host and what it runs.
type GetStatus struct {
	api.Op[Status] `route:"GET /status"`
}

// Status is the state of a host and what it runs.
type Status struct {
	Version    string         `json:"version"`
	PID        int            `json:"pid"`
	App        string         `json:"app"` // absolute path of the app folder
	State      host.State     `json:"state"`
	Ready      bool           `json:"ready"`
	Errors     []string       `json:"errors,omitempty"`
	Generation int            `json:"generation"`
	Report     *app.Report    `json:"report,omitempty"` // of the running generation; of several apps all functions, as "app/function"
	Apps       []app.Standing `json:"apps,omitempty"`   // of a run that has several; the other fields are of the one that was asked
	Clock      ClockStatus    `json:"clock"`
	Journal    uint64         `json:"journal"` // sequence number of the latest record
}

// GetClock tells the time of the host.
type GetClock struct {
	api.Op[ClockStatus] `route:"GET /clock"`
}

// AdvanceClock moves a virtual clock and returns when what became due has been worked
// off; 409 when the clock is not virtual.
type AdvanceClock struct {
	api.Op[ClockStatus] `route:"POST /clock/advance"`

	By time.Duration `query:"by,required" min:"1ns" max:"8784h" fault:"by %q: want a duration above 0 and at most 8784h" hint:"its units are h, m, s and ms, for instance \"15m\", \"1h30m\" or \"192h\""`
}

// NextDeadline moves a virtual clock to what is due next, through every deadline on the
// way, and returns when that has been worked off; 409 when the clock is not virtual, or
// nothing is due.
type NextDeadline struct {
	api.Op[ClockStatus] `route:"POST /clock/next"`
}

// SetClock changes how a virtual clock moves by itself, from its present time on: "real"
// follows the wall, "debug" too, but stands still while a handler runs, "auto" skips
// every wait, and "manual" stands still until it is moved; 409 when the clock is not
// virtual, or the host cannot have that mode.
type SetClock struct {
	api.Op[ClockStatus] `route:"PUT /clock"`

	Mode clock.Pace `query:"mode,required"`
}

// ClockStatus is the time of a host. Elapsed times count from the making of the
// clock, in milliseconds.
type ClockStatus struct {
	Now              time.Time  `json:"now"`
	Wall             time.Time  `json:"wall"`
	Virtual          bool       `json:"virtual"`
	Mode             clock.Pace `json:"mode,omitempty"` // of a virtual clock: real, debug, auto or manual
	Due              []Due      `json:"due,omitempty"`  // the next five, where the clock was asked for; the first is the one of NextDeadline
	VirtualElapsedMS int64      `json:"virtualElapsedMs,omitempty"`
	RealElapsedMS    int64      `json:"realElapsedMs,omitempty"`
}

// Due is a time that work waits for, or a listener; when there is none, any deadline.
type Due struct {
	At   time.Time `json:"at"`
	Name string    `json:"name,omitempty"` // who waits; a timeout has none
	Wait string    `json:"wait"`           // sleep: work waits for it; idle: a poll or tick; timer; lapse: the end of a lock or message; timeout
}

// Invoke runs a function by hand, and waits for the whole retry loop; a failure is an
// answer too.
type Invoke struct {
	api.Op[InvokeResult] `route:"POST /functions/{name}/invoke"`

	Name  string `path:"name"`
	Input []byte `body:"raw"` // the trigger's value
}

// InvokeResult is what came of a call by hand, all attempts made.
type InvokeResult struct {
	Succeeded bool            `json:"succeeded"`
	Attempts  int             `json:"attempts"`
	Error     string          `json:"error,omitempty"` // the last attempt's
	Response  *InvokeResponse `json:"response,omitempty"`
}

// InvokeResponse is the answer of an HTTP-triggered function.
type InvokeResponse struct {
	StatusCode int         `json:"statusCode"`
	Header     http.Header `json:"headers,omitempty"`
	Body       []byte      `json:"body,omitempty"` // base64
}

// ReadJournal writes journal records as NDJSON. A line {"missed": n} stands for records
// that are no longer kept. A caller that accepts text/event-stream gets server-sent
// events: "records" with an array of records, whose id is the sequence number of the last
// one, and "missed"; the header Last-Event-ID goes on after that record. The answer's
// header X-Redeliver-Run names the run of the host: numbers of another run mean nothing.
type ReadJournal struct {
	api.Op[api.Stream] `route:"GET /journal"`

	Since  int64 `query:"since" min:"1" default:"1" fault:"since must be a sequence number from 1"` // the first record
	Follow bool  `query:"follow"`                                                                   // go on until the host ends
}

// Explain tells the lives of messages: each delivery and each attempt, who decided what
// followed, and what comes next. It knows what the journal has kept; 404 when that has no
// such message.
type Explain struct {
	api.Op[explain.Told] `route:"GET /explain"`

	Message  string `query:"message"`                                                              // identity of a message, or its beginning; of a delivery; of an invocation
	Function string `query:"function"`                                                             // only messages of this function
	Last     int    `query:"last" min:"1" default:"20" fault:"last must be a number of 1 or more"` // so many lives, the latest
}

// Reload loads the app again; 409 when it was refused.
type Reload struct {
	api.Op[Reloaded] `route:"POST /reload"`
}

// Reloaded is the result of a reload that was not refused.
type Reloaded struct {
	Generation int        `json:"generation"`
	State      host.State `json:"state"`
}

// Describe is this description, in OpenAPI 3.1.
type Describe struct {
	api.Op[api.Stream] `route:"GET /openapi.json"`
}

// Stop ends the host.
type Stop struct {
	api.Op[api.None] `route:"POST /stop" status:"202"`
}

// SaveState writes what the embedded services hold, as one archive.
type SaveState struct {
	api.Op[api.Stream] `route:"GET /state"`
}

// LoadState puts a saved archive in the place of what the embedded services hold; 400,
// and nothing changes, when it is damaged. Deliveries in work settle against nothing.
type LoadState struct {
	api.Op[StateLoaded] `route:"PUT /state" limit:"68719476736"`

	Archive io.Reader `body:"raw"`
}

// StateLoaded is the result of loading a state.
type StateLoaded struct {
	// MovedMS is by how much the clock was moved to the time of the state, in
	// milliseconds.
	MovedMS int64 `json:"movedMs,omitempty"`
}

// ResetState removes everything that the embedded services hold, and the recorded
// outputs.
type ResetState struct {
	api.Op[api.None] `route:"DELETE /state" status:"204"`
}
