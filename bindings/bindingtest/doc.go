// Package bindingtest holds the conformance suites for the services in package
// bindings: one Run function per service. A backend that passes needs no other
// test of the service's rules.
//
// A suite is given a function that opens a fresh, empty account, and a Features
// value that says what this backend guarantees beyond the contract; it adapts
// instead of skipping by hand. Tests that need time to pass move it through the
// backend's Advance and are left out where there is none: no suite waits.
//
// Read [RunQueue] first. The package imports testing and belongs in tests only.
package bindingtest
