package retrycontext

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Retry announces a further attempt, before the wait for it (log event 325 of the
// platform).
type Retry struct {
	Number        int           // number of the coming retry, from 1
	MaxRetryCount int           // of the policy
	Delay         time.Duration // the wait before it
	Asked         bool          // by the handler, with RetryNow or RetryAfter
	Err           error         // the failure that it answers
}

// A Cause says why a delivery got no further attempt.
type Cause string

const (
	// CauseMaxRetryCount: the retries of the policy are used up.
	CauseMaxRetryCount Cause = "maxRetryCount"
	// CausePermanent: the handler declared the failure permanent.
	CausePermanent Cause = "permanent"
)

// Exhausted says that a delivery was given up (log event 324).
type Exhausted struct {
	Retries int   // retries done
	Err     error // the last failure
	Cause   Cause // if both hold, CausePermanent
}

// Cancelled says that a retry was scheduled but the delivery ended before it (log
// event 340).
type Cancelled struct {
	Retry  Retry // the retry that did not happen
	Reason error // from sleep, or the error of the delivery's context
}

// Hooks observe a loop. Each may be nil. They are called on the goroutine of
// [Do], in order, between attempts.
//
// A delivery has a retry outstanding from its first Scheduled until Do returns.
type Hooks struct {
	Scheduled func(Retry)     // before each wait
	Exhausted func(Exhausted) // at most once, before Do returns the last failure
	Cancelled func(Cancelled) // at most once, before Do returns the last failure
}

// Options are further arguments of [Do]. The zero value works.
type Options struct {
	// Jitter returns uniform numbers from [0, 1). It is asked only for delays that
	// have jitter. Default: the random numbers of the process, which are safe but
	// not repeatable.
	Jitter func() float64

	// Exception converts a failure for the Context of the next attempt. It is
	// asked once per retry. Default: NewException.
	Exception func(error) *Exception

	Hooks
}

// Do runs one delivery under policy p and returns the number of attempts made and
// the result: nil, or the failure of the last attempt exactly as attempt returned
// it. It is the whole retry loop of the platform (TryExecuteAsync in the WebJobs
// SDK's FunctionExecutorExtensions).
//
// Without a policy (nil) there is one attempt, its Context is nil, and nothing
// else happens: declared outcomes change nothing and no hook is called. With a
// policy, which must be valid, a failed attempt is answered so:
//
//   - declared [Permanent]: Exhausted, return;
//   - no retry left: Exhausted, return;
//   - otherwise the delay is computed, Scheduled is called, sleep waits, and the
//     next attempt runs.
//
// A failure is an error that attempt returns. Recovery of panics, time-outs and the
// writing of outputs belong into attempt, so that their failures are retried too.
//
// ctx is the token of the delivery. When it is done by the end of the wait, or
// was done before, the loop ends with Cancelled and the last failure, even if
// the delay is 0. It ends so too when sleep returns an error. A success always
// counts, also when ctx is done, and so does having no retry left. Cancelling
// ctx interrupts no attempt by itself; attempt gets ctx and has to heed it.
//
// sleep must wait for d, or return an error as soon as ctx is done. It is not
// called when ctx is done already. opts may be nil. Concurrent calls share
// nothing but what the caller's functions share.
func Do(ctx context.Context, p *Policy, sleep func(ctx context.Context, d time.Duration) error,
	attempt func(ctx context.Context, rc *Context) error, opts *Options) (attempts int, err error) {
	if p == nil {
		return 1, attempt(ctx, nil)
	}
	o := opts.orDefault()
	series := NewSeries(p, o.Jitter)
	rc := &Context{MaxRetryCount: p.MaxRetryCount}
	for retries := 0; ; {
		err = attempt(ctx, rc)
		if err == nil {
			return retries + 1, nil
		}

		declared, asked := DeclaredOutcome(err)
		permanent := declared.Kind == KindPermanent
		if permanent || p.MaxRetryCount != Forever && retries >= p.MaxRetryCount {
			if o.Exhausted != nil {
				cause := CauseMaxRetryCount
				if permanent {
					cause = CausePermanent
				}
				o.Exhausted(Exhausted{Retries: retries, Err: err, Cause: cause})
			}
			return retries + 1, err
		}

		retry := Retry{Number: retries + 1, MaxRetryCount: p.MaxRetryCount, Err: err}
		switch declared.Kind {
		case KindRetryNow:
			retry.Asked = asked
		case KindRetryAfter:
			retry.Delay, retry.Asked = declared.Delay, asked
		default: // only these advance the series
			retry.Delay = series.Next()
		}
		if o.Scheduled != nil {
			o.Scheduled(retry)
		}
		if reason := wait(ctx, sleep, retry.Delay); reason != nil {
			if o.Cancelled != nil {
				o.Cancelled(Cancelled{Retry: retry, Reason: reason})
			}
			return retries + 1, err
		}

		retries++
		// A new value each time: the last attempt may still be reading the old one.
		rc = &Context{RetryCount: retries, MaxRetryCount: p.MaxRetryCount, Exception: o.Exception(err)}
	}
}

// wait sleeps for d and returns why the delivery must not go on, or nil. A token
// that is set at the very end of the wait counts as set.
func wait(ctx context.Context, sleep func(context.Context, time.Duration) error, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := sleep(ctx, d); err != nil {
		return err
	}
	return ctx.Err()
}

func (o *Options) orDefault() Options {
	var filled Options
	if o != nil {
		filled = *o
	}
	if filled.Jitter == nil {
		filled.Jitter = rand.Float64
	}
	if filled.Exception == nil {
		filled.Exception = NewException
	}
	return filled
}
