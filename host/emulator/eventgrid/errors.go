package eventgrid

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrNoContainer is wrapped by the refusal of a subscription whose container for dead
// letters does not exist.
var ErrNoContainer = errors.New("no container for dead letters")

// Error is a refusal, in the form in which the service answers: a server writes it
// as {"error":{"code","message"}}.
type Error struct {
	Status  int    // of HTTP
	Code    string // e.g. "BadRequest"
	Message string

	cause error // nil, or what errors.Is finds
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause of the refusal, such as ErrNoContainer; often nil.
func (e *Error) Unwrap() error { return e.cause }

func badRequest(format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Code: "BadRequest", Message: fmt.Sprintf(format, args...)}
}

func noContainer(format string, args ...any) error {
	return &Error{Status: http.StatusBadRequest, Code: "BadRequest", Message: fmt.Sprintf(format, args...), cause: ErrNoContainer}
}

func tooLarge(format string, args ...any) error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Code: "PayloadTooLarge", Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &Error{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) error {
	return &Error{Status: http.StatusConflict, Code: "ResourceAlreadyExists", Message: fmt.Sprintf(format, args...)}
}

// unable refuses what the state of things does not allow.
func unable(format string, args ...any) error {
	return &Error{Status: http.StatusConflict, Code: "Conflict", Message: fmt.Sprintf(format, args...)}
}
