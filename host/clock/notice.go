package clock

import (
	"fmt"
	"time"
)

// A Notice is a message of the clock; see VirtualOptions.Notify.
type Notice struct {
	Kind NoticeKind
	Name string // of the call or goroutine; empty where there is none

	// From and To are virtual times: the jump of a Moved; otherwise both are the
	// time of the notice, save that To of RanAhead is the deadline not jumped to.
	From, To time.Time

	Real  time.Duration // real time waited so far
	Turns uint64        // Crowded: how many
	Stack string        // BatonKept: the goroutine's stack
}

// StandingTurns is how many turns at one instant are worth a Notice.
const StandingTurns = 10_000

// NoticeKind says what a Notice is about.
type NoticeKind uint8

const (
	// PatienceUsedUp: the outside call Name no longer holds time still.
	PatienceUsedUp NoticeKind = iota + 1

	// BatonKept: the goroutine Name has kept the baton for as long as the
	// watchdog allows. Said once per turn. Nothing is done about it.
	BatonKept

	// RanAhead: Auto has run seven days ahead of the last input, probably after
	// something that is retried for ever, and now follows the wall. Said once; an
	// input lets it run ahead again.
	RanAhead

	// Crowded: another StandingTurns turns have begun since time moved last, or since
	// something came in from the outside: perhaps something goes on for ever that
	// takes no time. Name has the next turn. Not said in a pace, where time passes.
	Crowded

	// Moved: time jumped. Time that follows the wall moves without notice.
	Moved
)

// String returns a short name.
func (k NoticeKind) String() string {
	switch k {
	case PatienceUsedUp:
		return "patience used up"
	case BatonKept:
		return "baton kept"
	case RanAhead:
		return "ran ahead"
	case Crowded:
		return "crowded"
	case Moved:
		return "moved"
	}
	return fmt.Sprintf("NoticeKind(%d)", uint8(k))
}

// String returns the notice as one sentence, without the stack.
func (n Notice) String() string {
	switch n.Kind {
	case PatienceUsedUp:
		return fmt.Sprintf("call %q has been out for %v: time moves on without it", n.Name, n.Real)
	case BatonKept:
		return fmt.Sprintf("goroutine %q has kept the clock for %v", n.Name, n.Real)
	case RanAhead:
		return fmt.Sprintf("time has run ahead far enough since the last input: it follows the wall until the next (next deadline %s)", n.To.Format(time.RFC3339))
	case Crowded:
		return fmt.Sprintf("%d turns have begun at one instant: perhaps something goes on for ever without a wait", n.Turns)
	case Moved:
		return fmt.Sprintf("time moved by %v to %s", n.To.Sub(n.From), n.To.Format(time.RFC3339Nano))
	}
	return n.Kind.String()
}

func (v *Virtual) noticeLocked(n Notice) {
	if v.opts.Notify != nil {
		v.notices = append(v.notices, n)
	}
}
