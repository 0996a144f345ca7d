package view

import (
	"time"

	"github.com/redeliver/redeliver/host/web/api"
)

// GetApp tells what the host runs: generations of the app since the journal's first
// record, settings, endpoints, the findings of check, and functions. What GET /status
// says of functions is not said again.
type GetApp struct {
	api.Op[App] `route:"GET /app"`
}

// App is an app as the page shows it.
type App struct {
	Generations []Generation    `json:"generations"`
	Settings    []Setting       `json:"settings"`
	Endpoints   []Endpoint      `json:"endpoints"`
	Findings    []Finding       `json:"findings"`
	Functions   []FunctionState `json:"functions"`
}

// Generation is an app that was loaded, or an edit that was refused.
type Generation struct {
	Number  int       `json:"number,omitempty"` // of one that was loaded
	At      time.Time `json:"at"`
	Current bool      `json:"current,omitempty"`
	Refused bool      `json:"refused,omitempty"`
	Undone  bool      `json:"undone,omitempty"` // of one that was refused: the files are as before again
	File    string    `json:"file,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Hint    string    `json:"hint,omitempty"`
	Fault   int       `json:"fault,omitempty"`  // of one that was refused for several: which of them this is, from 1
	Faults  int       `json:"faults,omitempty"` // and how many there are
	Changes []string  `json:"changes"`          // "added NAME", "removed NAME" of functions; none: something within has changed
}

// Setting is a setting of local.settings.json. Its value is masked, unless it is one that
// is no secret by its kind: a number (unless its name speaks of a key, a password or the
// like), true or false, the runtime, the embedded storage.
type Setting struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Value  string `json:"value"`
	Masked bool   `json:"masked,omitempty"`
}

// Endpoint is where clients find a service of the host.
type Endpoint struct {
	Service          string `json:"service"`
	Address          string `json:"address,omitempty"`
	ConnectionString string `json:"connectionString,omitempty"` // without a key of the user's own
}

// Finding is an error, a warning or a lint of check.
type Finding struct {
	Severity string `json:"severity"` // error, warning or lint
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Rule     string `json:"rule,omitempty"` // of a lint: L-1
}

// FunctionState is how a function stands.
type FunctionState struct {
	Name     string        `json:"name"`
	Trigger  string        `json:"trigger,omitempty"`
	Language string        `json:"language"`
	State    string        `json:"state"` // enabled, disabled, not served, error
	Detail   string        `json:"detail,omitempty"`
	Breaker  *BreakerState `json:"breaker,omitempty"` // of a function that has one
}

// BreakerState is the state of a circuit breaker.
type BreakerState struct {
	State string    `json:"state"`          // closed, open, half-open
	Until time.Time `json:"until,omitzero"` // of an open one
}

// GetDue lists what is due next, the earliest first, at most 200.
type GetDue struct {
	api.Op[Dues] `route:"GET /due"`
}

// Dues are what is due next.
type Dues struct {
	Now   time.Time `json:"now"`
	Items []DueItem `json:"items"`
	More  int       `json:"more,omitempty"` // so many come later
}

// DueItem is something that will happen at a time.
type DueItem struct {
	At        time.Time `json:"at"`
	Kind      string    `json:"kind"` // retry, redelivery, delayed, lock, scheduled, event, timer, breaker
	Function  string    `json:"function,omitempty"`
	Delivery  string    `json:"delivery,omitempty"`
	MessageID string    `json:"messageId,omitempty"`
	Service   string    `json:"service,omitempty"` // of the message, as in GET /messages
	Entity    string    `json:"entity,omitempty"`
	Text      string    `json:"text"`
}

// RunAgain runs what a delivery was about again: its message is sent to its source once
// more, as a new one, and a timer's function is called. 409 when the host does not have
// the body any more.
type RunAgain struct {
	api.Op[RanAgain] `route:"POST /deliveries/again" body:"json"`

	Delivery string `json:"delivery"`
}

// RanAgain says what was done to run a delivery again.
type RanAgain struct {
	Delivery string `json:"delivery"`
	Function string `json:"function"`
	Service  string `json:"service,omitempty"`
	Entity   string `json:"entity,omitempty"`
	NewID    string `json:"newId,omitempty"` // of the new message
}
