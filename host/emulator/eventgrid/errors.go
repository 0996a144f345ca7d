package eventgrid

import (
	"fmt"
	"net/http"
)

// Error is a refusal, in the form in which the service answers: a door writes it
// as {"error":{"code","message"}}.
type Error struct {
	Status  int    // of HTTP
	Code    string // e.g. "BadRequest"
	Message string
}

func (e *Error) Error() string { return e.Message }

func badRequest(format string, args ...any) error {
	return &Error{http.StatusBadRequest, "BadRequest", fmt.Sprintf(format, args...)}
}

func tooLarge(format string, args ...any) error {
	return &Error{http.StatusRequestEntityTooLarge, "PayloadTooLarge", fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &Error{http.StatusNotFound, "ResourceNotFound", fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) error {
	return &Error{http.StatusConflict, "ResourceAlreadyExists", fmt.Sprintf(format, args...)}
}
