package worker

import (
	"encoding/json"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// Transport says how the messages travel.
type Transport int

// The transports.
const (
	// GRPC is the stream EventStream in clear HTTP/2, the platform's own.
	GRPC Transport = iota
	// Lines is one message in proto-JSON a line (package shim).
	Lines
)

// Spec says what to start, and whom to tell.
type Spec struct {
	// Spec names the interpreter, or the program itself, with the arguments that
	// stand before the connection's: the worker's file and what belongs to it.
	// Its StartTimeout, 60 s when zero, is from the start of the process to its
	// first message.
	process.Spec

	Transport Transport
	// Language is the worker's language in small letters, "node".
	Language string
	// Directory is the folder of the worker, App the folder of the function app.
	Directory, App string
	// Indexing says that the worker is asked for the functions that the app declares in
	// code.
	Indexing bool
	// Metadata is the path of the file functions.metadata, "" for none. Without Indexing
	// it declares the app's functions (spec workers-dotnet-java 1.4).
	Metadata string
	// ManagedDependencies has a worker for PowerShell install the modules that the app
	// requires (spec workers-dotnet-java 3).
	ManagedDependencies bool
	// HostVersion is told to the worker.
	HostVersion string
	// InitTimeout limits in real time how long the worker may take for its answers to
	// the start: capabilities, functions, loads. Zero is 2 minutes, since user code runs
	// meanwhile.
	InitTimeout time.Duration

	// Pool, if not nil, lends the first process, and keeps it running after Close. Content
	// stands for what decides of the functions and is not in the rest of Spec: a process
	// serves hosts with the same one only.
	Pool    *Pool
	Content string

	// Seat, if not nil, is where the worker is that somebody else has started: no process is,
	// and the start waits for its connection. See [Port].
	Seat *Seat

	// Sleepers, if not nil, are the handlers that wait for the host's time.
	Sleepers *Sleepers

	// CancelGrace is the Grace of a worker that can cancel its calls, in real time; zero
	// is 5 s (spec workers-dotnet-java 1.9).
	CancelGrace time.Duration

	// IdleLimit is how long, in real time, a worker that serves HTTP itself may take for
	// the next part of an answer; zero is 240 s, the platform's.
	IdleLimit time.Duration
	// MeetLimit is how long, in real time, such a worker may go on with a call whose
	// request has not come through; zero is 20 s, the sum of the limits of a .NET worker.
	MeetLimit time.Duration

	// Log receives what belongs to no invocation: warnings and errors of the worker
	// itself, lines of user code that name none. It is called as Output is. Nil discards
	// the lines.
	Log func(call.Log)
	// Notice receives those of them that the worker says of itself. Nil leaves them to Log.
	Notice func(call.Log)
}

// A Function is one function of the app, as a worker loads it.
type Function struct {
	Name string
	// Directory is the function's folder, ScriptFile its script, both absolute; empty
	// for a function that the worker itself has declared.
	Directory, ScriptFile string
	EntryPoint            string
	Bindings              []Binding
}

// Binding is one binding of a function.
type Binding struct {
	Name, Type string
	Direction  workerpb.BindingInfo_Direction
	DataType   workerpb.BindingInfo_DataType
	Raw        json.RawMessage
}
