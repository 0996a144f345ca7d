package host

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// ClockNotice writes what a virtual clock has to say into the journal and the
// log. Hand it to clock.VirtualOptions.Notify of a clock that is passed in
// Options.Clock. Ordinary jumps are not written: every record has its time.
func (h *Host) ClockNotice(n clock.Notice) {
	switch n.Kind {
	case clock.Moved:
	case clock.BatonKept:
		h.log.Warn().Str("component", "clock").Str("goroutine", n.Name).Str("stack", n.Stack).Msg("a goroutine keeps the clock")
	case clock.Crowded:
		h.log.Warn().Str("component", "clock").Str("goroutine", n.Name).Msg(n.String())
	default:
		h.Journal().Append(journal.Record{
			Kind: journal.ClockMoved, Cause: n.Kind.String(), Name: n.Name, Beside: journal.Beside{Elapsed: n.Real, Detail: n.String()},
		})
	}
}

// Advance moves a virtual clock by d through every deadline on the way and says
// so in the journal. It reports false for a clock that cannot be moved.
func (h *Host) Advance(d time.Duration) bool { return AdvanceFor(context.Background(), h, d) == nil }

// ErrNotVirtual means that the clock is the system's, which nobody can move.
var ErrNotVirtual = errors.New("the host runs on the clock of the system: it cannot be moved")

// AdvanceFor is Host.Advance for a caller who may leave: when ctx ends, time moves no further.
func AdvanceFor(ctx context.Context, h *Host, d time.Duration) error {
	v, ok := h.clk.(*clock.Virtual)
	if !ok {
		return ErrNotVirtual
	}
	if err := ctx.Err(); err != nil {
		return err // the journal tells of no move that nobody makes
	}
	h.Journal().Append(journal.Record{Kind: journal.ClockMoved, Cause: "advance", Delay: d, HasDelay: true})
	return v.For(ctx).Advance(d)
}

// realNow is the wall's time: the start of the clock that a host makes for
// itself, and the quiet time of files.
func realNow() time.Time { return time.Now() } //clock:outside real files and the start of the clock
