package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// Lints returns every lint of spec host-and-retry 14.3 that applies, including
// lints that redeliver.ignore switches off, ordered by ID and then by function.
// A function in error gets only the lints that hold although it does not run.
func Lints(a *App) []Lint {
	l := &linter{app: a}
	l.hostFile()
	for _, f := range a.Functions {
		l.spellings(f)
		if f.InError() || f.Kind == nil || f.Trigger == nil {
			continue
		}
		load := loadOf(a, f)
		l.loops(f)
		l.policy(f, load)
		review := &Review{App: a, Function: f, Deliveries: load.deliveries, linter: l, wait: load.wait}
		if f.Kind.Lint != nil {
			f.Kind.Lint(review)
		}
		for _, b := range f.Bindings {
			if b != f.Trigger && b.Kind != nil && b.Kind.Lint != nil && !b.Foreign {
				b.Kind.Lint(review, b)
			}
		}
	}
	for _, s := range l.settings {
		l.at(s.id, "", a.hostDoc, a.hostDoc.Source(s.path), s.path, s.format, strings.Join(s.functions, ", "))
	}
	slices.SortStableFunc(l.lints, func(a, b Lint) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return l.lints
}

func number(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "L-"))
	return n
}

type linter struct {
	app      *App
	lints    []Lint
	settings []*settingLint
}

// at adds a lint at a place in a document; doc nil gives no position.
func (l *linter) at(id, function string, doc *schemas.Document, file, path, format string, args ...any) {
	lint := Lint{ID: id, Function: function, File: file, Path: path, Message: fmt.Sprintf(format, args...)}
	if doc != nil && (file == doc.File()) && file != document.CodeFile {
		lint.Line, lint.Column = doc.Pos(path)
	}
	l.lints = append(l.lints, lint)
}

// onFault adds a lint at the place of a fault.
func (l *linter) onFault(id, function string, f *schemas.Fault, format string, args ...any) {
	l.lints = append(l.lints, Lint{ID: id, Function: function, File: f.File, Line: f.Line, Column: f.Column, Path: f.Path, Message: fmt.Sprintf(format, args...)})
}

// onPolicy adds a lint at the policy that a function runs under, below it at
// property if that is not empty.
func (l *linter) onPolicy(id string, f *Function, property, format string, args ...any) {
	path, doc := f.PolicyPath, f.doc
	if property != "" {
		path = schemas.JoinPath(path, property)
	}
	if f.PolicySource == FromApp || f.PolicySource == FromEnvironment {
		doc = l.app.hostDoc
	}
	l.at(id, f.Name, doc, f.PolicyFile, path, format, args...)
}

// onBinding adds a lint at a property of a function's binding.
func (l *linter) onBinding(id string, f *Function, b *Binding, key, format string, args ...any) {
	l.at(id, f.Name, f.doc, f.file(), b.PathOf(key), format, args...)
}

// hostFile finds L-4, L-9 and L-14 in host.json and its overrides.
func (l *linter) hostFile() {
	a := l.app
	l.oddSpans("", a.spans)
	for _, near := range a.nearMisses {
		l.onFault("L-9", "", near, "%s", near.Reason)
	}
	l.incompleteOverride()
}

func (l *linter) oddSpans(function string, spans []document.SpanText) {
	for _, s := range spans {
		l.onFault("L-4", function, s.Fault, "%s means %s; write a time span as hh:mm:ss, with days as d.hh:mm:ss", s.Fault.Found, s.Reading)
	}
}

// incompleteOverride is L-14: overrides merge with host.json value by value, so
// one of them alone makes a policy that lacks the others (6.3).
func (l *linter) incompleteOverride() {
	missing := ""
	for _, f := range l.app.Faults {
		if document.HasPrefixFold(f.Path, "retry.") && strings.Contains(f.Reason, "is required") {
			missing = cmp.Or(missing, f.Path[len("retry."):])
		}
	}
	if missing == "" {
		return
	}
	for _, o := range l.app.overrides {
		if document.HasPrefixFold(o.path, "retry.") {
			f := &schemas.Fault{File: o.file, Line: o.line, Column: o.column, Path: o.path}
			l.onFault("L-14", "", f, "%s sets one value of the app's policy and leaves the others to host.json, where %s is missing", o.setting, missing)
		}
	}
}

