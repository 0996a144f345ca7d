package hosttest

import (
	"strings"

	"github.com/redeliver/redeliver/host/clock"
)

// notice is told what the clock has to say.
func (h *Host) notice(n clock.Notice) {
	if h.Host != nil {
		h.ClockNotice(n)
	}
	if n.Kind == clock.BatonKept && blocked(n.Stack) {
		select { //clock:outside never blocks
		case h.stuck <- n:
		default:
		}
	}
}

// blocked reports whether a goroutine with that stack waits: it is not just slow.
func blocked(stack string) bool {
	head, _, _ := strings.Cut(stack, "\n")
	return stack != "" && !strings.Contains(head, "[running") && !strings.Contains(head, "[runnable")
}

// wait calls what waits for the clock. It ends the test when somebody keeps the clock
// while waiting for what the clock cannot see, such as a channel or ctx.Done() in
// a handler: time would stand still for ever.
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
	case n := <-h.stuck: //clock:outside the same
		h.hangs = true
		h.tb.Fatalf("hosttest: %q keeps the clock for %v and waits for something that is not of the clock: a handler in process waits with functions.Sleep, or within Clock().Outside\n%s", n.Name, n.Real.Round(1e9), n.Stack)
	}
}
