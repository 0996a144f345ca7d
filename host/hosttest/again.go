package hosttest

import (
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
)

// Kill ends the host at this instant, as kill -9 or a power cut does: nothing is
// settled, nothing is written and no lock is given back. Messages in work stay
// hidden, and locks and leases held, until the clock ends them. The host's data
// stay as they were (queues, blobs, timer status, Service Bus, Event Hubs, Event
// Grid, Cosmos DB): until [Host.StartAgain] the test can look at it, send more, and
// move time.
//
// A handler in process sees its context end, since no goroutine can be killed; what it
// does then reaches no service. The journal begins anew; Select, Attempts, Settlements
// and the assertions cover all runs. Options.Services are not of the host and are not
// kept from it.
func (h *Host) Kill() {
	h.tb.Helper()
	if h.down || h.closed && !h.shared {
		h.tb.Fatalf("hosttest: Kill: the host does not run: StartAgain starts it")
	}
	if h.diesAtPoint() {
		return
	}
	h.kill(h.Journal().Len())
}

// diesAtPoint ends a host that has come to the point of KillAt and that nobody has awaited;
// not ok: it has not come there.
func (h *Host) diesAtPoint() (ok bool) {
	h.tb.Helper()
	k := h.killAt.Load()
	if k == nil || k.seq.Load() == 0 {
		return false
	}
	h.AwaitKilled()
	return true
}

// kill kills the host, whose last record of its own is number last.
func (h *Host) kill(last uint64) {
	h.tb.Helper()
	if h.run != nil {
		replaceAmong(h, h.Host.Kill, last)
		return
	}
	records := until(last, h.Journal().Records())
	if h.shared {
		h.again(h.Host.Kill, func() []journal.Record { return records })
		return
	}
	snap := h.snapshot()
	h.dying = true
	h.drive(func() {
		h.Abort()
		_ = h.Host.Close() // its end does not matter any more
	})
	h.dying = false
	h.next(snap, records)
}

// StartAgain stops the host as Ctrl+C does, if it runs, and starts it again on the same
// folder and data, as another instance. After [Host.Kill] it only starts it.
func (h *Host) StartAgain() {
	h.tb.Helper()
	if !h.down {
		h.diesAtPoint()
	}
	if !h.down && h.run != nil {
		replaceAmong(h, h.Host.Close, h.Journal().Len())
	}
	if !h.down && h.shared {
		h.again(h.Host.Close, h.Journal().Records)
	}
	if !h.down {
		if err := h.Close(); err != nil {
			h.tb.Fatalf("hosttest: stop: %v", err)
		}
		h.next(h.snapshot(), h.Journal().Records())
	}
	h.down = false
	h.start(false)
}

// snapshot is the host's kept state.
func (h *Host) snapshot() *services.Snapshot {
	h.tb.Helper()
	var snap *services.Snapshot
	var err error
	h.do("snapshot", func() { snap, err = h.Host.Snapshot() })
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	return snap
}

// next puts another run in the place of one that has ended, with what that has kept.
func (h *Host) next(snap *services.Snapshot, records []journal.Record) {
	h.tb.Helper()
	fresh, err := h.make(h, nil)
	if err == nil {
		h.do("restore", func() { err = fresh.Restore(snap) })
	}
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	h.past = append(h.past, records...)
	h.Host, h.cursor, h.down = fresh, 1, true
}

// alive asks a fault of the test, but not for what a killed host still tries, and with
// spare not for the test's own calls.
func alive[P any](h *Host, fault func(P) error, spare bool) func(P) error {
	if fault == nil {
		return nil
	}
	return func(p P) error {
		if h.dying || spare && h.acting {
			return nil
		}
		return fault(p)
	}
}

// records are the records of all runs. Of a host that has come to the point of KillAt they end
// there.
func (k journalCalls) records() []journal.Record {
	now := k.h.Journal().Records()
	if at := k.h.killAt.Load(); at != nil && at.seq.Load() != 0 && k.h.run == nil {
		now = until(at.seq.Load(), now)
	}
	if len(k.h.past) == 0 {
		return k.h.run.lived(now)
	}
	return append(k.h.past[:len(k.h.past):len(k.h.past)], now...)
}
