package retrycontext_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

func ExampleDo() {
	policy := &retrycontext.Policy{
		Strategy:      retrycontext.FixedDelay,
		MaxRetryCount: 4,
		DelayInterval: 10 * time.Second,
	}
	// A wait that takes no time. A host hands in the Sleep of its clock.
	sleep := func(_ context.Context, d time.Duration) error {
		fmt.Println("wait", d)
		return nil
	}
	attempts, err := retrycontext.Do(context.Background(), policy, sleep,
		func(_ context.Context, rc *retrycontext.Context) error {
			fmt.Printf("retry %d of %d\n", rc.RetryCount, rc.MaxRetryCount)
			if rc.RetryCount < 2 {
				return errors.New("stock service is down")
			}
			return nil
		}, nil)
	fmt.Println(attempts, err)
	// Output:
	// retry 0 of 4
	// wait 10s
	// retry 1 of 4
	// wait 10s
	// retry 2 of 4
	// 3 <nil>
}

func ExamplePolicy_Delay() {
	policy := &retrycontext.Policy{
		Strategy:        retrycontext.ExponentialBackoff,
		MaxRetryCount:   retrycontext.Forever,
		MinimumInterval: 10 * time.Second,
		MaximumInterval: 5 * time.Minute,
	}
	for n := 1; n <= 8; n++ {
		fmt.Println(n, policy.Delay(n, 0.5))
	}
	// Output:
	// 1 10s
	// 2 20s
	// 3 30s
	// 4 50s
	// 5 1m30s
	// 6 2m50s
	// 7 5m0s
	// 8 5m0s
}

func ExamplePolicy_TotalWait() {
	policy := &retrycontext.Policy{
		Strategy:        retrycontext.ExponentialBackoff,
		MaxRetryCount:   4,
		MinimumInterval: 10 * time.Second,
		MaximumInterval: 15 * time.Minute,
	}
	shortest, longest, _ := policy.TotalWait()
	fmt.Println(shortest, "to", longest)
	// Output: 1m36s to 2m4s
}

func ExamplePolicyConfig() {
	strategy, count, minimum := "exponentialBackoff", -4, -time.Second
	_, err := retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count, MinimumInterval: &minimum}.Policy()
	fmt.Println(err)
	// Output:
	// maximumInterval is required with strategy "exponentialBackoff"
	// maxRetryCount must be -1 (forever), 0 or more, not -4
	// minimumInterval must not be negative: -00:00:01
}

func ExamplePermanent() {
	policy := &retrycontext.Policy{Strategy: retrycontext.FixedDelay, MaxRetryCount: retrycontext.Forever}
	attempts, err := retrycontext.Do(context.Background(), policy, noWait,
		func(context.Context, *retrycontext.Context) error {
			return retrycontext.Permanent(errors.New("card is blocked"))
		},
		&retrycontext.Options{Hooks: retrycontext.Hooks{
			Exhausted: func(e retrycontext.Exhausted) { fmt.Println("given up:", e.Cause) },
		}})
	fmt.Println(attempts, err)
	// Output:
	// given up: permanent
	// 1 card is blocked
}

func ExampleIsTransient() {
	charge := func() error { return fmt.Errorf("charge: %w", context.DeadlineExceeded) }
	err := charge()
	if err != nil && !retrycontext.IsTransient(err) {
		err = retrycontext.Permanent(err)
	}
	_, declared := retrycontext.DeclaredOutcome(err)
	fmt.Println(err, declared)
	// Output: charge: context deadline exceeded false
}

func ExampleParseTimeSpan() {
	for _, text := range []string{"00:00:10", "00:10", "10", "24:00:00"} {
		d, _ := retrycontext.ParseTimeSpan(text)
		reading, surprising := retrycontext.LooksOtherwise(text)
		fmt.Printf("%s = %s %v %q\n", text, retrycontext.FormatTimeSpan(d), surprising, reading)
	}
	_, err := retrycontext.ParseTimeSpan("25:00")
	fmt.Println(err)
	// Output:
	// 00:00:10 = 00:00:10 false ""
	// 00:10 = 00:10:00 true "10 minutes"
	// 10 = 10.00:00:00 true "10 days"
	// 24:00:00 = 24.00:00:00 true "24 days"
	// "25:00" is not a time span: hours must be 0 to 23
}
