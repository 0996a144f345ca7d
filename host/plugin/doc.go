// Package plugin is the host's side of a handler process: it starts the program
// that package functions made, calls its functions and passes on what they say. The
// life of the process is the business of package process.
//
// Read [Start], [Spec] and [Handlers.Invoke] first. The protocol stands in
// functions/functionpb/handler.proto, the conversation of one call in invoke.go, the
// one stream that carries all calls in calling.go.
//
// Left out: finding and building the program (package host), retries, timeouts
// and the journal (package host, through the callbacks of Spec), and programs in
// other languages (host/worker, host/customhandler).
package plugin
