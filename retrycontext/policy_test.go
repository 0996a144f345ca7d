package retrycontext_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/retrycontext"
)

func TestParseStrategy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]retrycontext.Strategy{
		"fixedDelay": retrycontext.FixedDelay, "FIXEDDELAY": retrycontext.FixedDelay, "fixeddelay": retrycontext.FixedDelay,
		"exponentialBackoff": retrycontext.ExponentialBackoff, "ExponentialBackOff": retrycontext.ExponentialBackoff,
	} {
		if got, err := retrycontext.ParseStrategy(text); got != want || err != nil {
			t.Errorf("ParseStrategy(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "1", "2", "linear", " fixedDelay", "Strategy(0)"} {
		if got, err := retrycontext.ParseStrategy(text); err == nil {
			t.Errorf("ParseStrategy(%q) = %v, want an error", text, got)
		}
	}
	for s, want := range map[retrycontext.Strategy]string{
		retrycontext.FixedDelay: "fixedDelay", retrycontext.ExponentialBackoff: "exponentialBackoff", 0: "Strategy(0)",
	} {
		if got := s.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

// properties lists the names of the faults in order.
func properties(faults []*retrycontext.PropertyError) []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.Property)
	}
	return names
}

// TestValidation is the error table of the specification: which property is
// named, and in which order.
func TestValidation(t *testing.T) {
	t.Parallel()
	type d = time.Duration
	cfg := func(strategy string, n int) retrycontext.PolicyConfig {
		return retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &n}
	}
	with := func(c retrycontext.PolicyConfig, delay, minimum, maximum *d) retrycontext.PolicyConfig {
		c.DelayInterval, c.MinimumInterval, c.MaximumInterval = delay, minimum, maximum
		return c
	}
	s := func(n d) *d { return new(n * time.Second) }
	const day = 24 * 3600
	noCount := cfg("fixedDelay", 0)
	noCount.MaxRetryCount = nil
	noStrategy := cfg("", 3)
	noStrategy.Strategy = nil
	for _, row := range []struct {
		name string
		c    retrycontext.PolicyConfig
		want []string
	}{
		{"empty", retrycontext.PolicyConfig{}, []string{"maxRetryCount", "strategy"}},
		{"strategy-missing", with(noStrategy, s(1), nil, nil), []string{"strategy"}},
		{"strategy-unknown", with(cfg("linear", 3), s(1), nil, nil), []string{"strategy"}},
		{"strategy-empty", with(cfg("", 3), s(1), nil, nil), []string{"strategy"}},
		{"strategy-numeric", with(cfg("1", 3), s(1), nil, nil), []string{"strategy"}},
		{"strategy-numeric-outside", with(cfg("7", 3), s(1), nil, nil), []string{"strategy"}},
		{"strategy-conversion-first", retrycontext.PolicyConfig{Strategy: new("linear")}, []string{"strategy", "maxRetryCount"}},
		{"count-missing", with(noCount, s(1), nil, nil), []string{"maxRetryCount"}},
		{"count-below-minus-1", with(cfg("fixedDelay", -4), s(1), nil, nil), []string{"maxRetryCount"}},
		{"count-above-32-bits", with(cfg("fixedDelay", math.MaxInt32+1), s(1), nil, nil), []string{"maxRetryCount"}},
		{"delay-missing", cfg("fixedDelay", 3), []string{"delayInterval"}},
		{"delay-negative", with(cfg("fixedDelay", 3), s(-10), nil, nil), []string{"delayInterval"}},
		{"delay-above-49-days", with(cfg("fixedDelay", 3), s(49*day+61368), nil, nil), []string{"delayInterval"}},
		{"minimum-and-maximum-missing", cfg("exponentialBackoff", 3), []string{"minimumInterval", "maximumInterval"}},
		{"minimum-missing", with(cfg("exponentialBackoff", 3), nil, nil, s(1)), []string{"minimumInterval"}},
		{"maximum-missing", with(cfg("exponentialBackoff", 3), nil, s(1), nil), []string{"maximumInterval"}},
		{"minimum-negative", with(cfg("exponentialBackoff", 3), nil, s(-1), s(1)), []string{"minimumInterval"}},
		{"maximum-negative", with(cfg("exponentialBackoff", 3), nil, s(1), s(-1)), []string{"maximumInterval"}},
		{"both-negative", with(cfg("exponentialBackoff", 3), nil, s(-1), s(-2)), []string{"minimumInterval", "maximumInterval"}},
		{"minimum-above-maximum", with(cfg("exponentialBackoff", 3), nil, s(2), s(1)), []string{"minimumInterval"}},
		{"maximum-above-49-days", with(cfg("exponentialBackoff", -1), nil, s(1), s(50*day)), []string{"maximumInterval"}},
		{"minimum-above-49-days", with(cfg("exponentialBackoff", 1), nil, s(50*day), s(60*day)), []string{"minimumInterval"}},
		{"missing-before-range", cfg("fixedDelay", -4), []string{"delayInterval", "maxRetryCount"}},
		{"count-before-intervals", with(cfg("exponentialBackoff", -4), nil, s(-1), s(-1)), []string{"maxRetryCount", "minimumInterval", "maximumInterval"}},

		{"valid-fixed", with(cfg("FixedDelay", 4), s(10), nil, nil), nil},
		{"valid-exponential", with(cfg("exponentialBackoff", -1), nil, s(10), s(900)), nil},
		{"valid-equal-intervals", with(cfg("exponentialBackoff", 4), nil, s(10), s(10)), nil},
		{"valid-zero-delay", with(cfg("fixedDelay", 0), s(0), nil, nil), nil},
		{"valid-zero-intervals", with(cfg("exponentialBackoff", 0), nil, s(0), s(0)), nil},
		{"valid-never-waits", with(cfg("fixedDelay", 0), s(60*day), nil, nil), nil},
		{"valid-maximum-not-reached", with(cfg("exponentialBackoff", 3), nil, s(1), s(10000*day)), nil},
		{"valid-49-days-17-hours", with(cfg("fixedDelay", 1), s(49*day+61367), nil, nil), nil},
		{"valid-49-days", with(cfg("fixedDelay", math.MaxInt32), s(49*day), nil, nil), nil},
		{"other-strategy-ignored", with(cfg("fixedDelay", 4), s(10), s(-5), s(-9)), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, properties(row.c.Validate())); diff != "" {
				t.Errorf("Validate() (-want +got):\n%s", diff)
			}
			p, err := row.c.Policy()
			if (err == nil) != (row.want == nil) || (p == nil) == (err == nil) {
				t.Fatalf("Policy() = %v, %v", p, err)
			}
			if err != nil {
				first, ok := errors.AsType[*retrycontext.PropertyError](err)
				if !ok || first.Property != row.want[0] {
					t.Errorf("Policy() error %q does not begin with %s", err, row.want[0])
				}
				return
			}
			if faults := p.Validate(); faults != nil {
				t.Errorf("the policy of a valid configuration has faults: %v", faults)
			}
		})
	}
}

