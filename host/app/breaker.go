package app

import (
	"math"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// CircuitBreaker is function.json's redeliver.circuitBreaker, an extension of
// Redeliver (spec host-and-retry 14.2).
type CircuitBreaker struct {
	Failures int           // consecutive failed deliveries that open it, at least 1
	Pause    time.Duration // how long it stays open
	Probes   int           // deliveries let through half-open, at least 1
}

// readBreaker reads the circuit breaker at path, nil when there is none.
func readBreaker(r document.Reader, path string) *CircuitBreaker {
	if !r.Has(path) {
		return nil
	}
	return &CircuitBreaker{
		Failures: r.Number(path+".failures", 1, 1, math.MaxInt32),
		Pause:    r.Span(path+".pause", time.Minute, 0, document.Longest),
		Probes:   r.Number(path+".probes", 1, 1, math.MaxInt32),
	}
}

// declaredBreaker is the circuit breaker that the code declares. Values that function.json
// could not have are faults of f.
func declaredBreaker(f *Function, d *call.Declaration) *CircuitBreaker {
	b := d.CircuitBreaker
	refuse := func(property, found, allowed string) {
		f.record(indexing, &schemas.Fault{
			File: document.CodeFile, Path: schemas.JoinPath(schemas.JoinPath(d.Name, "circuitBreaker"), property),
			Found: found, Reason: "out of range", Allowed: allowed,
		})
	}
	if b.Failures < 1 {
		refuse("failures", strconv.Itoa(b.Failures), "a whole number of 1 or more")
	}
	if b.Pause <= 0 {
		refuse("pause", strconv.Quote(retrycontext.FormatTimeSpan(b.Pause)), "a time span above 00:00:00")
	}
	if b.Probes < 1 {
		refuse("probes", strconv.Itoa(b.Probes), "a whole number of 1 or more")
	}
	return &CircuitBreaker{Failures: max(b.Failures, 1), Pause: max(b.Pause, time.Nanosecond), Probes: max(b.Probes, 1)}
}
