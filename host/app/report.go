package app

import (
	"github.com/redeliver/redeliver/host/app/hostjson"
)

// Report is the result of [Check]. Its JSON form is stable: names are only
// added.
type Report struct {
	// App is the path of the app and HostID its host ID.
	App    string `json:"app"`
	HostID string `json:"hostId"`

	// Blocked is set when the app as a whole does not start.
	Blocked bool `json:"blocked"`

	// Functions are ordered by name; functions in error are included.
	Functions []FunctionReport `json:"functions"`

	// Errors are the faults of the app first, then the faults of its functions.
	Errors []Problem `json:"errors"`

	// Warnings are harmless faults.
	Warnings []Problem `json:"warnings"`

	// Lints are warnings with an id that redeliver.ignore switches off.
	Lints []Lint `json:"lints"`

	// WithoutEffect holds the paths of what host.json sets and this host does not use.
	WithoutEffect []string `json:"withoutEffect,omitempty"`

	// LogLevels is logging.logLevel of host.json, which decides what "start" and "logs" show.
	LogLevels hostjson.LogLevels `json:"logLevels,omitempty"`

	// Ignored holds the ids that redeliver.ignore switched off, sorted.
	Ignored []string `json:"ignored,omitempty"`
}

// OK reports whether there are no errors.
func (r *Report) OK() bool { return len(r.Errors) == 0 }

// FunctionReport tells the behaviour of one function.
type FunctionReport struct {
	Name     string `json:"name"`
	File     string `json:"file,omitempty"` // function.json relative to the app
	Trigger  string `json:"trigger,omitempty"`
	Source   string `json:"source,omitempty"` // what it listens to: queue, route, schedule
	InError  bool   `json:"inError"`
	Disabled string `json:"disabled,omitempty"` // what disables it

	// NotServed says why a function that may be in order does not run here. The
	// rest of the report tells what will happen where it runs.
	NotServed string `json:"notServed,omitempty"`

	// Unloaded is why the language worker could not load it, so that all its attempts fail.
	Unloaded string `json:"unloaded,omitempty"`

	// Policy is nil when there is none.
	Policy *PolicyReport `json:"retry"`

	// IgnoredPolicy is a policy that retryTriggers "ga" takes away.
	IgnoredPolicy *PolicyReport `json:"ignoredRetry,omitempty"`

	// Attempts per delivery, Deliveries and Total (their product) are 0 when
	// unbounded; the flags say so.
	Attempts            int  `json:"attemptsPerDelivery"`
	AttemptsUnbounded   bool `json:"attemptsUnbounded,omitempty"`
	Deliveries          int  `json:"deliveries"`
	DeliveriesUnbounded bool `json:"deliveriesUnbounded,omitempty"`
	Total               int  `json:"totalAttempts"`
	TotalUnbounded      bool `json:"totalUnbounded,omitempty"`

	// Wait per delivery and over all deliveries, of a message that always fails:
	// retry delays only.
	Wait      WaitReport `json:"waitPerDelivery"`
	WaitTotal WaitReport `json:"waitTotal"`

	// End says where such a message ends.
	End string `json:"end,omitempty"`
}

// PolicyText is the policy in words, and where it comes from.
func (f *FunctionReport) PolicyText() string {
	if f.Policy == nil {
		return "none"
	}
	return policyWords(f.Policy) + ", from " + originWords(f.Policy)
}

// AttemptsText says how often a message runs that always fails: attempts per delivery,
// deliveries and their product.
func (f *FunctionReport) AttemptsText() string { return attemptsWords(*f) }

// PolicyReport is an effective policy and its source.
type PolicyReport struct {
	Strategy        string       `json:"strategy"`
	MaxRetryCount   int          `json:"maxRetryCount"`
	DelayInterval   string       `json:"delayInterval,omitempty"`
	MinimumInterval string       `json:"minimumInterval,omitempty"`
	MaximumInterval string       `json:"maximumInterval,omitempty"`
	Source          PolicySource `json:"source"`
	File            string       `json:"file"`
	Path            string       `json:"path,omitempty"`
	Line            int          `json:"line,omitempty"`
	// Configured is the count as written when retryCounting changed it.
	Configured *int `json:"configuredMaxRetryCount,omitempty"`
}

// WaitReport is a range of waiting time, as time spans; empty when unbounded.
type WaitReport struct {
	Minimum   string `json:"minimum,omitempty"`
	Maximum   string `json:"maximum,omitempty"`
	Unbounded bool   `json:"unbounded,omitempty"`
}

// Problem is a fault in the form of the report.
type Problem struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
	Found    string `json:"found,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Reason   string `json:"reason"`
	Hint     string `json:"hint,omitempty"`
	Kind     string `json:"kind,omitempty"`
	// ID is the entry of the manual that tells more, where there is one. Check leaves it
	// empty: who shows the report knows the manual.
	ID string `json:"id,omitempty"`
	// First marks the fault of a file or function that the platform would
	// report.
	First bool `json:"first,omitempty"`
}

// Lint is a warning with an id ("L-1", see LintRules; spec host-and-retry 14.3).
type Lint struct {
	ID       string `json:"id"`
	Function string `json:"function,omitempty"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
}

// Standing is how one of several apps of a run stands.
type Standing struct {
	Name       string             `json:"name"`
	Folder     string             `json:"folder"`
	State      string             `json:"state"` // of its host: Running, Error, ...
	Errors     []string           `json:"errors,omitempty"`
	Generation int                `json:"generation"`
	LogLevels  hostjson.LogLevels `json:"logLevels,omitempty"` // of the running generation
}
