package timer

import (
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// White box: a tick that fires before its time (a clock that was set back) counts
// from the time that it stood for, or it would come twice (exttimer:
// TimerListener.cs, InvokeJobFunction). A run of another cause counts from now.
func TestAdvanceAfterEarlyTick(t *testing.T) {
	t.Parallel()
	s, err := ParseSchedule("0 */5 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	due := time.Date(2024, 3, 15, 10, 5, 0, 0, time.UTC)
	early := due.Add(-300 * time.Millisecond)
	for _, tt := range []struct {
		why        startup
		last, next time.Time
	}{
		{regular, due, due.Add(5 * time.Minute)},
		{onStartup, early, due},
		{pastDue, early, due},
	} {
		l := New(clock.System(), s, nil)
		l.status.Next = due
		if err := l.advance(t.Context(), early, tt.why); err != nil {
			t.Fatal(err)
		}
		if !l.status.Last.Equal(tt.last) || !l.status.Next.Equal(tt.next) || !l.status.LastUpdated.Equal(tt.last) {
			t.Errorf("cause %d: status = %+v, want last %s, next %s", tt.why, l.status, tt.last, tt.next)
		}
	}
}
