package eventgrid

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Outcome is the outcome of an attempt, in the words of dead letters (docs:
// delivery-and-retry.md). The platform knows more words; an endpoint here can
// cause these.
type Outcome string

// The outcomes.
const (
	Delivered        Outcome = "Delivered" // our own word: it stands in the journal only
	NotFound         Outcome = "NotFound"
	Unauthorized     Outcome = "Unauthorized"
	Forbidden        Outcome = "Forbidden"
	BadRequest       Outcome = "BadRequest"
	PayloadTooLarge  Outcome = "PayloadTooLarge"
	TimedOut         Outcome = "TimedOut"
	Busy             Outcome = "Busy"
	SocketError      Outcome = "SocketError"
	ResolutionError  Outcome = "ResolutionError"
	Probation        Outcome = "Probation" // its endpoint is spared
	InvalidFunction  Outcome = "InvalidAzureFunctionDestination"
	unknownRejection Outcome = "Aborted" // an answer that no other word fits
)

// Reason is why an event was given up.
type Reason string

// The reasons.
const (
	MaxDeliveryAttemptsExceeded    Reason = "MaxDeliveryAttemptsExceeded"
	TimeToLiveExceeded             Reason = "TimeToLiveExceeded"
	UndeliverableDueToClientError  Reason = "UndeliverableDueToClientError"
	deadLetterContainerUnavailable Reason = "DeadLetterContainerUnavailable" // in the journal only
	subscriptionDeleted            Reason = "SubscriptionDeleted"            // likewise
	subscriptionNotValidated       Reason = "SubscriptionNotValidated"       // likewise
	subscriptionNotCreated         Reason = "SubscriptionNotCreated"         // likewise
)

// result is the result of an attempt. Status is 0 without an answer.
type result struct {
	status  int
	outcome Outcome
}

// ErrInvalidFunction is the error of an endpoint that is a function without an Event
// Grid trigger: outcome InvalidAzureFunctionDestination.
var ErrInvalidFunction = errors.New("the function has no Event Grid trigger") // read only

// resultOf reads an answer, or the error of a request without one.
func resultOf(resp *Response, err error) result {
	if err != nil {
		return result{0, outcomeOfError(err)}
	}
	return result{resp.Status, outcomeOf(resp.Status)}
}

// outcomeOf is the word for a status. Only 200 to 204 are success.
func outcomeOf(status int) Outcome {
	switch {
	case status >= 200 && status <= 204:
		return Delivered
	case status == http.StatusBadRequest:
		return BadRequest
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusForbidden:
		return Forbidden
	case status == http.StatusNotFound:
		return NotFound
	case status == http.StatusRequestTimeout:
		return TimedOut
	case status == http.StatusRequestEntityTooLarge:
		return PayloadTooLarge
	case status == http.StatusTooManyRequests, status >= 500:
		return Busy
	}
	return unknownRejection
}

func outcomeOfError(err error) Outcome {
	if errors.Is(err, context.DeadlineExceeded) {
		return TimedOut
	}
	if errors.Is(err, ErrInvalidFunction) {
		return InvalidFunction
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return ResolutionError
	}
	return SocketError
}

// probation is how long an endpoint is spared after ten failures in a row of which
// the last had this outcome; zero for outcomes that say nothing of the endpoint.
func (o Outcome) probation() time.Duration {
	switch o {
	case Busy, TimedOut:
		return 10 * time.Second
	case SocketError:
		return 30 * time.Second
	case NotFound, Unauthorized, Forbidden, ResolutionError:
		return 5 * time.Minute
	case InvalidFunction:
		return 10 * time.Minute
	}
	return 0
}
