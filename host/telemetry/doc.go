// Package telemetry tells other tools what the journal says: series for Prometheus, and
// traces, metrics and logs for a collector of OpenTelemetry.
//
// All of it is read from the journal by goroutines outside the clock, so that no message
// waits for it: who reads too slowly misses records, is told how many, and counts them.
//
// [Metrics] are the series, [Start] exports. Package trace below has the identities of
// spans, which the host needs too.
package telemetry
