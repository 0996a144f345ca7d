package cli_test

import (
	"os"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// What comes within half a second of the first signal is the first one, passed on.
func TestSignalsCountedAsOne(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		after []time.Duration // of each further signal
		again bool
		left  int // signals that were not looked at
	}{
		{"none", nil, false, 0},
		{"passed on", []time.Duration{time.Millisecond}, false, 0},
		{"passed on by two programs", []time.Duration{3 * time.Millisecond, 499 * time.Millisecond}, false, 0},
		{"asked again", []time.Duration{500 * time.Millisecond}, true, 0},
		{"passed on, then asked again", []time.Duration{2 * time.Millisecond, 900 * time.Millisecond}, true, 0},
		{"asked twice more", []time.Duration{time.Second, time.Second}, true, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			signals, done := make(chan os.Signal, len(row.after)), make(chan struct{})
			for range row.after {
				signals <- os.Interrupt
			}
			begun, asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), -1
			if !row.again && len(row.after) == 0 {
				close(done)
			}
			got := cli.Again(signals, done, func() time.Time {
				at := begun
				if asked >= 0 {
					at = at.Add(row.after[asked])
				}
				if asked++; !row.again && asked == len(row.after) && asked > 0 {
					close(done)
				}
				return at
			})
			if got != row.again || len(signals) != row.left {
				t.Errorf("Again = %v, %d signals left, want %v and %d", got, len(signals), row.again, row.left)
			}
		})
	}
}
