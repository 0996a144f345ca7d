// Package plugin is the host's side of a handler process: it starts the program
// that package functions made, calls its functions, watches it, starts it again
// when it dies, and stops it.
//
// Read [Start], [Spec] and [Handlers.Invoke] first. The protocol stands in
// functions/functionpb/handler.proto, the conversation of one call in invoke.go, the
// one stream that carries all calls in calling.go, the life of the process in
// handlers.go.
//
// A handler process belongs to the real world and the code that calls it to the
// host's clock. The border is narrow: everything that waits for the process is
// one [clock.Clock.Outside] call, a crash is dealt with by the first call that
// comes back from it, and only a process that dies with no call in flight enters
// by itself. So the order of records does not depend on how fast a process is.
//
// Left out: finding and building the program (package host), retries, timeouts
// and the journal (package host, through the callbacks of Spec), and processes in
// other languages (host/worker, host/customhandler).
package plugin
