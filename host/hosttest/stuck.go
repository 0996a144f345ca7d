package hosttest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/retrycontext"
)

// notice is told what the clock has to say.
func (h *Host) notice(n clock.Notice) {
	if h.Host != nil {
		h.ClockNotice(n)
	}
	switch {
	case n.Kind == clock.BatonKept && blocked(n.Stack):
		h.isStuck(fmt.Sprintf("%q keeps the clock for %v and waits for something that is not of the clock: a handler in process waits with functions.Sleep, or within Clock().Outside%s\n%s",
			n.Name, n.Real.Round(time.Second), h.running(), n.Stack))
	case n.Kind == clock.Crowded && h.Host != nil:
		if why := h.endless(n); why != "" {
			h.isStuck(why)
			select {} //clock:outside no further turn: the clock goes with the test
		}
	}
}

// isStuck ends the call that the test is in.
func (h *Host) isStuck(why string) {
	select { //clock:outside never blocks
	case h.stuck <- why:
	default:
	}
}

// blocked reports whether a goroutine with that stack waits: it is not just slow.
func blocked(stack string) bool {
	head, _, _ := strings.Cut(stack, "\n")
	return stack != "" && !strings.Contains(head, "[running") && !strings.Contains(head, "[runnable")
}

// running names the attempts that have not ended, for messages.
func (h *Host) running() string {
	if h.Host == nil {
		return ""
	}
	type attempt struct {
		invocation string
		number     int
	}
	var open []journal.Record
	for _, r := range h.Journal().Records() {
		switch r.Kind {
		case journal.AttemptStarted:
			open = append(open, r)
		case journal.AttemptEnded:
			open = slices.DeleteFunc(open, func(o journal.Record) bool {
				return attempt{o.Invocation, o.Attempt} == attempt{r.Invocation, r.Attempt}
			})
		}
	}
	var b strings.Builder
	for _, r := range open {
		fmt.Fprintf(&b, "\nin attempt %d of %s, delivery %s", r.Attempt, r.Function, r.Delivery)
	}
	return b.String()
}

// The numbers that the kit takes for endless: attempts of one delivery, and turns,
// at one instant.
const (
	mostAttempts = 5_000
	mostTurns    = 5 * clock.StandingTurns
)

// endless says why time will never move again, or nothing when it may.
func (h *Host) endless(n clock.Notice) string {
	now, failed := h.virtual.Now(), map[string]int{} // attempts, by delivery
	j := h.Journal()
	records := j.Since(max(j.Len(), 8*mostAttempts) - 8*mostAttempts + 1)
	for _, r := range slices.Backward(records) {
		if !r.Time.Equal(now) {
			break
		}
		if r.Kind != journal.RetryScheduled || r.MaxRetryCount != retrycontext.Forever {
			continue
		}
		if failed[r.Delivery]++; failed[r.Delivery] >= mostAttempts {
			return fmt.Sprintf("function %q has failed in %d attempts of delivery %s and time has not moved: its policy has maxRetryCount %d and no delay, so it ends only when the handler succeeds; give it a delay, or an end",
				r.Function, r.Attempt, r.Delivery, r.MaxRetryCount)
		}
	}
	if n.Turns < mostTurns || h.lax {
		return ""
	}
	return fmt.Sprintf("%d turns, and time has not moved: something goes on for ever without a wait, such as an output that triggers its own function; the journal:\n%s", n.Turns, end(records))
}

// wait calls what waits for the clock. It ends the test when time would stand still
// for ever: a goroutine keeps the clock during a wait that the clock cannot see,
// such as a channel or ctx.Done() in a handler, or work goes on that takes no time.
func (h *Host) wait(call func()) {
	h.tb.Helper()
	done := make(chan any, 1) //clock:outside the test is of the real world
	go func() {               //clock:outside ends with the call, or with the test binary
		defer func() { done <- recover() }()
		call()
	}()
	select { //clock:outside the test is of the real world
	case p := <-done:
		if p != nil {
			panic(p)
		}
	case why := <-h.stuck: //clock:outside the same
		h.hangs = true
		h.tb.Fatalf("hosttest: %s", why)
	}
}
