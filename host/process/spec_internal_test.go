package process

import (
	"testing"
	"time"
)

// A program that never becomes ready is given up within seconds.
func TestDefaultStartTimeout(t *testing.T) {
	t.Parallel()
	if got := (Spec{}).WithDefaults().StartTimeout; got != 10*time.Second {
		t.Errorf("start timeout: got %v, want 10s", got)
	}
}
