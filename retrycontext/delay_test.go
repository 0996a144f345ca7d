package retrycontext_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
)

func TestDelayGolden(t *testing.T) {
	t.Parallel()
	for _, row := range golden(t, "testdata/delays.golden.tsv", 7) {
		strategy, err := retrycontext.ParseStrategy(row[0])
		if err != nil {
			t.Fatal(err)
		}
		p := &retrycontext.Policy{Strategy: strategy}
		if strategy == retrycontext.FixedDelay {
			p.DelayInterval = span(t, row[1])
		} else {
			p.MinimumInterval, p.MaximumInterval = span(t, row[2]), span(t, row[3])
		}
		n, err := strconv.Atoi(row[4])
		if err != nil {
			t.Fatal(err)
		}
		u, err := strconv.ParseFloat(row[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Delay(n, u)
		// The table is cut to ticks of 100 ns, a Duration is not.
		if want := span(t, row[6]); got < want || got >= want+100 {
			t.Errorf("%v: Delay(%d, %v) = %v, want %v", p, n, u, got, want)
		}
	}
}

// TestDelayTable is the table of the formula: in multiples of the minimum, the
// ends and the middle of the range before the cap.
func TestDelayTable(t *testing.T) {
	t.Parallel()
	const m = 10 * time.Second
	p := exponential(10, m, 24*time.Hour)
	for _, row := range []struct {
		n              int
		low, mean, end float64
	}{
		{1, 1, 1, 1},
		{2, 1.8, 2, 2.2},
		{3, 2.6, 3, 3.4},
		{4, 4.2, 5, 5.8},
		{5, 7.4, 9, 10.6},
		{6, 13.8, 17, 20.2},
		{7, 26.6, 33, 39.4},
	} {
		t.Run(fmt.Sprint("n=", row.n), func(t *testing.T) {
			t.Parallel()
			times := func(f float64) time.Duration { return time.Duration(math.Round(f * float64(m))) }
			if got := p.Delay(row.n, 0); got != times(row.low) {
				t.Errorf("Delay(%d, 0) = %v, want %v", row.n, got, times(row.low))
			}
			if got := p.Delay(row.n, 0.5); got != times(row.mean) {
				t.Errorf("Delay(%d, 0.5) = %v, want %v", row.n, got, times(row.mean))
			}
			last := p.Delay(row.n, math.Nextafter(1, 0))
			if end := times(row.end); row.n > 1 && (last >= end || last < end-2*time.Microsecond) {
				t.Errorf("Delay(%d, just below 1) = %v, want just below %v", row.n, last, end)
			}
			low, high := p.Bounds(row.n)
			if low != times(row.low) || high != times(row.end) {
				t.Errorf("Bounds(%d) = %v, %v, want %v, %v", row.n, low, high, times(row.low), times(row.end))
			}
		})
	}
}

func TestDelayRule(t *testing.T) {
	t.Parallel()
	t.Run("last-fixed-delay-is-full", func(t *testing.T) {
		t.Parallel()
		if got := fixed(4, 5*time.Second).Delay(4, 0.3); got != 5*time.Second {
			t.Errorf("Delay(4) of 4 = %v, want 5s", got)
		}
	})
	t.Run("minimum-equals-maximum", func(t *testing.T) {
		t.Parallel()
		p := exponential(retrycontext.Forever, 5*time.Second, 5*time.Second)
		for n := 1; n < 100; n++ {
			if got := p.Delay(n, 0.9); got != 5*time.Second {
				t.Fatalf("Delay(%d) = %v, want 5s", n, got)
			}
		}
	})
	t.Run("minimum-zero", func(t *testing.T) {
		t.Parallel()
		s := retrycontext.NewSeries(exponential(retrycontext.Forever, 0, time.Hour), func() float64 { return 0.9 })
		for n := 1; n < 3000; n++ { // the SDK breaks at about 1025
			if got := s.Next(); got != 0 {
				t.Fatalf("delay %d = %v, want 0", n, got)
			}
		}
	})
	t.Run("sticky-cap-without-jitter", func(t *testing.T) {
		t.Parallel()
		draws := 0
		s := retrycontext.NewSeries(exponential(retrycontext.Forever, 10*time.Second, time.Minute),
			func() float64 { draws++; return 0.5 })
		want := []time.Duration{10, 20, 30, 50, 60, 60, 60, 60}
		for i, w := range want {
			if got := s.Next(); got != w*time.Second {
				t.Errorf("delay %d = %v, want %v", i+1, got, w*time.Second)
			}
		}
		if draws != 3 {
			t.Errorf("jitter was asked %d times, want 3: not for the first delay, not at the cap", draws)
		}
	})
	t.Run("first-delay-without-jitter", func(t *testing.T) {
		t.Parallel()
		p := exponential(1, 7*time.Second, time.Hour)
		if a, b := p.Delay(1, 0), p.Delay(1, 0.99); a != 7*time.Second || b != a {
			t.Errorf("Delay(1) = %v and %v, want 7s twice", a, b)
		}
	})
	t.Run("series-are-independent", func(t *testing.T) {
		t.Parallel()
		p := exponential(4, time.Second, time.Hour)
		half := func() float64 { return 0.5 }
		a := retrycontext.NewSeries(p, half)
		a.Next()
		a.Next()
		if got := retrycontext.NewSeries(p, half).Next(); got != time.Second {
			t.Errorf("a second delivery starts at %v, want 1s", got)
		}
		if got := a.Next(); got != 3*time.Second {
			t.Errorf("the first goes on with %v, want 3s", got)
		}
	})
	t.Run("jitter-outside-its-range", func(t *testing.T) {
		t.Parallel()
		p := exponential(4, time.Second, time.Hour)
		for u, want := range map[float64]time.Duration{-1: 1800 * time.Millisecond, 1: 2200*time.Millisecond - 1, 7: 2200*time.Millisecond - 1} {
			if got := p.Delay(2, u); got != want {
				t.Errorf("Delay(2, %v) = %v, want %v", u, got, want)
			}
		}
		if got := p.Delay(2, math.NaN()); got != 1800*time.Millisecond {
			t.Errorf("Delay(2, NaN) = %v, want 1.8s", got)
		}
	})
	t.Run("no-retry-no-delay", func(t *testing.T) {
		t.Parallel()
		for _, p := range []*retrycontext.Policy{nil, fixed(1, time.Second)} {
			if got := p.Delay(0, 0.5); got != 0 {
				t.Errorf("%v: Delay(0) = %v, want 0", p, got)
			}
		}
	})
}

// TestDelayProperties draws valid policies of every size and walks their series.
func TestDelayProperties(t *testing.T) {
	t.Parallel()
	const seed = 20241001
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	// Interval sizes spread over all magnitudes, from nanoseconds to MaxDelay.
	interval := func() time.Duration {
		return time.Duration(math.Exp(r.Float64() * math.Log(float64(retrycontext.MaxDelay))))
	}
	for range 5000 {
		a, b := interval(), interval()
		p := exponential(retrycontext.Forever, min(a, b), max(a, b))
		if faults := p.Validate(); faults != nil {
			t.Fatalf("%v: %v", p, faults)
		}
		s := retrycontext.NewSeries(p, r.Float64)
		var last time.Duration
		capped := false
		for n := 1; n <= 80; n++ {
			d := s.Next()
			low, high := p.Bounds(n)
			switch {
			case d < p.MinimumInterval:
				t.Fatalf("%v: delay %d = %v is below the minimum", p, n, d)
			case d > p.MaximumInterval:
				t.Fatalf("%v: delay %d = %v is above the maximum", p, n, d)
			case d < low || d > high || d == high && low < high && d != p.MaximumInterval:
				t.Fatalf("%v: delay %d = %v is outside its bounds %v, %v", p, n, d, low, high)
			case !capped && n > 1 && d <= last:
				t.Fatalf("%v: delay %d = %v does not exceed %v", p, n, d, last)
			case capped && d != p.MaximumInterval:
				t.Fatalf("%v: delay %d = %v leaves the cap", p, n, d)
			}
			capped, last = d == p.MaximumInterval, d
		}
		if !capped {
			t.Fatalf("%v: not at the cap after 80 retries", p)
		}
		for _, n := range []int{62, 63, 64, 65, 66, 1 << 16, math.MaxInt32, 1 << 31} {
			if got := p.Delay(n, r.Float64()); got != p.MaximumInterval {
				t.Fatalf("%v: Delay(%d) = %v, want the maximum", p, n, got)
			}
		}
	}
}

// TestDelayNeverOverflows uses intervals that validation refuses, up to the ends
// of time.Duration: nothing below the minimum, nothing above the maximum.
func TestDelayNeverOverflows(t *testing.T) {
	t.Parallel()
	for _, m := range []time.Duration{1, time.Hour, math.MaxInt64 / 3, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64} {
		p := exponential(retrycontext.Forever, m, math.MaxInt64)
		for n := 1; n < 70; n++ {
			for _, u := range []float64{0, 0.5, math.Nextafter(1, 0)} {
				if got := p.Delay(n, u); got < m {
					t.Errorf("%v: Delay(%d, %v) = %v is below the minimum", p, n, u, got)
				}
			}
		}
	}
}

func TestTotalWait(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		p         *retrycontext.Policy
		min, max  time.Duration
		unbounded bool
	}{
		{"none", nil, 0, 0, false},
		{"zero", fixed(0, time.Hour), 0, 0, false},
		{"fixed-no-delay", fixed(4, 0), 0, 0, false},
		{"fixed-up-to-the-end", fixed(1, math.MaxInt64), math.MaxInt64, math.MaxInt64, false},
		{"fixed-4", fixed(4, 10*time.Second), 40 * time.Second, 40 * time.Second, false},
		{"fixed-huge", fixed(math.MaxInt32, time.Second), math.MaxInt32 * time.Second, math.MaxInt32 * time.Second, false},
		{"fixed-beyond-duration", fixed(math.MaxInt32, retrycontext.MaxDelay), math.MaxInt64, math.MaxInt64, false},
		{"exponential-1", exponential(1, 10*time.Second, time.Hour), 10 * time.Second, 10 * time.Second, false},
		{"exponential-4", exponential(4, 10*time.Second, time.Hour), 96 * time.Second, 124 * time.Second, false},
		{"exponential-capped", exponential(6, 10*time.Second, 30*time.Second), (10 + 18 + 26 + 30*3) * time.Second, (10 + 22 + 30*4) * time.Second, false},
		{"exponential-huge", exponential(math.MaxInt32, time.Second, time.Second), math.MaxInt32 * time.Second, math.MaxInt32 * time.Second, false},
		{"forever", fixed(retrycontext.Forever, 0), math.MaxInt64, math.MaxInt64, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			low, high, unbounded := row.p.TotalWait()
			if low != row.min || high != row.max || unbounded != row.unbounded {
				t.Errorf("TotalWait() = %v, %v, %v, want %v, %v, %v", low, high, unbounded, row.min, row.max, row.unbounded)
			}
		})
	}
}
