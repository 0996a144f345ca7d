// Command redeliver runs an Azure Functions app on this machine: every delivery
// and every attempt visible, retries, redelivery and poison queues as on the
// platform, and a clock that can skip the waiting.
//
// "redeliver help" is the manual; testdata/*.txtar are the specification of the
// command line. main.go to console.go are the shell, start.go and its neighbours
// the host in the foreground, runfile.go and client.go how the other commands
// find it, listeners.go what is served where, with the flags (ports.go, tls.go), what an
// app needs (wanted.go) and what clients are told (accounts.go, endpoints.go), store.go
// the data, the files named bus... the commands for Service Bus, the rest one command
// per file.
//
// # Exit codes
//
//	0    success, also after Ctrl+C and after warnings
//	1    an error: the app has errors, the host cannot start (another process has
//	     the app, its data or a port; the data is damaged), a call failed, the
//	     standard output could not be written
//	3    the command line was not understood
//	130  a second Ctrl+C ended the host at once, or Ctrl+C a test, a download or a save,
//	     which leave no part of a file behind
package main

import (
	"context"
	"errors"
	"io"
	"os"
	_ "time/tzdata" // time zones of schedules, also where the system has none
)

// Exit codes; see the package comment.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 3
	exitInterrupted = 130
)

// streams are the ends of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

// execute is the whole program, without the process around it.
func execute(ctx context.Context, args []string, std streams) int {
	out := &output{Writer: newOutlet(std.out)}
	std.out, std.err = out, newOutlet(std.err)
	root := newRoot(std)
	root.SetArgs(gatherFunctions(gatherWorkerArguments(hostStart(args))))
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.failure()
	}
	if err == nil {
		return exitOK
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code) // everything has been said
	}
	newConsole(std, false).fail(err)
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailure
}

// exitCode ends the program with that code when everything has been said.
type exitCode int

func (exitCode) Error() string { return "failed" }

// usageError says that the command line was not understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// hintedError is an error with the next thing to do.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// hinted adds a hint to an error.
func hinted(err error, hint string) error { return &hintedError{err, hint} }
