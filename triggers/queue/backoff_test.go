package queue

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

// Expected waits follow spec storage 3; the rule comes from
// RandomizedExponentialBackoffStrategy.cs in azure-sdk-for-net.
func TestBackoffSeries(t *testing.T) {
	t.Parallel()
	constant := func(x float64) func() float64 { return func() float64 { return x } }
	tests := []struct {
		name  string
		max   time.Duration
		rand  func() float64
		found string // one letter for each pass: f found, e empty
		want  []time.Duration
	}{
		{"empty from the start", 2 * time.Second, constant(0.5), "eeeeeeeee",
			[]time.Duration{100 * ms, 200 * ms, 300 * ms, 500 * ms, 900 * ms, 1700 * ms, 2000 * ms, 2000 * ms, 2000 * ms}},
		{"lowest jitter", time.Minute, constant(0), "eeee", []time.Duration{100 * ms, 180 * ms, 260 * ms, 420 * ms}},
		{"highest jitter", time.Minute, constant(0.999999999), "eee", []time.Duration{100 * ms, 220 * ms, 340 * ms}},
		{"after a success the first step is skipped", time.Minute, constant(0.5), "feef", []time.Duration{100 * ms, 200 * ms, 300 * ms, 100 * ms}},
		{"the cap sticks until a success", 250 * ms, constant(0.5), "eeeefe", []time.Duration{100 * ms, 200 * ms, 250 * ms, 250 * ms, 100 * ms, 200 * ms}},
		{"a cap of the minimum", 100 * ms, constant(0.5), "eefe", []time.Duration{100 * ms, 100 * ms, 100 * ms, 100 * ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := backoff{max: tt.max, rand: tt.rand}
			for i, pass := range tt.found {
				got := b.next(pass == 'f')
				if diff := got - tt.want[i]; diff < -time.Microsecond || diff > time.Microsecond {
					t.Errorf("wait %d = %v, want %v", i+1, got, tt.want[i])
				}
			}
		})
	}
}

// With any jitter a wait is never below the minimum and never above the cap; a
// cap of any size is reached and kept.
func TestBackoffBounds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []time.Duration{100 * ms, 2 * time.Second, time.Minute, 1<<63 - 1} {
		b := backoff{max: limit, rand: r.Float64}
		last := time.Duration(0)
		for i := range 200 {
			got := b.next(false)
			if got < minPollingInterval || got > limit {
				t.Fatalf("max %v: wait %d = %v", limit, i+1, got)
			}
			last = got
		}
		if last != limit {
			t.Errorf("max %v: the 200th wait = %v", limit, last)
		}
	}
}
