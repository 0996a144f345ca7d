package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// ErrNotRunning is returned by calls that need a running generation.
var ErrNotRunning = errors.New("function host is not running")

// ErrUnknownFunction is returned for a name that the app does not have.
var ErrUnknownFunction = errors.New("no such function")

// LoadError says why an app does not start, or why an edit was refused. Faults
// holds what is wrong in files; Err what is wrong elsewhere, e.g. a handler
// that does not build.
type LoadError struct {
	Faults []*schemas.Fault
	Err    error
}

func (e *LoadError) Error() string {
	switch {
	case len(e.Faults) == 1:
		return e.Faults[0].Error()
	case len(e.Faults) > 1:
		return fmt.Sprintf("%v (and %d more)", e.Faults[0], len(e.Faults)-1)
	default:
		return e.Err.Error()
	}
}

func (e *LoadError) Unwrap() error { return e.Err }

// TimeoutError is the failure of an attempt that outlived the functionTimeout
// (sdk: FunctionExecutor.cs OnFunctionTimeout).
type TimeoutError struct {
	Function string
	Limit    time.Duration // the functionTimeout
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("timeout value of %s was exceeded by function %q", retrycontext.FormatTimeSpan(e.Limit), e.Function)
}

// Timeout is true: errors of this type are time-outs in the sense of package
// net.
func (e *TimeoutError) Timeout() bool { return true }

// invocationError wraps a failure outside the handler's own code with the
// function that it concerns, as the platform's SDK does before it stores the
// exception in the retry context (host-and-retry 3.2). A handler's own failure
// is a *functions.Error and names its function itself.
type invocationError struct {
	function string
	err      error
}

func (e *invocationError) Error() string { return fmt.Sprintf("function %q: %v", e.function, e.err) }
func (e *invocationError) Unwrap() error { return e.err }

// exceptionOf is what the next attempt's retry context shows of a failure: the
// message contains the type names and messages of the whole chain, so handlers
// test with "contains" (host: ScriptInvocationContextExtensions.cs
// SetRetryContext). Time-outs are stored unwrapped.
func exceptionOf(err error) *retrycontext.Exception {
	if timeout, ok := errors.AsType[*TimeoutError](err); ok {
		return &retrycontext.Exception{
			Type: "FunctionTimeoutException", Source: functionID(timeout.Function),
			Message: "FunctionTimeoutException: " + timeout.Error(),
		}
	}
	if handler, ok := errors.AsType[*functions.Error](err); ok {
		id := functionID(handler.Function)
		return &retrycontext.Exception{
			Type: handler.Type, Source: id, StackTrace: handler.Stack,
			Message: "exception while executing function " + id + ": " + handler.Message,
		}
	}
	x := retrycontext.NewException(err)
	if inv, ok := errors.AsType[*invocationError](err); ok {
		x.Source = functionID(inv.function)
	}
	return x
}

// functionID is the name of a script function in the platform's exceptions
// (sdk: FunctionInvocationException).
func functionID(name string) string { return "Functions." + name }

// faultOf turns an error about a function into one of its faults.
func faultOf(f *app.Function, err error) *schemas.Fault {
	file := f.File
	if file == "" {
		file = "code"
	}
	return &schemas.Fault{File: file, Reason: err.Error()}
}
