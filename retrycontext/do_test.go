package retrycontext_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/retrycontext"
)

var errBoom = errors.New("boom")

// A loop runs Do with everything recorded as lines, in order. Its waits take no
// time.
type loop struct {
	ctx     context.Context
	cancel  context.CancelFunc
	log     []string
	seen    []*retrycontext.Context
	sleep   func(context.Context, time.Duration) error // nil: ends at once
	jitter  func() float64
	failing func(attempt int) error
}

func newLoop(failing func(attempt int) error) *loop {
	ctx, cancel := context.WithCancel(context.Background())
	return &loop{ctx: ctx, cancel: cancel, failing: failing, jitter: func() float64 { return 0.5 }}
}

func (l *loop) logf(format string, args ...any) { l.log = append(l.log, fmt.Sprintf(format, args...)) }

func (l *loop) run(p *retrycontext.Policy) (attempts int, err error) {
	defer l.cancel()
	opts := &retrycontext.Options{
		Jitter: l.jitter,
		Hooks: retrycontext.Hooks{
			Scheduled: func(r retrycontext.Retry) {
				l.logf("325 retry %d of %d after %v: %v", r.Number, r.MaxRetryCount, r.Delay, r.Err)
			},
			Exhausted: func(e retrycontext.Exhausted) { l.logf("324 after %d, %s: %v", e.Retries, e.Cause, e.Err) },
			Cancelled: func(c retrycontext.Cancelled) {
				l.logf("340 before %d: %v (%v)", c.Retry.Number, c.Retry.Err, c.Reason)
			},
		},
	}
	sleep := func(ctx context.Context, d time.Duration) error {
		l.logf("sleep %v", d)
		if l.sleep != nil {
			return l.sleep(ctx, d)
		}
		return nil
	}
	return retrycontext.Do(l.ctx, p, sleep, func(_ context.Context, rc *retrycontext.Context) error {
		l.seen = append(l.seen, rc)
		err := l.failing(len(l.seen))
		l.logf("attempt %d: %v", len(l.seen), err)
		return err
	}, opts)
}

func always(int) error { return errBoom }

// until fails before attempt n and succeeds then.
func until(n int) func(int) error {
	return func(attempt int) error {
		if attempt < n {
			return fmt.Errorf("failure %d", attempt)
		}
		return nil
	}
}

func (l *loop) want(t *testing.T, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, l.log); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestMaxRetryCount(t *testing.T) {
	t.Parallel()
	t.Run("no-policy", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		if n, err := l.run(nil); n != 1 || err != errBoom {
			t.Errorf("Do = %d, %v, want 1, boom", n, err)
		}
		l.want(t, "attempt 1: boom")
	})
	t.Run("-1", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(1000))
		if n, err := l.run(fixed(retrycontext.Forever, time.Hour)); n != 1000 || err != nil {
			t.Errorf("Do = %d, %v, want 1000 and success", n, err)
		}
		for _, line := range l.log {
			if line[:3] == "324" {
				t.Errorf("gave up: %s", line)
			}
		}
	})
	t.Run("0", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		if n, err := l.run(fixed(0, time.Hour)); n != 1 || err != errBoom {
			t.Errorf("Do = %d, %v, want 1, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "324 after 0, maxRetryCount: boom")
		if rc := l.seen[0]; rc == nil || rc.RetryCount != 0 || rc.MaxRetryCount != 0 || !rc.LastAttempt() {
			t.Errorf("context is %+v, want 0 of 0, the last", rc)
		}
	})
	for _, n := range []int{1, 4, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			if got, err := newLoop(always).run(fixed(n, 0)); got != n+1 || err != errBoom {
				t.Errorf("Do = %d, %v, want %d, boom", got, err, n+1)
			}
		})
	}
	t.Run("documented-5", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		if got, _ := l.run(fixed(5, 0).Documented()); got != 5 {
			t.Errorf("Do = %d attempts, want 5", got)
		}
		if last := l.seen[4]; last.MaxRetryCount != 4 || !last.LastAttempt() {
			t.Errorf("last context is %+v, want 4 of 4", last)
		}
	})
}

