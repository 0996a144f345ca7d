// Package faults makes operations of the embedded services fail as a scenario, a test or
// an operator asks: before or after their effect, late, for a number of operations or for
// a time. A [Crash] says where a host is killed; it leaves out how (host.Options.KillAt), and
// outputs that are recorded only (host/recorded).
//
// Read [Fault], then [List].
package faults
