package process

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// Spec says what to start, and whom to tell.
//
// OnStart, OnExit and StopHost are called with the clock's baton, one at a time,
// in the order in which things happened; they must not wait for the process.
type Spec struct {
	// Path is the program, Args its arguments without the program's name.
	Path string
	Args []string
	// Name is how texts call the program: "handler", "worker". Empty is handler.
	Name string
	// Dir is the working directory; empty is the host's.
	Dir string
	// Env is the environment of the process, "NAME=value". Nil is the host's own.
	// In both cases variables that make libraries believe they run in Azure are
	// left out (spec workers 3.2).
	Env []string
	// WatchesHost is set for a program that ends itself, and what it has started, when
	// its host dies. Any other is killed then, with what it has started: by the system
	// on Windows, elsewhere by a shell that waits for the end of the host.
	WatchesHost bool

	// Output receives what the process writes to its standard outputs. It is
	// called by goroutines that the clock does not know, one at a time, also
	// after an exit, and not after Close returned. It should return soon:
	// the process waits meanwhile. Nil discards the lines.
	Output func(Line)
	// OnStart is told of each process that became ready, the first one included.
	OnStart func(Process)
	// OnExit is told of each process that ended and was ready before, and of
	// each failed try to start another one.
	OnExit func(Exit)
	// StopHost is called once when the crash budget is used up; no process is
	// started afterwards. Nil keeps the host up: processes are then started with
	// growing pauses (host-and-retry D-13, workerCrash).
	StopHost func(error)

	// Once says that no process comes in the place of one that has ended, however it has:
	// further calls fail, and StopHost is called.
	Once bool

	// Life is a context of the real world: when it ends a start that is under way fails
	// with its error, and a process is killed. Nil never ends.
	Life context.Context

	// Count is how many processes run at once; zero is 1. The calls go to one after the
	// other.
	Count int
	// StartInterval is the time between the starts of two of them, in the clock's time.
	StartInterval time.Duration
	// RestartInterval is the least time between the starts of two processes in the place
	// of others that ended, in the clock's time.
	RestartInterval time.Duration

	// StartTimeout is the real time within which the process must be ready; zero
	// is 10 s.
	StartTimeout time.Duration
	// Grace is the real time that a handler has to return after its context
	// ended, before the whole process is disposed of; zero is 2 s, as in the
	// platform (host: WebScriptHostExceptionHandler.cs).
	Grace time.Duration
	// StopGrace is the real time in which a process may end by itself when it is
	// told to, before it is killed; zero is 5 s.
	StopGrace time.Duration
}

// Process identifies one run of the program.
type Process struct {
	// Number counts the runs, from 1.
	Number int
	// PID is the system's number. It differs from run to run; keep it out of
	// texts that are compared.
	PID int
}

// Exit says how a process ended.
type Exit struct {
	// Process is the zero value when the process never became ready.
	Process Process
	// Code is the exit status; -1 after a signal, or when there was no process.
	Code int
	// Status is the same in words: "exit status 3", "signal: killed".
	Status string
	// Planned is set when the host ended the process (Reason says why), or the
	// process asked for a new one with exit status 200. Quiet is set when it ended by
	// itself with exit status 0 or, on Linux, by SIGTERM (host: WorkerProcess.cs
	// HandleWorkerProcessExit). All others count as crashes.
	Planned, Quiet bool
	Reason         string
	// Output holds the last three lines of its standard error that say error; none
	// when the start failed, since Err has the last lines then.
	Output []string
	// Restart is the pause before the next start, in the clock's time; negative
	// when there is none.
	Restart time.Duration
	// Err is the *[StartError] of a start that failed.
	Err error
}

// Line is one line of a process's standard output or standard error, without
// the line break.
type Line struct {
	// Stderr says which of the two it is.
	Stderr bool
	// Level is Information for standard output. A line of standard error is a
	// warning or an error when it says so (host: WorkerProcess.cs).
	Level call.Level
	Text  string
	// Cut is set when the line was longer than 1 MiB and its rest is missing.
	Cut bool
}

// WithDefaults returns s with each zero limit replaced by its default.
func (s Spec) WithDefaults() Spec {
	s.StartTimeout = or(s.StartTimeout, 10*time.Second)
	s.Grace = or(s.Grace, 2*time.Second)
	s.StopGrace = or(s.StopGrace, 5*time.Second)
	s.Count = max(s.Count, 1)
	if s.Name == "" {
		s.Name = "handler"
	}
	return s
}

func or(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}