// TestLoop is the normative algorithm, one line for each thing that it does.
func TestLoop(t *testing.T) {
	t.Parallel()
	t.Run("two-retries-exhausted", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		l.run(fixed(2, 5*time.Second))
		l.want(t,
			"attempt 1: boom", "325 retry 1 of 2 after 5s: boom", "sleep 5s",
			"attempt 2: boom", "325 retry 2 of 2 after 5s: boom", "sleep 5s",
			"attempt 3: boom", "324 after 2, maxRetryCount: boom")
	})
	t.Run("success-first", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(1))
		if n, err := l.run(fixed(2, 5*time.Second)); n != 1 || err != nil {
			t.Errorf("Do = %d, %v, want 1 and success", n, err)
		}
		l.want(t, "attempt 1: <nil>")
	})
	t.Run("success-after-retries", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(3))
		if n, err := l.run(fixed(4, time.Second)); n != 3 || err != nil {
			t.Errorf("Do = %d, %v, want 3 and success", n, err)
		}
		l.want(t,
			"attempt 1: failure 1", "325 retry 1 of 4 after 1s: failure 1", "sleep 1s",
			"attempt 2: failure 2", "325 retry 2 of 4 after 1s: failure 2", "sleep 1s",
			"attempt 3: <nil>")
	})
	t.Run("result-is-the-last-failure", func(t *testing.T) {
		t.Parallel()
		_, err := newLoop(until(9)).run(fixed(3, 0))
		if err == nil || err.Error() != "failure 4" {
			t.Errorf("Do returned %v, want failure 4", err)
		}
	})
	t.Run("exponential-delays", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		l.run(exponential(4, 10*time.Second, 40*time.Second))
		l.want(t,
			"attempt 1: boom", "325 retry 1 of 4 after 10s: boom", "sleep 10s",
			"attempt 2: boom", "325 retry 2 of 4 after 20s: boom", "sleep 20s",
			"attempt 3: boom", "325 retry 3 of 4 after 30s: boom", "sleep 30s",
			"attempt 4: boom", "325 retry 4 of 4 after 40s: boom", "sleep 40s",
			"attempt 5: boom", "324 after 4, maxRetryCount: boom")
	})
	t.Run("timeout-is-retried", func(t *testing.T) {
		t.Parallel()
		l := newLoop(func(int) error { return context.DeadlineExceeded })
		if n, err := l.run(fixed(1, 0)); n != 2 || err != context.DeadlineExceeded {
			t.Errorf("Do = %d, %v, want 2 attempts", n, err)
		}
	})
	t.Run("nil-options", func(t *testing.T) {
		t.Parallel()
		n, err := retrycontext.Do(t.Context(), exponential(3, 1, 2), noWait,
			func(context.Context, *retrycontext.Context) error { return errBoom }, nil)
		if n != 4 || err != errBoom {
			t.Errorf("Do = %d, %v, want 4, boom", n, err)
		}
	})
	t.Run("invalid-count-runs-once", func(t *testing.T) {
		t.Parallel()
		if n, _ := newLoop(always).run(fixed(-4, 0)); n != 1 {
			t.Errorf("Do = %d attempts, want 1", n)
		}
	})
}

func noWait(context.Context, time.Duration) error { return nil }

