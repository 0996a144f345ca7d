package hosttest

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/clock"
)

// Driver moves the time of a host for a caller who may leave, as another program does whose
// connection ends: time then stops before its next move, and what is due stays due. The
// error is the context's.
type Driver struct {
	h    *Host
	ctx  context.Context
	time clock.Driver
}

// For returns the driver whose drives end with ctx.
func (h *Host) For(ctx context.Context) Driver { return Driver{h, ctx, h.virtual.For(ctx)} }

// Advance is Host.Advance.
func (d Driver) Advance(by time.Duration) (err error) {
	d.h.tb.Helper()
	d.h.forward("Advance", by)
	d.h.wait(func() { err = host.AdvanceFor(d.ctx, d.h.Host, by) })
	return err
}

// Jump is Host.Jump.
func (d Driver) Jump(by time.Duration) (err error) {
	d.h.tb.Helper()
	d.h.forward("Jump", by)
	d.h.wait(func() { err = d.time.Jump(by) })
	return err
}

// Until moves time until done reports true, which met then is; it gives up when nothing is
// left to happen, at the limit, and after 20,000 retries of policies without an end. done is
// asked before each move, and looks at the host without moving it.
func (d Driver) Until(done func() bool, limit time.Duration) (met bool, err error) {
	d.h.tb.Helper()
	j := d.h.Journal()
	forever := &retries{from: j.Len() + 1}
	quiet := &clock.Quiet{}
	end := d.h.virtual.Now().Add(limit)
	for {
		before := written(d.h)
		if done() {
			return true, nil
		}
		var more bool
		stop := func() bool { return written(d.h) > before || forever.tooMany(j) } // done looks without a lock held
		d.h.wait(func() { more, err = d.time.UntilQuiet(quiet, stop, end.Sub(d.h.virtual.Now())) })
		if err != nil || !more || forever.tooMany(j) {
			return err == nil && done(), err
		}
	}
}

// written is how many records there are, of all instances.
func written(h *Host) uint64 {
	n := h.Journal().Len()
	for _, other := range h.others {
		n += other.Journal().Len()
	}
	return n
}

// Killed reports whether the host is dead: killed, or come to the point of KillAt.
func (h *Host) Killed() bool {
	k := h.killAt.Load()
	return h.down || k != nil && k.seq.Load() != 0
}

// ActBeside is Host.Act for a caller who comes while another call of the test moves time, such as a
// handler whom that runs: it works nothing off.
func ActBeside(h *Host, name string, f func()) {
	h.virtual.Inside(name, func() {
		before := h.acting
		h.acting = true
		defer func() { h.acting = before }()
		f()
	})
}