// spellings finds L-4 and L-9 in a function's own file.
func (l *linter) spellings(f *Function) {
	l.oddSpans(f.Name, f.spans)
	for _, near := range f.nearMisses {
		l.onFault("L-9", f.Name, near, "%s", near.Reason)
	}
}

// policy finds what can be wrong with the policy that a function runs under.
func (l *linter) policy(f *Function, load load) {
	p := f.Policy
	if p == nil {
		return
	}
	if w := f.RetrySupportWarning(); w != nil {
		l.onPolicy("L-1", f, "", "%s", w.Reason)
	}
	if p.MaxRetryCount == retrycontext.Forever {
		l.onPolicy("L-3", f, "maxRetryCount", "-1 retries for ever: %s, and the trigger's own limit never applies because the delivery never ends",
			cmp.Or(f.Kind.Endless, "a message that always fails is never given up"))
	}
	l.advice(f, p)
	l.layers(f, load)
	if outputs := written(f); len(outputs) > 0 {
		l.onPolicy("L-15", f, "", "a retry runs the handler again although %s may have been written already: a failed second output repeats the first, so handlers should be idempotent", strings.Join(outputs, ", "))
	}
}

// advice is L-5 and L-11.
func (l *linter) advice(f *Function, p *retrycontext.Policy) {
	many := p.MaxRetryCount == retrycontext.Forever || p.MaxRetryCount > 5
	property := "delayInterval"
	if p.Strategy == retrycontext.ExponentialBackoff {
		property = "maximumInterval"
	}
	last := p.MaxRetryCount
	if last == retrycontext.Forever {
		last = math.MaxInt32
	}
	_, interval := p.Bounds(last) // the waits grow
	switch {
	case many && interval > time.Minute:
		l.onPolicy("L-5", f, "", "more than 5 retries, and waits of up to %s: the advice for the Consumption plan is at most 5 and 1 minute", spanWords(interval))
	case many:
		l.onPolicy("L-5", f, "maxRetryCount", "more than 5 retries: the advice for the Consumption plan is at most 5")
	case interval > time.Minute:
		l.onPolicy("L-5", f, property, "waits of up to %s: the advice for the Consumption plan is at most 1 minute", spanWords(interval))
	}
	// The waits grow, so the sixth is the shortest one beyond the fifth.
	if shortest, _ := p.Bounds(6); many && shortest < time.Second {
		l.onPolicy("L-11", f, "", "more than 5 retries with less than a second between them load a service that is already in trouble")
	}
}

// layers is L-10.
func (l *linter) layers(f *Function, load load) {
	total, unbounded := load.total()
	all := load.waitTotal()
	long := all.unbounded || all.max > 24*time.Hour
	if !unbounded && total <= 100 && !long {
		return
	}
	attempts := counted(load.attempts, "attempt")
	if load.attemptsUnbounded {
		attempts = "endless attempts"
	}
	deliveries := counted(load.deliveries, "delivery")
	if load.deliveriesUnbounded {
		deliveries = "endless deliveries"
	}
	message := fmt.Sprintf("two layers retry: the policy (%s per delivery) and %s (%s)", attempts, cmp.Or(f.Kind.Redelivery, "the trigger"), deliveries)
	advice := "leave the decision to one of them"
	if load.deliveries == 1 {
		message = fmt.Sprintf("the policy makes %s of one delivery", attempts)
		advice = "retries do not cure a lasting fault"
	} else if !unbounded {
		message += fmt.Sprintf(", %d attempts in all", total)
	}
	if long {
		message += ", waiting " + inWords(all)
	}
	l.onPolicy("L-10", f, "", "%s: %s", message, advice)
}

// loops is L-16: an output that writes to what triggers the function runs it
// again, without end. Event Grid is not looked at, because a function does not
// name the topic that its events come from.
func (l *linter) loops(f *Function) {
	for _, b := range f.Bindings {
		if b == f.Trigger || f.Kind.Feeds == nil || b.Kind == nil || !b.Output() || !l.sameService(f, b) {
			continue
		}
		if key, target := f.Kind.Feeds(f.Trigger, b); key != "" {
			l.onBinding("L-16", f, b, key, "the output writes to %s, which triggers this function: every run starts another one, without end unless the handler leaves the output unset", target)
		}
	}
}

