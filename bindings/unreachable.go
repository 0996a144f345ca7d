package bindings

// ErrUnreachable: the service could not be reached, or was lost in the middle of a
// call: refused, reset, timed out, not resolved, a link or a connection that the
// other side has ended. Callers that wait for the service go on waiting.
// ErrUnavailable holds too. Only clients of services outside this host report it.
var ErrUnreachable error = unreachable{}

type unreachable struct{}

func (unreachable) Error() string { return "service not reached" }

func (unreachable) Is(target error) bool { return target == ErrUnavailable }

// UnreachableError is an ErrUnreachable with the fault of the transport.
type UnreachableError struct{ Err error }

// Error is the fault's own text.
func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap returns the fault.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Is reports whether target is a condition of this package that the fault is.
func (e *UnreachableError) Is(target error) bool {
	return target == ErrUnreachable || target == ErrUnavailable
}
