package retrycontext

import (
	"fmt"
	"time"
)

// A DeclaredKind is the consequence that a handler declares for its failure.
type DeclaredKind uint8

const (
	// KindPermanent: another attempt cannot help.
	KindPermanent DeclaredKind = iota + 1
	// KindRetryNow: try again without a wait.
	KindRetryNow
	// KindRetryAfter: try again after a wait that the handler names.
	KindRetryAfter
)

// String returns "permanent", "retryNow" or "retryAfter".
func (k DeclaredKind) String() string {
	switch k {
	case KindPermanent:
		return "permanent"
	case KindRetryNow:
		return "retryNow"
	case KindRetryAfter:
		return "retryAfter"
	}
	return fmt.Sprintf("DeclaredKind(%d)", uint8(k))
}

// Declared is an outcome that a handler declared with [Permanent], [RetryNow] or
// [RetryAfter]. Delay is set for KindRetryAfter only.
type Declared struct {
	Kind  DeclaredKind
	Delay time.Duration
}

// declaration marks an error. Its text is the text of the error.
type declaration struct {
	Declared
	err error
}

func (d *declaration) Error() string { return d.err.Error() }
func (d *declaration) Unwrap() error { return d.err }

// Permanent declares that no further attempt in this delivery can cure err: bad
// credentials, a business rule. The retry loop ends and the trigger applies its
// rule for a failed delivery; the service may still deliver the message again.
//
// All declarations keep the text of err and stay recognisable when wrapped or
// joined; a nil err gives nil; without a policy they change nothing.
func Permanent(err error) error { return declare(err, Declared{Kind: KindPermanent}) }

// RetryNow declares that err is a rare glitch: the next attempt follows without a
// wait. It counts against the maximum retry count like any other retry, and the
// delays of the policy go on later as if it had not been.
func RetryNow(err error) error { return declare(err, Declared{Kind: KindRetryNow}) }

// RetryAfter declares that the cause of err is busy for a known time: the next
// wait is exactly d, without jitter. It counts as [RetryNow] does. A d outside 0
// to [MaxDelay] is moved to the nearest end.
func RetryAfter(err error, d time.Duration) error {
	return declare(err, Declared{Kind: KindRetryAfter, Delay: min(max(d, 0), MaxDelay)})
}

func declare(err error, d Declared) error {
	if err == nil {
		return nil
	}
	return &declaration{Declared: d, err: err}
}

// DeclaredOutcome returns the outcome that err carries. It looks through
// wrapping as errors.As does. Where one declaration wraps another the innermost
// wins: it was made closest to the fault. Of several joined errors
// the first that carries a declaration counts.
func DeclaredOutcome(err error) (Declared, bool) {
	var innermost *declaration
	for range walkDepth {
		var d *declaration
		if !Walk(err, func(err error) (found bool) { d, found = err.(*declaration); return found }) {
			break
		}
		innermost, err = d, d.err
	}
	if innermost == nil {
		return Declared{}, false
	}
	return innermost.Declared, true
}