func TestCancellation(t *testing.T) {
	t.Parallel()
	t.Run("while-sleeping", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(9))
		l.sleep = func(ctx context.Context, _ time.Duration) error { l.cancel(); return ctx.Err() }
		if n, err := l.run(fixed(4, time.Hour)); n != 1 || err.Error() != "failure 1" {
			t.Errorf("Do = %d, %v, want 1, failure 1", n, err)
		}
		l.want(t, "attempt 1: failure 1", "325 retry 1 of 4 after 1h0m0s: failure 1", "sleep 1h0m0s",
			"340 before 1: failure 1 (context canceled)")
	})
	t.Run("at-the-end-of-the-sleep", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(9))
		l.sleep = func(context.Context, time.Duration) error { l.cancel(); return nil }
		if n, err := l.run(fixed(4, 0)); n != 1 || err.Error() != "failure 1" {
			t.Errorf("Do = %d, %v, want 1, failure 1", n, err)
		}
	})
	t.Run("sleep-error", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		l.sleep = func(context.Context, time.Duration) error { return errors.New("clock stopped") }
		if n, err := l.run(fixed(4, time.Second)); n != 1 || err != errBoom {
			t.Errorf("Do = %d, %v, want 1, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "325 retry 1 of 4 after 1s: boom", "sleep 1s", "340 before 1: boom (clock stopped)")
	})
	t.Run("attempt-succeeds", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error { l.cancel(); return nil }
		if n, err := l.run(fixed(4, time.Second)); n != 1 || err != nil {
			t.Errorf("Do = %d, %v, want 1 and success", n, err)
		}
		l.want(t, "attempt 1: <nil>")
	})
	t.Run("attempt-fails-retries-left", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error { l.cancel(); return errBoom }
		if n, err := l.run(fixed(4, time.Second)); n != 1 || err != errBoom {
			t.Errorf("Do = %d, %v, want 1, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "325 retry 1 of 4 after 1s: boom", "340 before 1: boom (context canceled)")
	})
	t.Run("attempt-fails-delay-0", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(n int) error {
			if n == 2 {
				l.cancel()
			}
			return errBoom
		}
		if n, err := l.run(fixed(retrycontext.Forever, 0)); n != 2 || err != errBoom {
			t.Errorf("Do = %d, %v, want 2, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "325 retry 1 of -1 after 0s: boom", "sleep 0s",
			"attempt 2: boom", "325 retry 2 of -1 after 0s: boom", "340 before 2: boom (context canceled)")
	})
	t.Run("attempt-fails-no-retries-left", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error { l.cancel(); return errBoom }
		if n, err := l.run(fixed(0, time.Second)); n != 1 || err != errBoom {
			t.Errorf("Do = %d, %v, want 1, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "324 after 0, maxRetryCount: boom")
	})
	t.Run("before-the-first-attempt", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error { return l.ctx.Err() }
		l.cancel()
		if n, err := l.run(fixed(4, time.Second)); n != 1 || err != context.Canceled {
			t.Errorf("Do = %d, %v, want 1, context canceled", n, err)
		}
		l.want(t, "attempt 1: context canceled", "325 retry 1 of 4 after 1s: context canceled",
			"340 before 1: context canceled (context canceled)")
	})
}

func TestRetryContext(t *testing.T) {
	t.Parallel()
	t.Run("absent-without-policy", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		l.run(nil)
		if l.seen[0] != nil {
			t.Errorf("context is %+v, want none", l.seen[0])
		}
	})
	t.Run("values", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(9))
		l.run(fixed(2, 0))
		exception := func(n int) *retrycontext.Exception {
			return retrycontext.NewException(until(9)(n))
		}
		// Read after the loop: every attempt still has its own values.
		want := []*retrycontext.Context{
			{RetryCount: 0, MaxRetryCount: 2},
			{RetryCount: 1, MaxRetryCount: 2, Exception: exception(1)},
			{RetryCount: 2, MaxRetryCount: 2, Exception: exception(2)},
		}
		if diff := cmp.Diff(want, l.seen); diff != "" {
			t.Errorf("contexts (-want +got):\n%s", diff)
		}
	})
	t.Run("own-copy-per-attempt", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error {
			l.seen[len(l.seen)-1].RetryCount = 99 // a handler that spoils its copy
			return errBoom
		}
		if n, _ := l.run(fixed(3, 0)); n != 4 {
			t.Errorf("Do = %d attempts, want 4", n)
		}
		for i, rc := range l.seen {
			for _, other := range l.seen[i+1:] {
				if rc == other {
					t.Error("two attempts share a context")
				}
			}
		}
	})
	t.Run("last-attempt", func(t *testing.T) {
		t.Parallel()
		l := newLoop(always)
		l.run(fixed(2, 0))
		for i, rc := range l.seen {
			if got := rc.LastAttempt(); got != (i == 2) {
				t.Errorf("attempt %d: LastAttempt() = %v", i+1, got)
			}
		}
	})
	t.Run("last-attempt-forever", func(t *testing.T) {
		t.Parallel()
		l := newLoop(until(50))
		l.run(fixed(retrycontext.Forever, 0))
		for i, rc := range l.seen {
			if rc.LastAttempt() || rc.MaxRetryCount != -1 {
				t.Errorf("attempt %d: %+v", i+1, rc)
			}
		}
	})
	t.Run("last-attempt-without-policy", func(t *testing.T) {
		t.Parallel()
		if (*retrycontext.Context)(nil).LastAttempt() {
			t.Error("LastAttempt() of no context is true")
		}
	})
	t.Run("custom-exception", func(t *testing.T) {
		t.Parallel()
		var got *retrycontext.Exception
		_, _ = retrycontext.Do(t.Context(), fixed(1, 0), noWait, func(_ context.Context, rc *retrycontext.Context) error {
			got = rc.Exception
			return errBoom
		}, &retrycontext.Options{Exception: func(err error) *retrycontext.Exception {
			return &retrycontext.Exception{Source: "test", Message: err.Error()}
		}})
		if diff := cmp.Diff(&retrycontext.Exception{Source: "test", Message: "boom"}, got); diff != "" {
			t.Errorf("exception (-want +got):\n%s", diff)
		}
	})
	t.Run("deliveries-are-independent", func(t *testing.T) {
		t.Parallel()
		p := exponential(2, time.Second, time.Hour)
		for range 2 {
			l := newLoop(always)
			l.run(p)
			l.want(t, "attempt 1: boom", "325 retry 1 of 2 after 1s: boom", "sleep 1s",
				"attempt 2: boom", "325 retry 2 of 2 after 2s: boom", "sleep 2s",
				"attempt 3: boom", "324 after 2, maxRetryCount: boom")
		}
	})
}

