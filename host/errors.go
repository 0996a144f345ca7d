package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/internal/exception"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/schemas"
)

// ErrNotRunning is returned by calls that need a running generation.
var ErrNotRunning = errors.New("function host is not running")

// ErrUnknownFunction is returned for a name that the app does not have.
var ErrUnknownFunction = errors.New("no such function")

// LoadError says why an app does not start, or why an edit was refused. Faults
// holds the faults in files; Err is a failure elsewhere, such as a handler that
// does not build.
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

// Hint is the next step after an error of a load: for a fault in a file, or a
// handler that does not start. It is often empty.
func Hint(err error) string {
	if f, ok := errors.AsType[*schemas.Fault](err); ok {
		return f.Hint
	}
	if s, ok := errors.AsType[*process.StartError](err); ok {
		return s.Hint
	}
	return ""
}

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
// exception in the retry context (spec host-and-retry 3.2). A handler's own failure
// is a *functions.Error and names its function itself.
type invocationError struct {
	function string
	err      error
}

func (e *invocationError) Error() string { return fmt.Sprintf("function %q: %v", e.function, e.err) }
func (e *invocationError) Unwrap() error { return e.err }

// exceptionOf is a failure as the next attempt's retry context shows it: the
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
		const before = "exception while executing function "
		message := before + functionPrefix + handler.Function + ": " + handler.Message
		return &retrycontext.Exception{
			Type: handler.Type, StackTrace: handler.Stack, Message: message,
			Source: message[len(before):][:len(functionPrefix)+len(handler.Function)], // shares its text
		}
	}
	const kind = "FunctionInvocationException" // handlers are in any language: no types of Go
	x := &retrycontext.Exception{Type: kind, Message: kind + ": " + err.Error()}
	if inv, ok := errors.AsType[*invocationError](err); ok {
		x.Source = functionID(inv.function)
	}
	return x
}

// failure is the latest failure of a handler in one delivery, with its texts: attempt
// after attempt fails in the same way, as a rule.
type failure struct {
	invocation string
	told       call.Error
	err        error
	text       string
	exception  *retrycontext.Exception // nil: not asked for yet
}

// of returns what a handler told as the error of the attempt.
func (l *failure) of(function, invocation string, told *call.Error) error {
	if l.err == nil || l.told != *told || l.invocation != invocation {
		*l = failure{invocation: invocation, told: *told, err: functions.NewError(function, invocation, told)}
		if l.text = told.Text; l.text == "" {
			l.text = l.err.Error()
		}
	}
	return l.err
}

// textOf is err's text.
func (l *failure) textOf(err error) string {
	if err == l.err {
		return l.text
	}
	return err.Error()
}

// exceptionOf is err as the next attempt's retry context shows it.
func (l *failure) exceptionOf(err error) *retrycontext.Exception {
	if err != l.err {
		return exceptionOf(err)
	}
	if l.exception == nil {
		l.exception = exceptionOf(err)
	}
	return l.exception
}

// exceptionOf is how the next attempt's retry context shows a failure: to handlers in a
// language worker as the platform's host does.
func (d *delivery) exceptionOf(err error) *retrycontext.Exception {
	if d.f.gen.app.Handler.Kind != app.Language {
		return d.last.exceptionOf(err)
	}
	var limit time.Duration
	if timeout, ok := errors.AsType[*TimeoutError](err); ok {
		limit = timeout.Limit
	}
	return exception.Of(functionID(d.f.def.Name), err, limit)
}

// functionID is the name of a script function in the platform's exceptions
// (sdk: FunctionInvocationException).
func functionID(name string) string { return functionPrefix + name }

const functionPrefix = "Functions."

// faultOf turns an error about a function into one of its faults.
func faultOf(f *app.Function, err error) *schemas.Fault {
	file := f.File
	if file == "" {
		file = "code"
	}
	return &schemas.Fault{File: file, Reason: err.Error()}
}
