package process

import (
	"testing"
	"time"
)

// The golden series of spec host-and-retry 1.4, from the real host.
func TestRestartDelay(t *testing.T) {
	t.Parallel()
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 120, 120} {
		if got := restartDelay(i + 1); got != want*time.Second {
			t.Errorf("restartDelay(%d) = %v, want %v", i+1, got, want*time.Second)
		}
	}
	if got := restartDelay(1 << 20); got != 2*time.Minute {
		t.Errorf("restartDelay of very many = %v, want 2m", got)
	}
}
