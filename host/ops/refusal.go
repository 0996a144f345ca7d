package ops

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/redrive"
)

// Refuse is a refusal, with the status of its answer.
func Refuse(status int, text, hint string) *Error {
	return &Error{Status: status, Text: text, Hint: hint}
}

// BadRequest refuses a request for what it says.
func BadRequest(err error) *Error { return Refuse(http.StatusBadRequest, err.Error(), "") }

// Unread refuses a request whose body could not be read.
func Unread(err error) *Error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return Refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("too large: a request has at most %d bytes, blobs and saved states excepted", tooLarge.Limit), "")
	}
	return BadRequest(fmt.Errorf("the request was not complete: %w", err))
}

// Refusal is what a caller is told of an error of an operation of the service, which may be
// nil.
func (s *Service) Refusal(err error) *Error {
	var refused *Error
	var body *listen.BodyError
	var stays *redrive.Refusal
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &stays):
		return redriveRefusal(stays)
	case errors.As(err, &body):
		return Unread(err)
	case s == nil || s.Refuse == nil:
		return hostRefusal(err)
	case errors.Is(err, store.ErrDiskFull):
		return Refuse(http.StatusInsufficientStorage, "no space is left on the disk that has the data of the host", "make room there; nothing has changed")
	}
	return s.Refuse(err)
}

// Told is an error of the service as a caller is told of it.
func (s *Service) Told(err error) error {
	if err == nil {
		return nil
	}
	return s.Refusal(err)
}

func redriveRefusal(r *redrive.Refusal) *Error {
	if r.Message {
		return Refuse(http.StatusConflict, r.Text, r.Hint)
	}
	return Refuse(http.StatusBadRequest, r.Text, r.Hint)
}

// hostRefusal says what the host had to say.
func hostRefusal(err error) *Error {
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		return Refuse(http.StatusNotFound, err.Error(), `"redeliver ls functions" lists the functions`)
	case errors.Is(err, recorded.ErrUnknown):
		return Refuse(http.StatusNotFound, err.Error(), `"redeliver ls outputs" lists the recorded outputs; an output is named FUNCTION or FUNCTION/BINDING`)
	case errors.Is(err, host.ErrNotRunning):
		return Refuse(http.StatusServiceUnavailable, err.Error(), "")
	}
	return BadRequest(err)
}

// MessagingRefusal tells the condition of a service over AMQP; missing is the hint for
// a caller who asks for what is not there.
func MessagingRefusal(missing string) func(err error) *Error {
	return func(err error) *Error {
		e := messaging.ErrorOf(err)
		out := Refuse(e.Status, e.Text, "")
		if out.Text == "" {
			out.Text = err.Error()
		}
		switch {
		case errors.Is(err, bindings.ErrTooLarge):
			out.Status = http.StatusRequestEntityTooLarge
		case errors.Is(err, bindings.ErrNotFound):
			out.Hint = missing
		case errors.Is(err, bindings.ErrMessageNotFound):
			out.Hint = `"redeliver peek servicebus ENTITY" shows the sequence numbers`
		case errors.Is(err, messaging.ErrSessionLockLost):
			out.Text, out.Status = "the session is not locked", http.StatusConflict
		}
		return out
	}
}

// Gone refuses an operation on a message that is not there.
func Gone(entity, id string) error {
	return Refuse(http.StatusNotFound, fmt.Sprintf("%s has no message %q: it is gone, or was never there", entity, id), "")
}

// GoneFrom is the error of an operation on a message, of which there may be none.
func GoneFrom(m MessageMoved, err error) error {
	if errors.Is(err, bindings.ErrMessageNotFound) {
		return Gone(m.Entity, m.ID)
	}
	return err
}

// Spent refuses to run a message again that is nowhere any more.
func Spent(entity, id string) error {
	return Refuse(http.StatusConflict, fmt.Sprintf("message %q of %s cannot be sent again: its body went with it", id, entity), "a message that is done is deleted; send it anew")
}
