// Package worker is the host's side of a language worker: it starts a program that runs
// functions written in another language, speaks the platform's protocol with it (spec
// workers 2 to 9), and calls functions through it.
//
// Read [Start], [Spec] and [Worker.Invoke] first. Package workerpb holds the
// messages. They travel by one of two transports ([Transport]): gRPC, which the
// platform's own workers speak, and lines of JSON, for the workers that the program
// brings along (package shim). conn.go is the connection with one process,
// values.go and http.go convert what functions get and give; forward.go brings requests
// to a worker that serves HTTP itself. The life of the
// process is the business of package process.
//
// A worker that somebody else has started, a test for instance that runs its own functions,
// connects with a [Port], where a host finds it at its [Seat] (attach.go, guest.go): the same
// messages, without a process. Its handlers may take real time as they like; the clock waits.
//
// The capabilities of a worker decide what is sent to it, never its language (spec
// workers 5).
//
// Left out: finding the worker of an app and building the app (package launch), retries,
// timeouts and the journal. Shared memory is never offered, and the environment of a
// worker is never reloaded: the process is replaced instead (spec workers 4.5).
package worker
