package hostjson

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app/document"
)

// Switches are the emulator's own switches: the object "redeliver" of host.json,
// which the platform ignores (spec host-and-retry 0.2).
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
	DurableReplayCheck     string // off
	DurableStuck           string // faithful, fail
	DurableEvents          string // faithful, keep
	TableRowKey            string // ignored, honoured; empty: by the extension bundle
	TablePages             string // full, partition

	// Explicit holds the names of the switches that were given a value, in their
	// canonical spelling, so that the test kit can keep its own defaults for the
	// others.
	Explicit map[string]bool

	// Ignore holds the ids of the lints that are switched off.
	Ignore []string
}

// Ignores reports whether the lint of that id is switched off.
func (s *Switches) Ignores(id string) bool { return slices.Contains(s.Ignore, id) }

const (
	// SwitchSection is the object of host.json that is for Redeliver alone.
	SwitchSection = "redeliver"
	ignoreSwitch  = "ignore"
)

// switchNames are the names that --set knows, in the order of the specification.
// The same names with their values are in the schema of host.json, which checks
// both.
var switchNames = [...]string{
	"retryCounting", "retryTriggers", "workerCrash", "wakeUp", "autoCreateEntities", "strictSessionSend",
	"autoForwardFailure", "maxForwardHops", "eventGridSchedule", "eventGridJitterPercent", "eventGridProbation",
	"durableReplayCheck", "durableStuck", "durableEvents", "tableRowKey", "tablePages", ignoreSwitch,
}

// SwitchNames are the names that a switch of --set may have.
func SwitchNames() []string { return slices.Clone(switchNames[:]) }

// FindSwitch returns the canonical spelling of a switch.
func FindSwitch(name string) (string, bool) {
	for _, known := range switchNames {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return "", false
}

// ReadSwitches reads the redeliver object of host.json, over
// which the environment and --set were laid. The schema reports what is wrong.
func ReadSwitches(r document.Reader) Switches {
	at := func(name string) string { return SwitchSection + "." + name }
	s := Switches{
		RetryCounting:          r.Word(at("retryCounting"), "runtime", "documented"),
		RetryTriggers:          r.Word(at("retryTriggers"), "all", "ga"),
		WorkerCrash:            r.Word(at("workerCrash"), "keep", "stop"),
		WakeUp:                 r.Word(at("wakeUp"), "fast", "faithful"),
		AutoCreateEntities:     r.Word(at("autoCreateEntities"), "functions", "any", "none"),
		StrictSessionSend:      r.Flag(at("strictSessionSend"), false),
		AutoForwardFailure:     r.Word(at("autoForwardFailure"), "tdlq", "dlq"),
		MaxForwardHops:         r.Number(at("maxForwardHops"), servicebus.DefaultForwardHops, 1, maxInt),
		EventGridSchedule:      r.Word(at("eventGridSchedule"), "2019", "current"),
		EventGridJitterPercent: r.Number(at("eventGridJitterPercent"), 10, 0, 50),
		EventGridProbation:     r.Word(at("eventGridProbation"), "on", "off") == "on",
		DurableReplayCheck:     r.Word(at("durableReplayCheck"), "off"),
		DurableStuck:           r.Word(at("durableStuck"), "faithful", "fail"),
		DurableEvents:          r.Word(at("durableEvents"), "faithful", "keep"),
		TableRowKey:            r.Word(at("tableRowKey"), "", "ignored", "honoured"),
		TablePages:             r.Word(at("tablePages"), "full", "partition"),
		Explicit:               make(map[string]bool),
	}
	for _, name := range switchNames {
		if r.Has(at(name)) {
			s.Explicit[name] = true
		}
	}
	ids := r.List(at(ignoreSwitch))
	if text, ok := r.Value(at(ignoreSwitch)).(string); ok {
		ids = strings.Split(text, ",")
	}
	for _, id := range ids {
		s.Ignore = append(s.Ignore, strings.ToUpper(strings.TrimSpace(id)))
	}
	slices.Sort(s.Ignore)
	s.Ignore = slices.Compact(s.Ignore)
	return s
}
