package document

import (
	"strings"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// PolicyProperties are the five names of a policy.
var PolicyProperties = [...]string{"strategy", "maxRetryCount", "delayInterval", "minimumInterval", "maximumInterval"}

// ReadPolicy reads the object at path ("retry"). conversion is the kind of a
// value that does not convert: host.json is bound by the configuration binder,
// function.json by the JSON reader, and they fail differently
// (spec host-and-retry 1.3). numbersAreText is how host.json works: its loader turns
// numbers into text first, so a bare 10 becomes 10 days.
//
// canonical is the object as the schema reads it. A nil policy without faults means that there is none, also when the strategy is a
// number that no strategy has: the platform then makes nothing of the object. The faults are ordered
// as the platform would meet them.
func (r Reader) ReadPolicy(path string, canonical any, conversion schemas.Kind, numbersAreText bool) (*retrycontext.Policy, []*schemas.Fault) {
	raw := r.Value(path)
	if raw == nil {
		return nil, nil
	}
	members, ok := raw.(map[string]any)
	if list, isList := raw.([]any); numbersAreText && len(members) == 0 && (!isList || len(list) == 0) {
		return nil, nil // a section of the platform's configuration that has no members binds to nothing
	}
	if !ok {
		f := r.Doc.Fault(path, r.Doc.Found(path), "an object with strategy, maxRetryCount and intervals", "a retry policy must be an object")
		f.Kind = conversion
		return nil, []*schemas.Fault{f}
	}
	p := policyReader{Reader: r, path: path, conversion: conversion, numbersAreText: numbersAreText, broken: map[string]bool{}}
	p.canonical, _ = canonical.(map[string]any)
	cfg := retrycontext.PolicyConfig{
		Strategy:        p.strategy(),
		MaxRetryCount:   p.count(),
		DelayInterval:   p.interval("delayInterval"),
		MinimumInterval: p.interval("minimumInterval"),
		MaximumInterval: p.interval("maximumInterval"),
	}
	schemas.Sort(p.faults)
	for _, e := range cfg.Validate() {
		if p.broken[e.Property] || p.nobody && (e.Property != "maxRetryCount" || cfg.MaxRetryCount != nil) {
			continue
		}
		sub := schemas.JoinPath(path, e.Property)
		f := policyFault(e, cfg, conversion)
		at := r.Doc.Fault(sub, r.Doc.Found(sub), f.Allowed, f.Reason)
		at.Kind = f.Kind
		p.faults = append(p.faults, at)
	}
	if len(p.faults) > 0 || p.nobody {
		return nil, p.faults
	}
	policy, err := cfg.Policy()
	if err != nil { // Validate found nothing, so this cannot be
		return nil, []*schemas.Fault{r.Doc.Fault(path, "", "", err.Error())}
	}
	return policy, nil
}

type policyReader struct {
	Reader
	path           string
	conversion     schemas.Kind
	numbersAreText bool
	canonical      map[string]any
	nobody         bool            // the strategy is a number that none has
	broken         map[string]bool // properties that have a fault already
	faults         []*schemas.Fault
}

func (p *policyReader) bad(property, reason string) {
	p.broken[property] = true
	sub := schemas.JoinPath(p.path, property)
	f := p.Doc.Fault(sub, p.Doc.Found(sub), AllowedFor(property), reason)
	f.Kind = p.conversion
	p.faults = append(p.faults, f)
}

// strategy is the name of the strategy, which may stand as the number of the platform's
// enum, also as text (spec host-and-retry 1.3).
func (p *policyReader) strategy() *string {
	written := p.Value(schemas.JoinPath(p.path, "strategy"))
	if written == nil {
		return nil
	}
	_, read, given := Member(p.canonical, "strategy")
	name, _ := read.(string)
	_, err := retrycontext.ParseStrategy(name)
	switch {
	case err == nil:
	case !given && written != "":
		p.nobody = true
	default:
		p.bad("strategy", "not a retry strategy")
	}
	return &name
}

func (p *policyReader) count() *int {
	v := p.Value(schemas.JoinPath(p.path, "maxRetryCount"))
	if v == nil || p.numbersAreText && v == "" {
		return nil
	}
	if _, read, given := Member(p.canonical, "maxRetryCount"); given { // a fraction is rounded in function.json
		v = read
	}
	n, ok := WholeNumber(v)
	if !ok {
		p.bad("maxRetryCount", "not a whole number of 32 bits")
		return nil
	}
	return &n
}

func (p *policyReader) interval(property string) *time.Duration {
	v := p.Value(schemas.JoinPath(p.path, property))
	text, isText := v.(string)
	switch {
	case v == nil || isText && text == "":
		return nil
	case !isText && !p.numbersAreText:
		p.bad(property, "a time span must be a text")
		return nil
	}
	d, err := retrycontext.ParseTimeSpan(ConfigText(v))
	if err != nil {
		reason := "not a time span"
		if e, ok := err.(*retrycontext.TimeSpanError); ok && e.Reason != "" {
			reason += ": " + e.Reason
		}
		p.bad(property, reason)
		return nil
	}
	p.Duration(schemas.JoinPath(p.path, property)) // remembers odd readings
	return &d
}

// AllowedFor says what a property of a policy may be.
func AllowedFor(property string) string {
	switch property {
	case "strategy":
		return `"fixedDelay" or "exponentialBackoff"`
	case "maxRetryCount":
		return "-1 (forever), 0 or more"
	case "minimumInterval":
		return "a time span hh:mm:ss from 0 to maximumInterval"
	case "maximumInterval":
		return "a time span hh:mm:ss from minimumInterval to 49 days"
	}
	return "a time span hh:mm:ss from 0 to 49 days"
}

// policyFault puts a fault of a policy in the terms of the platform.
func policyFault(e *retrycontext.PropertyError, cfg retrycontext.PolicyConfig, conversion schemas.Kind) *schemas.Fault {
	f := &schemas.Fault{Path: e.Property, Allowed: AllowedFor(e.Property), Reason: briefly(e.Reason)}
	var absent bool
	switch e.Property {
	case "strategy":
		absent = cfg.Strategy == nil
		f.Kind = conversion
	case "maxRetryCount":
		absent = cfg.MaxRetryCount == nil
		f.Kind = schemas.KindArgumentOutOfRange
	default:
		absent = strings.HasPrefix(e.Reason, "is required")
		f.Kind = schemas.KindArgumentOutOfRange
		switch {
		case strings.HasPrefix(e.Reason, "must not be greater"):
			f.Kind = schemas.KindArgument
		case strings.HasPrefix(e.Reason, "makes a retry wait longer"): // ours: the platform ends later, when it waits (D-12)
			f.Kind = ""
			f.Reason = "a retry can wait longer than " + retrycontext.FormatTimeSpan(retrycontext.MaxDelay) + ": " + EndsTheProcess
		}
	}
	if absent {
		f.Kind = schemas.KindArgumentNull
		f.Reason = e.Property + " is required: a policy has no defaults"
		if e.Property == "strategy" { // D-4
			f.Kind = ""
			f.Reason += "; the platform silently takes exponentialBackoff"
		}
	}
	return f
}

// briefly leaves out of a reason the values that the fault shows anyway.
func briefly(reason string) string {
	if strings.HasPrefix(reason, "must be -1") {
		return "out of range"
	}
	if i := strings.IndexAny(reason, ":("); i > 0 {
		reason = reason[:i]
	}
	return strings.TrimSpace(reason)
}

// DeclaredPolicy checks a policy that was declared in code.
func DeclaredPolicy(function string, cfg *retrycontext.PolicyConfig) (*retrycontext.Policy, []*schemas.Fault) {
	if cfg == nil {
		return nil, nil
	}
	policy, err := cfg.Policy()
	if err == nil {
		return policy, nil
	}
	var faults []*schemas.Fault
	for _, e := range cfg.Validate() {
		f := policyFault(e, *cfg, schemas.KindArgument)
		f.File, f.Path = CodeFile, schemas.JoinPath(schemas.JoinPath(function, "retry"), e.Property)
		faults = append(faults, f)
	}
	return nil, faults
}

// EndsTheProcess is what the platform does over a wait that its timers cannot keep: it
// accepts the policy.
const EndsTheProcess = "the platform accepts it, and its whole process ends at the first such wait"