// TestPolicyValidate checks that a policy made in code meets the same rules.
func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		p    *retrycontext.Policy
		want []string
	}{
		{"none", nil, nil},
		{"zero-value", &retrycontext.Policy{}, []string{"strategy"}},
		{"fixed", fixed(4, time.Second), nil},
		{"fixed-bad", fixed(-2, -1), []string{"maxRetryCount", "delayInterval"}},
		{"exponential", exponential(retrycontext.Forever, 1, 2), nil},
		{"exponential-bad", exponential(-2, 2*retrycontext.MaxDelay, 3*retrycontext.MaxDelay/2),
			[]string{"maxRetryCount", "minimumInterval"}},
		{"exponential-long", exponential(retrycontext.Forever, 1, retrycontext.MaxDelay+1), []string{"maximumInterval"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, properties(row.p.Validate())); diff != "" {
				t.Errorf("Validate() (-want +got):\n%s", diff)
			}
		})
	}
	got := fixed(-4, 0).Validate()[0].Error()
	if want := "maxRetryCount must be -1 (forever), 0 or more, not -4"; got != want {
		t.Errorf("fault reads %q, want %q", got, want)
	}
}

func TestMaxAttempts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		p         *retrycontext.Policy
		want      int
		unbounded bool
	}{
		{"no-policy", nil, 1, false}, {"-1", fixed(-1, 0), 0, true}, {"0", fixed(0, 0), 1, false},
		{"4", fixed(4, 0), 5, false}, {"5", fixed(5, 0), 6, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if n, unbounded := row.p.MaxAttempts(); n != row.want || unbounded != row.unbounded {
				t.Errorf("MaxAttempts() = %d, %v, want %d, %v", n, unbounded, row.want, row.unbounded)
			}
		})
	}
}

func TestDocumented(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{-1: -1, 0: 0, 1: 0, 4: 3, 5: 4} {
		p := fixed(n, time.Second)
		if got := p.Documented(); got.MaxRetryCount != want || got.DelayInterval != time.Second {
			t.Errorf("Documented() of %d = %v, want %d retries", n, got, want)
		}
		if p.MaxRetryCount != n {
			t.Errorf("Documented() changed its receiver to %d", p.MaxRetryCount)
		}
	}
	if got := (*retrycontext.Policy)(nil).Documented(); got != nil {
		t.Errorf("Documented() of no policy = %v, want nil", got)
	}
}

func TestPolicyString(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]*retrycontext.Policy{
		"none":                       nil,
		"fixedDelay, 4 x 00:00:10":   fixed(4, 10*time.Second),
		"fixedDelay, 0 x 1.00:00:00": fixed(0, 24*time.Hour),
		"exponentialBackoff, forever x 00:00:01 to 00:15:00": exponential(retrycontext.Forever, time.Second, 15*time.Minute),
	} {
		if got := p.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
