package app

// Switches are the emulator's own switches: the object "redeliver" of host.json,
// which the platform ignores (host-and-retry 0.2).
type Switches struct {
	RetryCounting          string // runtime, documented
	RetryTriggers          string // all, ga
	WorkerCrash            string // keep, stop
	WakeUp                 string // fast, faithful
	AutoCreateEntities     string // functions, any, none
	StrictSessionSend      bool
	AutoForwardFailure     string // tdlq, dlq
	MaxForwardHops         int    // at least 1
	EventGridSchedule      string // 2019, current
	EventGridJitterPercent int    // 0 to 50
	EventGridProbation     bool   // on, off

	// Explicit holds the names of the switches that were given a value, in their
	// canonical spelling, so that the test kit can keep its own defaults for the
	// others.
	Explicit map[string]bool

	// Ignore holds the ids of the lints that are switched off.
	Ignore []string
}
