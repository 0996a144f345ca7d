package process

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is returned by calls that come after [Keeper.Close].
var ErrClosed = errors.New("handler is closed")

// ErrNoResult is wrapped by the error of a call that the handler ended in breach
// of the protocol: without a result, with one that makes no sense. The process
// lives on.
var ErrNoResult = errors.New("no valid result")

// ExitError is the failure of an attempt whose process ended.
type ExitError struct {
	// Exit says how.
	Exit Exit
	// Name is how texts call the program, as in [Spec].
	Name string
}

// Error names the exit status, or why the host ended the process.
func (e *ExitError) Error() string {
	if e.Exit.Reason != "" {
		return e.Name + " process was stopped: " + e.Exit.Reason
	}
	return e.Name + " process exited: " + e.Exit.Status
}

// StartError says why a process did not become ready.
type StartError struct {
	// Name is how texts call the program, as in [Spec].
	Name string
	// Path is the program.
	Path string
	// Reason is one sentence, without the path.
	Reason string
	// Hint says what to do next; often empty.
	Hint string
	// Output holds the last lines that the process wrote to its standard error.
	Output []string
	// Err is the error of the operating system or of the connection, if any.
	Err error
}

// Error is the reason, and below it what the process wrote.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "start %s %q: %s", e.Name, e.Path, e.Reason)
	for _, line := range e.Output {
		b.WriteString("\n\t" + line)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }
