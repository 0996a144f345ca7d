//go:build unix

package main

import (
	"testing"
	"time"
)

// hangingStop is the longest that a stop or a reload may take when the services outside
// hang: no attempt runs, so it is what the closing of links and the release of locks may
// take, 3 s each, and the time that a busy machine adds.
const hangingStop = 8 * time.Second

// A host whose storage and Service Bus are outside and hang (their owner sleeps) ends
// and reloads in a bounded time.
func TestEndsBesideAHangingNamespace(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.start("first")
	f.start("second")
	f.shared("first", "second")
	f.settled("second")
	f.freeze("first")
	begun := time.Now()
	f.reload("second")
	if took := time.Since(begun); took > hangingStop {
		t.Errorf("the reload took %v, want at most %v", took.Round(time.Millisecond), hangingStop)
	}
	if took := f.stop("second"); took > hangingStop {
		t.Errorf("Ctrl+C took %v, want at most %v", took.Round(time.Millisecond), hangingStop)
	}
	f.thaw("first")
}
