package process

import "time"

const (
	// crashBudget is the number of crashes at which the platform gives up, for each
	// process that a program has (host: RpcFunctionInvocationDispatcher.cs).
	crashBudget = 3
	// crashWindow is the quiet time after which earlier crashes are forgotten.
	crashWindow = 30 * time.Minute
	// maxRestartDelay bounds the pause between starts (host: Utility.cs
	// ComputeBackoff).
	maxRestartDelay = 2 * time.Minute
)

// budget counts crashes. The first crashes are answered with a new process at
// once; from the third on, counted without 30 quiet minutes in between, the
// budget is used up. Several processes of a program have one budget, of three crashes
// each.
type budget struct {
	processes int // that the program has; 0 is one

	crashes int
	last    time.Time
}

// crash counts one more at time now. It returns the pause before the next
// start, and whether the budget is used up.
func (b *budget) crash(now time.Time) (delay time.Duration, usedUp bool) {
	if b.crashes > 0 && now.Sub(b.last) > crashWindow {
		b.crashes = 0
	}
	b.last = now
	b.crashes++
	over := b.crashes - crashBudget*max(b.processes, 1)
	if over < 0 {
		return 0, false
	}
	return restartDelay(over + 1), true
}

// restartDelay is the platform's back-off of host starts (spec host-and-retry 1.4):
// (2^attempt - 1)/2 s rounded half to even, at least 1 s, at most 2 min.
func restartDelay(attempt int) time.Duration {
	if attempt >= 8 {
		return maxRestartDelay
	}
	twice := 1<<max(attempt, 1) - 1 // odd: always a half to round
	half := twice / 2
	if half%2 == 1 {
		half++
	}
	return max(time.Duration(half)*time.Second, time.Second)
}
