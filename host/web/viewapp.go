package web

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/web/view"
)

func (s *Server) app(context.Context, view.GetApp) (view.App, error) {
	out := view.App{
		Generations: s.generations(), Settings: []view.Setting{}, Endpoints: []view.Endpoint{}, Findings: []view.Finding{}, Functions: []view.FunctionState{},
	}
	a := s.host.App()
	if a == nil {
		return out, nil
	}
	if s.opts.Endpoints != nil {
		out.Endpoints = append(out.Endpoints, s.opts.Endpoints()...)
	}
	local := a.Settings.Local()
	for _, name := range slices.Sorted(maps.Keys(local)) {
		value, masked := shownValue(name, local[name])
		out.Settings = append(out.Settings, view.Setting{Name: name, Source: a.Settings.Source(name), Value: value, Masked: masked})
	}
	report := s.report()
	for _, list := range []struct {
		severity string
		problems []app.Problem
	}{{"error", report.Errors}, {"warning", report.Warnings}} {
		for _, p := range list.problems {
			out.Findings = append(out.Findings, view.Finding{
				Severity: list.severity, Function: p.Function, File: p.File, Line: p.Line, Path: p.Path, Message: p.Reason, Fix: p.Hint,
			})
		}
	}
	for _, l := range report.Lints {
		out.Findings = append(out.Findings, view.Finding{Severity: "lint", Function: l.Function, File: l.File, Line: l.Line, Path: l.Path, Message: l.Message, Rule: l.ID})
	}
	circuits := s.circuits()
	for _, f := range s.functionInfos() {
		of, own, err := s.function(f.Name)
		if err != nil {
			continue // it runs no more
		}
		a := of.App()
		shown := view.FunctionState{Name: f.Name, Trigger: f.Trigger, Language: language(a), State: f.State, Detail: f.Detail}
		if def := a.Function(own); def != nil && def.CircuitBreaker != nil {
			shown.Breaker = &view.BreakerState{State: "closed"}
			if rec, ok := circuits[f.Name]; ok {
				shown.Breaker = breakerState(&rec)
			}
		}
		out.Functions = append(out.Functions, shown)
	}
	return out, nil
}

// generations are what the journal has of loads.
func (s *Server) generations() []view.Generation {
	out, before, known := []view.Generation{}, []string{}, false
	s.of(func(rec *journal.Record) {
		if rec.App != s.host.AppName() {
			return // its own server tells it
		}
		switch rec.Kind {
		case journal.GenerationLoaded:
			now := functionsOf(rec)
			g := view.Generation{Number: rec.Generation, At: rec.Time, Current: rec.Generation == s.host.Generation(), Changes: []string{}}
			if known {
				g.Changes = difference(before, now)
			}
			before, known = now, true
			out = append(out, g)
		case journal.GenerationRefused:
			g := view.Generation{At: rec.Time, Refused: true, File: rec.Name, Reason: rec.Error, Changes: []string{}}
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

// of shows the kept records of some kinds, in order.
func (s *Server) of(visit func(*journal.Record), kinds ...journal.Kind) {
	var found []journal.Record
	for _, kind := range kinds {
		s.host.Journal().FindKind(1, kind, func(rec *journal.Record) bool {
			found = append(found, *rec)
			return false
		})
	}
	slices.SortFunc(found, func(a, b journal.Record) int { return int(int64(a.Seq) - int64(b.Seq)) })
	for i := range found {
		visit(&found[i])
	}
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
func (s *Server) circuits() map[string]journal.Record {
	out := map[string]journal.Record{}
	s.of(func(rec *journal.Record) { out[rec.Function] = *rec }, journal.CircuitOpened, journal.CircuitHalfOpened, journal.CircuitClosed)
	return out
}

func breakerState(rec *journal.Record) *view.BreakerState {
	switch rec.Kind {
	case journal.CircuitOpened:
		return &view.BreakerState{State: "open", Until: rec.Time.Add(rec.Delay)}
	case journal.CircuitHalfOpened:
		return &view.BreakerState{State: "half-open"}
	}
	return &view.BreakerState{State: "closed"}
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