func TestDeclaredOutcomeInLoop(t *testing.T) {
	t.Parallel()
	t.Run("permanent", func(t *testing.T) {
		t.Parallel()
		l := newLoop(func(n int) error {
			if n == 2 {
				return fmt.Errorf("login: %w", retrycontext.Permanent(errBoom))
			}
			return errBoom
		})
		n, err := l.run(fixed(retrycontext.Forever, time.Second))
		if n != 2 || !errors.Is(err, errBoom) {
			t.Errorf("Do = %d, %v, want 2, boom", n, err)
		}
		l.want(t, "attempt 1: boom", "325 retry 1 of -1 after 1s: boom", "sleep 1s",
			"attempt 2: login: boom", "324 after 1, permanent: login: boom")
	})
	t.Run("permanent-without-retries-left", func(t *testing.T) {
		t.Parallel()
		l := newLoop(func(int) error { return retrycontext.Permanent(errBoom) })
		l.run(fixed(0, 0))
		l.want(t, "attempt 1: boom", "324 after 0, permanent: boom")
	})
	t.Run("retry-now", func(t *testing.T) {
		t.Parallel()
		l := newLoop(func(n int) error {
			if n == 2 {
				return retrycontext.RetryNow(errBoom)
			}
			return errBoom
		})
		l.run(exponential(3, 10*time.Second, time.Hour))
		l.want(t, // counts against the maximum; the series goes on with its second delay
			"attempt 1: boom", "325 retry 1 of 3 after 10s: boom", "sleep 10s",
			"attempt 2: boom", "325 retry 2 of 3 after 0s: boom", "sleep 0s",
			"attempt 3: boom", "325 retry 3 of 3 after 20s: boom", "sleep 20s",
			"attempt 4: boom", "324 after 3, maxRetryCount: boom")
	})
	t.Run("retry-after", func(t *testing.T) {
		t.Parallel()
		l := newLoop(func(n int) error {
			if n == 1 {
				return retrycontext.RetryAfter(errBoom, 7*time.Minute)
			}
			return errBoom
		})
		l.run(exponential(2, 10*time.Second, time.Minute))
		l.want(t, // exactly seven minutes, beyond the maximum interval
			"attempt 1: boom", "325 retry 1 of 2 after 7m0s: boom", "sleep 7m0s",
			"attempt 2: boom", "325 retry 2 of 2 after 10s: boom", "sleep 10s",
			"attempt 3: boom", "324 after 2, maxRetryCount: boom")
	})
	t.Run("without-policy", func(t *testing.T) {
		t.Parallel()
		for name, declare := range map[string]func(error) error{
			"permanent": retrycontext.Permanent, "retry-now": retrycontext.RetryNow,
			"retry-after": func(err error) error { return retrycontext.RetryAfter(err, time.Hour) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLoop(func(int) error { return declare(errBoom) })
				if n, err := l.run(nil); n != 1 || !errors.Is(err, errBoom) {
					t.Errorf("Do = %d, %v, want 1, boom", n, err)
				}
				l.want(t, "attempt 1: boom")
			})
		}
	})
	t.Run("retry-now-cancelled", func(t *testing.T) {
		t.Parallel()
		l := newLoop(nil)
		l.failing = func(int) error { l.cancel(); return retrycontext.RetryNow(errBoom) }
		l.run(fixed(3, time.Second))
		l.want(t, "attempt 1: boom", "325 retry 1 of 3 after 0s: boom", "340 before 1: boom (context canceled)")
	})
}
