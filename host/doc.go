// Package host loads a function app, runs it, retries, settles and reloads it,
// and writes down every delivery and every attempt.
//
// Read [Host] first, then the way of one message in ARCHITECTURE.md: a listener
// (triggers/<kind>) receives and calls its Sink, which is a function of the
// running generation (dispatch.go); retrycontext.Do repeats the attempt; the
// attempt reads inputs, calls the handler through an [Invoker] and writes
// outputs (attempt.go); the listener settles. A generation is one loaded app
// (generation.go); reload.go swaps one for the next.
//
// Everything here runs under a clock of host/clock: with clock.Virtual, time
// moves only when no goroutine has work to do, and the same seed and input
// give the same journal, byte for byte.
//
// The package leaves out sockets and pages (host/web), the command line
// (cmd/redeliver) and the test kit (host/hosttest): they drive a Host through
// its exported methods.
package host
