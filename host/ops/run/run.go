// Package run has the operations on a run of a host as a whole: its state, its clock, what
// its services hold together, its functions with what they send, its journal, and the faults
// that it is given.
package run

import (
	"errors"

	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
)

// OutputService: outputs are known by their names, like what a service keeps.
var OutputService = &ops.Service{Path: "outputs", Names: outputNames} // read only

// HandlerService: handlers run the functions, and can be lost.
var HandlerService = &ops.Service{Scene: ops.Scene{Entity: "handler", Kind: "function"}, Faults: faults.Service{ // read only
	Name: faults.Handler, Others: []string{"Invoke"},
	Failure: errors.New("the process of the handler has ended"),
}}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{
		ops.Of(GetStatus{}), ops.Of(GetInventory{}), ops.Of(ListOutputs{}), ops.Of(PeekOutputs{}), ops.Of(FailOutputs{}),
		ops.Of(Invoke{}), ops.Of(ListLives{}), ops.Of(Explain{}), ops.Of(GetApp{}), ops.Of(GetDue{}),
		ops.Of(GetClock{}), ops.Of(AdvanceClock{}), ops.Of(NextDeadline{}), ops.Of(SetClock{}),
		ops.Of(SaveState{}), ops.Of(LoadState{}), ops.Of(ResetState{}), ops.Of(Reload{}), ops.Of(Describe{}),
		ops.Of(Identify{}), ops.Of(ListFaults{}), ops.Of(AddFault{}), ops.Of(ClearFaults{}), ops.Of(CrashAt{}), ops.Of(Stop{}),
	}
}

// outputNames are the names of the recorded outputs.
func outputNames(e *ops.Env) (names []string) {
	for _, o := range outputInfos(e) {
		names = append(names, o.Function, o.Function+"/"+o.Binding)
	}
	return names
}

// Offered reports whether the host has a secret to prove.
func (Identify) Offered(e *ops.Env) bool { return e.Secret != "" }

// Offered reports whether the host can be ended.
func (Stop) Offered(e *ops.Env) bool { return e.End != nil }

// Offered reports whether the host can be given faults.
func (ListFaults) Offered(e *ops.Env) bool { return e.Faults != nil }

// Offered reports whether the host can be given faults.
func (AddFault) Offered(e *ops.Env) bool { return e.Faults != nil }

// Offered reports whether the host can be given faults.
func (ClearFaults) Offered(e *ops.Env) bool { return e.Faults != nil }

// Offered reports whether the host can be killed.
func (CrashAt) Offered(e *ops.Env) bool { return e.Crash != nil }
