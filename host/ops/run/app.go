package run

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
)

// GetApp tells what the host runs: generations of the app since the journal's first
// record, settings, endpoints, the findings of check, and functions. What GET /status
// says of functions is not said again.
type GetApp struct {
	ops.Op[App] `route:"GET /app" clock:"own"`
}

func (GetApp) Do(_ context.Context, e *ops.Env) (App, error) {
	out := App{
		Generations: generations(e), Settings: []Setting{}, Endpoints: []ops.Endpoint{}, Findings: []Finding{}, Functions: []FunctionState{},
	}
	a := e.Host.App()
	if a == nil {
		return out, nil
	}
	if e.Endpoints != nil {
		out.Endpoints = append(out.Endpoints, e.Endpoints()...)
	}
	local := a.Settings.Local()
	for _, name := range slices.Sorted(maps.Keys(local)) {
		value, masked := shownValue(name, local[name])
		out.Settings = append(out.Settings, Setting{Name: name, Source: a.Settings.Source(name), Value: value, Masked: masked})
	}
	report := e.Report()
	for _, list := range []struct {
		severity string
		problems []app.Problem
	}{{"error", report.Errors}, {"warning", report.Warnings}} {
		for _, p := range list.problems {
			out.Findings = append(out.Findings, Finding{
				Severity: list.severity, Function: p.Function, File: p.File, Line: p.Line, Path: p.Path, Message: p.Reason, Fix: p.Hint,
			})
		}
	}
	for _, l := range report.Lints {
		out.Findings = append(out.Findings, Finding{Severity: "lint", Function: l.Function, File: l.File, Line: l.Line, Path: l.Path, Message: l.Message, Rule: l.ID})
	}
	circuits := circuits(e)
	for _, f := range functionInfos(e) {
		of, own, err := e.Function(f.Name)
		if err != nil {
			continue // it runs no more
		}
		a := of.App()
		shown := FunctionState{Name: f.Name, Trigger: f.Trigger, Language: a.Language(), State: f.State, Detail: f.Detail}
		if def := a.Function(own); def != nil && def.CircuitBreaker != nil {
			shown.Breaker = &BreakerState{State: "closed"}
			if rec, ok := circuits[f.Name]; ok {
				shown.Breaker = breakerState(&rec)
			}
		}
		out.Functions = append(out.Functions, shown)
	}
	return out, nil
}

// App is an app as the page shows it.
type App struct {
	Generations []Generation    `json:"generations"`
	Settings    []Setting       `json:"settings"`
	Endpoints   []ops.Endpoint  `json:"endpoints"`
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

// generations are what the journal has of loads.
func generations(e *ops.Env) []Generation {
	out, before, known := []Generation{}, []string{}, false
	e.Records(func(rec *journal.Record) {
		if rec.App != e.Host.AppName() {
			return // its own server tells it
		}
		switch rec.Kind {
		case journal.GenerationLoaded:
			now := functionsOf(rec)
			g := Generation{Number: rec.Generation, At: rec.Time, Current: rec.Generation == e.Host.Generation(), Changes: []string{}}
			if known {
				g.Changes = difference(before, now)
			}
			before, known = now, true
			out = append(out, g)
		case journal.GenerationRefused:
			g := Generation{At: rec.Time, Refused: true, File: rec.Name, Reason: rec.Error, Changes: []string{}}
			for _, f := range rec.Fields {
				switch f.Key {
				case "hint":
					g.Hint = f.Value
				case "fault":
					g.Fault, _ = strconv.Atoi(f.Value) // the host has written it
				case "faults":
					g.Faults, _ = strconv.Atoi(f.Value)
				}
			}
			out = append(out, g)
		case journal.EditUndone:
			for i := len(out) - 1; i >= 0 && out[i].Refused; i-- {
				out[i].Undone = true
			}
		}
	}, journal.GenerationLoaded, journal.GenerationRefused, journal.EditUndone)
	return out
}

// functionsOf are the functions of a generation, by its record.
func functionsOf(rec *journal.Record) []string {
	for _, f := range rec.Fields {
		if f.Key == "functions" && f.Value != "" {
			return strings.Split(f.Value, ",")
		}
	}
	return nil
}

// difference says which names came and went.
func difference(before, now []string) []string {
	out := []string{}
	for _, name := range now {
		if !slices.Contains(before, name) {
			out = append(out, "added "+name)
		}
	}
	for _, name := range before {
		if !slices.Contains(now, name) {
			out = append(out, "removed "+name)
		}
	}
	return out
}

// circuits are the last changes of circuit breakers, by function.
func circuits(e *ops.Env) map[string]journal.Record {
	out := map[string]journal.Record{}
	e.Records(func(rec *journal.Record) { out[rec.Function] = *rec }, journal.CircuitOpened, journal.CircuitHalfOpened, journal.CircuitClosed)
	return out
}

func breakerState(rec *journal.Record) *BreakerState {
	switch rec.Kind {
	case journal.CircuitOpened:
		return &BreakerState{State: "open", Until: rec.Time.Add(rec.Delay)}
	case journal.CircuitHalfOpened:
		return &BreakerState{State: "half-open"}
	}
	return &BreakerState{State: "closed"}
}

// mask stands for a value that may be a secret, whatever its length.
const mask = "********"

// secretName matches names of settings that may have a number for a secret.
var secretName = regexp.MustCompile(`(?i)key|secret|passw|pwd|passcode|passphrase|token|credential|pin$`) // read only

// shownValue is the value of a setting for people's eyes.
func shownValue(name, value string) (shown string, masked bool) {
	_, notNumber := strconv.ParseFloat(value, 64)
	_, notBool := strconv.ParseBool(value)
	plain := notNumber == nil && len(value) < 8 || notBool == nil || value == "" || strings.EqualFold(strings.TrimSuffix(value, ";"), "UseDevelopmentStorage=true") ||
		strings.EqualFold(name, "FUNCTIONS_WORKER_RUNTIME") || strings.EqualFold(name, "FUNCTIONS_EXTENSION_VERSION")
	if plain && (value == "" || !secretName.MatchString(name)) {
		return value, false
	}
	return mask, true
}
