package functions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// Permanent declares that no further attempt in this delivery can cure err: bad
// credentials, a business rule. The delivery fails at once, by its trigger's
// rule. A nil err stays nil. See [retrycontext.Permanent].
func Permanent(err error) error { return retrycontext.Permanent(err) }

// RetryNow declares that err is a rare glitch: the next attempt follows without
// a wait, and counts. A nil err stays nil. See [retrycontext.RetryNow].
func RetryNow(err error) error { return retrycontext.RetryNow(err) }

// RetryAfter declares that the cause of err is busy for a known time: the next
// wait is exactly d, and the attempt counts. A nil err stays nil. See
// [retrycontext.RetryAfter].
func RetryAfter(err error, d time.Duration) error { return retrycontext.RetryAfter(err, d) }

// IsTransient reports whether err looks like a network fault that passes with
// time: a time-out, a connection closed or refused, a request cancelled. See
// [retrycontext.IsTransient].
func IsTransient(err error) bool { return retrycontext.IsTransient(err) }

// Decision is a settlement that a handler can ask for, in the journal's
// spelling.
type Decision string

// The decisions.
const (
	Poisoned     Decision = "poisoned"      // storage queue, blob: to the poison queue
	DeadLettered Decision = "dead_lettered" // Service Bus: to the dead-letter queue
	Completed    Decision = "completed"     // Service Bus: done
	Abandoned    Decision = "abandoned"     // Service Bus: delivered again
	Deferred     Decision = "deferred"      // Service Bus: set aside until asked for by number
)

// Settlement is an end of the delivery other than the trigger's own rule. As an
// error it is a failure that asks for it: make one with [Poison] or [DeadLetter],
// find it with errors.As. Without a failure it is given to [Settle]. A trigger that
// does not know the decision applies its own rule.
type Settlement struct {
	Decision            Decision
	Reason, Description string
	// Err is the failure itself; nil for Settle.
	Err error
}

// Error returns the text of the failure. Without a failure the text says so.
func (s *Settlement) Error() string {
	switch {
	case s == nil:
		return "nil *functions.Settlement: a handler that succeeded returns a plain nil"
	case s.Err == nil:
		return "settlement " + string(s.Decision) + " without a failure: give it to functions.Settle"
	}
	return s.Err.Error()
}

// Unwrap returns the failure, nil if there is none.
func (s *Settlement) Unwrap() error {
	if s == nil {
		return nil
	}
	return s.Err
}

// Poison fails the delivery with err and asks for the message to be moved to
// the poison queue at once, at any dequeue count. Like [Permanent] it allows
// no further attempt, unless err itself declares otherwise. A nil err stays
// nil.
func Poison(err error) error {
	if err == nil {
		return nil
	}
	return &Settlement{Decision: Poisoned, Err: retrycontext.Permanent(err)}
}

// DeadLetter fails the delivery with err and asks for the message to be
// dead-lettered with this reason and description. Otherwise it is like
// [Poison].
func DeadLetter(reason, description string, err error) error {
	if err == nil {
		return nil
	}
	return &Settlement{Decision: DeadLettered, Reason: reason, Description: description, Err: retrycontext.Permanent(err)}
}

// Settle asks for an end of the delivery other than the trigger's own rule,
// with any result of the handler: a Service Bus message can be completed
// where autoCompleteMessages is off, deferred, abandoned or dead-lettered
// without a failure. The last call of an attempt counts, unless the handler
// fails with [Poison] or [DeadLetter]; another attempt starts afresh. It
// fails in any other context than a handler's, and after the handler has
// returned.
func Settle(ctx context.Context, s Settlement) error {
	c := current(ctx)
	if c == nil {
		return fmt.Errorf("settle (%s): the context is not a handler's", s.Decision)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return fmt.Errorf("settle (%s): %w", s.Decision, errOver)
	}
	c.answer.Asked = call.Settlement{Decision: string(s.Decision), Reason: s.Reason, Description: s.Description}
	return nil
}

// Fail makes the attempt of ctx fail with err once its handler returns. It is
// for HTTP handlers, which return no error: their response is then discarded,
// and the retry policy applies. The first call counts; a nil err does
// nothing.
func Fail(ctx context.Context, err error) {
	c := current(ctx)
	if c == nil || err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil {
		c.failure = err
	}
}

// Error is a handler's failure as the host knows it: the Go error itself may
// have stayed in another process. Find it with errors.As in what the host and
// its test kit return.
type Error struct {
	Function, InvocationID string
	Type                   string // of the Go error, "panic" for a panic without one
	Message                string // holds the whole chain of causes
	Stack                  string // of a panic
	Panic                  bool
}

// NewError returns the failure e of an attempt as an error: an *[Error] that
// carries the outcome which the handler declared (see
// [retrycontext.DeclaredOutcome]). The host calls it; nil gives nil.
func NewError(function, invocationID string, e *call.Error) error {
	if e == nil {
		return nil
	}
	var err error = &Error{
		Function: function, InvocationID: invocationID,
		Type: e.Type, Message: e.Message, Stack: e.Stack, Panic: e.Panic,
	}
	switch e.Declared.Kind {
	case retrycontext.KindPermanent:
		return retrycontext.Permanent(err)
	case retrycontext.KindRetryNow:
		return retrycontext.RetryNow(err)
	case retrycontext.KindRetryAfter:
		return retrycontext.RetryAfter(err, e.Declared.Delay)
	}
	return err
}

// Error names the function, a panic as such, and the message.
func (e *Error) Error() string {
	what := ": "
	if e.Panic {
		what = " panicked: "
	}
	var room [64]byte // so that the name takes no allocation of its own
	return "function " + string(strconv.AppendQuote(room[:0], e.Function)) + what + e.Message
}

// panicError is a recovered panic.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprint("panic: ", p.value) }

func (p *panicError) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// failure describes err for the way to the host. The methods of err are the
// handler's code, and may be faulty too: they are called through package
// retrycontext only, which expects that.
func failure(err error) (e call.Error, asked call.Settlement) {
	retrycontext.Walk(err, func(err error) bool {
		s, ok := err.(*Settlement)
		if ok = ok && s != nil; ok {
			asked = call.Settlement{Decision: string(s.Decision), Reason: s.Reason, Description: s.Description}
		}
		return ok
	})
	shown := err
	if s, ok := err.(*Settlement); ok && s != nil && s.Err != nil { // the wrapper says nothing of the fault
		shown = s.Err
	}
	if p, ok := shown.(*panicError); ok {
		e = call.Error{Type: "panic", Message: fmt.Sprint(p.value), Stack: string(p.stack), Panic: true}
		if cause := retrycontext.NewException(p.Unwrap()); cause != nil {
			e.Type, e.Message = cause.Type, cause.Message
		}
		e.Declared, _ = retrycontext.DeclaredOutcome(p.Unwrap())
		return e, asked
	}
	x := retrycontext.NewException(shown)
	e = call.Error{Type: x.Type, Message: x.Message}
	e.Declared, _ = retrycontext.DeclaredOutcome(err)
	return e, asked
}