// sameService reports whether the trigger of a function and another of its bindings mean
// the same connection.
func (l *linter) sameService(f *Function, b *Binding) bool {
	value := func(name, otherwise string) string {
		name = cmp.Or(name, otherwise)
		if c, _ := l.app.Settings.Connection(name); c.Value != "" {
			return c.Value
		}
		return strings.ToLower(name)
	}
	return value(f.Trigger.Connection, f.Kind.Connection) == value(b.Connection, b.Kind.Connection)
}

// written names the outputs that store something.
func written(f *Function) []string {
	var names []string
	for _, b := range f.Bindings {
		if b.Output() && !b.Answers() {
			names = append(names, b.Name)
		}
	}
	return names
}

func inWords(w wait) string {
	if w.unbounded {
		return "for ever"
	}
	return spanWords(w.max)
}

// A LintRule is a lint as the manual tells it.
type LintRule struct {
	ID   string // L- and a number; that of a lint that is gone is never given to another
	Text string // Markdown: when it comes, and why it matters
}

// LintRules are all lints, in the order of their numbers; docs/lints.md is written from them.
func LintRules() []LintRule { return lintRules[:] }

var lintRules = [...]LintRule{
	{"L-1", "A policy on a trigger without official support. It holds today, with a warning, on the platform and here."},
	{"L-2", "`extensions.queues.visibilityTimeout` is set together with a policy. It delays the next delivery, not the retries."},
	{"L-3", "`maxRetryCount` -1: a message that always fails blocks its partition, its message or its timer for ever."},
	{"L-4", "A time span that is read otherwise than it looks: `5` is five days, `10:00` ten hours, `30:00:00` thirty days. Write `hh:mm:ss`, with days as `d.hh:mm:ss`."},
	{"L-5", "Waits above a minute, or more than 5 retries: beyond the platform's advice for the Consumption plan."},
	{"L-6", "A Service Bus `maxDeliveryCount` of 1 with a policy: one delivery, then the dead-letter queue. A host that dies in between leaves the rest of the policy undone."},
	{"L-7", "The longest loop is longer than the lock is renewed and lasts. The message is delivered a second time while the first delivery still runs."},
	{"L-8", "The longest loop is above 30 s on Event Grid, which then delivers the event again, or above 230 s on HTTP, where the platform's front end gives up the request."},
	{"L-9", "A key that differs from a known one by case or spelling."},
	{"L-10", "Layered retries: attempts × deliveries above 100, or more than 24 hours in all. The text names both layers."},
	{"L-11", "More than 5 retries with less than a second between them load a service that is already in trouble."},
	{"L-12", "A poison queue that cannot exist (the name is too long), or a function on a poison queue."},
	{"L-13", "A timer whose longest loop exceeds its period."},
	{"L-14", "A setting of the environment that leaves an incomplete policy."},
	{"L-15", "A function with outputs and a policy: when the second output fails, the first is written again. Handlers should be idempotent."},
	{"L-16", "A function whose output feeds its own trigger: it runs without end."},
	{"L-17", "A route behind a wider one that answers in its place."},
	{"L-18", "A table input with a `partitionKey` and a `filter` whose `or` stands outside of parentheses. The two are joined by `and` as they stand, so `PartitionKey eq 'x' and a or b` finds entities of other partitions."},
	{"L-19", "A table output of a function that can run twice for one message. The output inserts: once the entity is written, each further attempt fails with 409 EntityAlreadyExists, and the message is given up although its work was done. Take the keys from the message and set `\"ETag\": \"*\"` in the entity, which replaces it."},
	{"L-20", "A `take` above 1,000, which the service refuses; `take` or `filter` beside keys that name one entity."},
	{"L-21", "A table input with a `rowKey` that does not count: current extension bundles give the array of the whole partition. Write `\"filter\": \"RowKey eq '{...}'\"`. The switch `tableRowKey` has the older behaviour."},
	{"L-22", "A retry policy on a function of Durable Functions. Of an activity it repeats the call inside one delivery, and the orchestration hears of the last failure only; with retry options in the orchestrator both multiply. On an orchestrator or entity it is ignored, as on the platform."},
} // read only
