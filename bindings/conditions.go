package bindings

import "errors"

// Conditions that services of several kinds report. Callers decide with errors.Is;
// wire servers map each to the platform's code in one table.
var (
	// ErrNotFound: the queue, blob or entity does not exist.
	ErrNotFound = errors.New("not found")
	// ErrAlreadyExists: the thing to create is there already, and is not the same.
	ErrAlreadyExists = errors.New("already exists")
	// ErrMessageNotFound: the message was deleted or has expired (MessageNotFound).
	ErrMessageNotFound = errors.New("message not found")
	// ErrBeingDeleted: the queue or container is being deleted (QueueBeingDeleted, ContainerBeingDeleted).
	ErrBeingDeleted = errors.New("being deleted")
	// ErrTooLarge: a text, body or batch exceeds the limit of the service.
	ErrTooLarge = errors.New("too large")
	// ErrOutOfRange: a parameter is outside its documented range.
	ErrOutOfRange = errors.New("out of range")
	// ErrInvalidName: the name breaks the service's naming rules.
	ErrInvalidName = errors.New("invalid name")
	// ErrInvalidArgument: an argument means nothing to the service.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrConditionNotMet: a condition of the caller does not hold
	// (ConditionNotMet, SourceConditionNotMet and the conditions of AppendBlock).
	ErrConditionNotMet = errors.New("condition not met")
	// ErrUnavailable: the service failed for a reason of its own, as any 5xx
	// answer does. The same call may succeed later.
	ErrUnavailable = errors.New("service unavailable")
)

// NameError says why a name was refused, in the words of the platform's own
// client. errors.Is(err, ErrInvalidName) holds for it.
type NameError struct {
	Name string // the name as it was checked
	Text string // the platform's text
}

func (e *NameError) Error() string { return e.Text }

// Unwrap returns ErrInvalidName.
func (e *NameError) Unwrap() error { return ErrInvalidName }
