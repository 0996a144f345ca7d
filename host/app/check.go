package app

import (
	"math"
	"slices"
	"time"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// Check says what will happen: per function its trigger, policy, number of
// attempts, waiting time and the end of a message, then everything that is wrong
// and the lints. It is a pure function of the app.
func Check(a *App) *Report {
	r := &Report{App: a.Dir, HostID: a.ID, Blocked: !a.OK(), LogLevels: a.Config.LogLevels, Functions: []FunctionReport{}, Errors: []Problem{}, Warnings: []Problem{}, Lints: []Lint{}}
	for _, f := range a.AllFaults() {
		r.Errors = append(r.Errors, problem("", f))
	}
	if a.Obstacle != nil {
		r.Errors = append(r.Errors, problem("", a.Obstacle))
	}
	for _, w := range a.Warnings {
		r.Warnings = append(r.Warnings, problem("", w))
	}
	for _, f := range a.Functions {
		r.Functions = append(r.Functions, reportOf(a, f))
		for _, fault := range f.Faults {
			if f.Repeats(fault) {
				continue
			}
			r.Errors = append(r.Errors, problem(f.Name, fault))
		}
		for _, w := range f.Warnings {
			r.Warnings = append(r.Warnings, problem(f.Name, w))
		}
	}
	if a.hostDoc != nil {
		r.WithoutEffect = a.hostDoc.WithoutEffect(schemas.HostJSON)
	}
	for _, l := range Lints(a) {
		if a.Switches.Ignores(l.ID) {
			if !slices.Contains(r.Ignored, l.ID) {
				r.Ignored = append(r.Ignored, l.ID)
			}
			continue
		}
		r.Lints = append(r.Lints, l)
	}
	return r
}

func problem(function string, f *schemas.Fault) Problem {
	return Problem{
		Function: function, File: f.File, Line: f.Line, Column: f.Column, Path: f.Path,
		Found: f.Found, Allowed: f.Allowed, Reason: f.Reason, Hint: f.Hint, Kind: string(f.Kind), First: f.First,
	}
}

// reportOf says what will happen to one function. A function in error does not run,
// so it has no numbers.
func reportOf(a *App, f *Function) FunctionReport {
	r := FunctionReport{Name: f.Name, File: f.File, InError: f.InError(), Disabled: f.DisabledBy, NotServed: f.NotServed}
	if f.Trigger != nil {
		r.Trigger, r.Source = f.Trigger.Type, sourceOf(a, f)
	}
	if f.Kind != nil {
		r.Trigger = f.Kind.Type
	}
	if r.InError || f.Kind == nil {
		return r
	}
	if f.Policy != nil {
		r.Policy = policyReport(a, f, f.Policy)
	} else if f.Original != nil {
		r.IgnoredPolicy = policyReport(a, f, f.Original)
	}
	l := loadOf(a, f)
	r.Attempts, r.AttemptsUnbounded = l.attempts, l.attemptsUnbounded
	r.Deliveries, r.DeliveriesUnbounded = l.deliveries, l.deliveriesUnbounded
	r.Total, r.TotalUnbounded = l.total()
	r.Wait = waitReport(l.wait)
	r.WaitTotal = waitReport(l.waitTotal())
	if f.Kind.End != nil {
		r.End = f.Kind.End(a, f)
	}
	r.Unloaded = f.Unloaded
	return r
}

// sourceOf names what a function listens to.
func sourceOf(a *App, f *Function) string {
	t := f.Trigger
	if f.Routed() {
		return "/" + RouteTemplate(a, f)
	}
	for _, key := range [...]string{"queueName", "topicName", "schedule", "path", "eventHubName", "containerName"} {
		if s := t.String(key); s != "" {
			sub, database := t.String("subscriptionName"), t.String("databaseName")
			switch {
			case key == "topicName" && sub != "":
				s += "/" + sub
			case key == "containerName" && database != "":
				s = database + "/" + s
			}
			return s
		}
	}
	return ""
}

func policyReport(a *App, f *Function, p *retrycontext.Policy) *PolicyReport {
	r := &PolicyReport{
		Strategy: p.Strategy.String(), MaxRetryCount: p.MaxRetryCount,
		Source: f.PolicySource, File: f.PolicyFile, Path: f.PolicyPath,
	}
	r.Line, _ = f.policyPosition(a)
	if p.Strategy == retrycontext.FixedDelay {
		r.DelayInterval = retrycontext.FormatTimeSpan(p.DelayInterval)
	} else {
		r.MinimumInterval = retrycontext.FormatTimeSpan(p.MinimumInterval)
		r.MaximumInterval = retrycontext.FormatTimeSpan(p.MaximumInterval)
	}
	if f.Original.MaxRetryCount != p.MaxRetryCount {
		n := f.Original.MaxRetryCount
		r.Configured = &n
	}
	return r
}

// policyPosition returns where the policy stands; 0 outside a file.
func (f *Function) policyPosition(a *App) (line, column int) {
	switch {
	case f.PolicySource == FromFunction && f.doc != nil:
		return f.doc.Pos(f.PolicyPath)
	case f.PolicySource == FromApp:
		return a.hostDoc.Pos(f.PolicyPath)
	}
	return 0, 0
}

// A load is the cost of one message that always fails.
type load struct {
	attempts            int // per delivery
	attemptsUnbounded   bool
	deliveries          int
	deliveriesUnbounded bool
	wait                wait // per delivery
}

type wait struct {
	min, max  time.Duration
	unbounded bool
}

func loadOf(a *App, f *Function) load {
	l := load{deliveries: 1}
	l.attempts, l.attemptsUnbounded = f.Policy.MaxAttempts()
	if f.Kind.Deliveries != nil {
		l.deliveries, l.deliveriesUnbounded = f.Kind.Deliveries(a, f)
	}
	if l.deliveriesUnbounded {
		l.deliveries = 0
	}
	l.wait.min, l.wait.max, l.wait.unbounded = f.Policy.TotalWait()
	return l
}

// total is the product of the two layers; 0 when unbounded.
func (l load) total() (n int, unbounded bool) {
	if l.attemptsUnbounded || l.deliveriesUnbounded {
		return 0, true
	}
	if l.deliveries > 0 && l.attempts > math.MaxInt/l.deliveries {
		return math.MaxInt, false
	}
	return l.attempts * l.deliveries, false
}

func (l load) waitTotal() wait {
	switch {
	case l.wait.unbounded, l.deliveriesUnbounded && l.wait.max > 0:
		return wait{document.Longest, document.Longest, true}
	case l.deliveriesUnbounded:
		return wait{}
	}
	return wait{times(l.wait.min, l.deliveries), times(l.wait.max, l.deliveries), false}
}

// times multiplies without running over.
func times(d time.Duration, n int) time.Duration {
	if n > 0 && d > document.Longest/time.Duration(n) {
		return document.Longest
	}
	return d * time.Duration(n)
}

func waitReport(w wait) WaitReport {
	if w.unbounded {
		return WaitReport{Unbounded: true}
	}
	return WaitReport{Minimum: retrycontext.FormatTimeSpan(w.min), Maximum: retrycontext.FormatTimeSpan(w.max)}
}
