package azure

import (
	"context"
	"errors"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// refusedError is a refusal by the service with the client's error beside it.
type refusedError struct {
	refusal *messaging.Error
	sdk     error
}

func (e *refusedError) Error() string   { return e.refusal.Error() }
func (e *refusedError) Unwrap() []error { return []error{e.refusal, e.sdk} }

// statusError is the client's error for an answer of $management; the client does
// not export the type.
type statusError interface {
	error
	RPCCode() int
}

// inTerms returns the error of a call in the terms of package bindings: the context's
// own, or what refusalOf finds that the service has said, or that the service could not
// be reached, or else err.
func inTerms(ctx context.Context, err error, refusalOf func(error) *messaging.Error) error {
	if err == nil {
		return nil
	}
	if ended := ended(ctx); ended != nil {
		return ended
	}
	if refusal := refusalOf(err); refusal != nil {
		return &refusedError{refusal, err}
	}
	return overTransport(err)
}

// ended is ctx's error, also in the moment in which its deadline has passed on the
// network and its timer has not rung yet.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// peerRefusal is the refusal of the other side, a condition or a status of
// $management; nil if there is none.
func peerRefusal(err error, conditionOf func(status int) messaging.Condition) *messaging.Error {
	if e, ok := errors.AsType[*amqp.Error](err); ok && !hasEnded(e) {
		return messaging.NewError(messaging.Condition(e.Condition), e.Description)
	}
	if e, ok := errors.AsType[statusError](err); ok {
		return messaging.NewError(conditionOf(e.RPCCode()), err.Error())
	}
	return nil
}
