package retrycontext

import (
	"reflect"
	"strings"
)

// A Context tells an attempt about its delivery. With a policy every attempt has
// one, the first included; without a policy it is nil. Each attempt has its own,
// and it never changes: a goroutine that outlives its attempt never sees the values
// of the next one.
type Context struct {
	// RetryCount is 0 in the original attempt and k-1 in attempt k.
	RetryCount int
	// MaxRetryCount is the value of the policy, Forever included.
	MaxRetryCount int
	// Exception is the failure of the attempt just before. It is nil in the
	// original attempt.
	Exception *Exception
}

// LastAttempt reports whether a failure of this attempt ends the delivery. It is
// false for ever under [Forever]. It is also false for a nil Context: without a
// policy there is no retry to give up, though the attempt is the only one. (In
// Python both counts then read 0, so that comparing them there claims exhaustion
// where no policy exists.)
func (c *Context) LastAttempt() bool {
	return c != nil && c.RetryCount == c.MaxRetryCount
}

// An Exception is a failure as the next attempt sees it, with the fields of the
// worker protocol's RpcException.
type Exception struct {
	// Type is the type of the failure. The real host leaves it empty on the wire.
	Type string
	// Message contains the types and the messages of the whole chain of causes.
	// Its layout is not promised: ask whether it contains a text, never whether
	// it equals one.
	Message string
	// Source and StackTrace are empty where the failure does not know them.
	Source     string
	StackTrace string
}

// NewException is the conversion that [Do] uses when [Options] names no other:
// the Go type of err, and a message "type: text" for err and each error that it
// wraps, outermost first. Declared outcomes (see [Permanent]) leave no trace in
// it. A nil err gives nil.
func NewException(err error) *Exception {
	if err == nil {
		return nil
	}
	e := describe(err)
	return &e
}

func describe(err error) (e Exception) {
	var b strings.Builder
	Walk(err, func(err error) bool {
		if _, ok := err.(*declaration); ok {
			return false
		}
		name := reflect.TypeOf(err).String()
		if e.Type == "" {
			e.Type = name
		} else {
			b.WriteString(" ---> ")
		}
		text := textOf(err)
		b.Grow(len(name) + len(": ") + len(text))
		b.WriteString(name)
		b.WriteString(": ")
		b.WriteString(text)
		return false
	})
	e.Message = b.String()
	return e
}
