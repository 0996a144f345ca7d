package hosttest

import "github.com/redeliver/redeliver/host/journal"

// ScaleOut starts another instance of the app beside this one, as the platform does when
// there is much to do: a host of its own, with its own handlers' processes, on the same
// folder, clock and services. Options.Instances has to be set.
//
// Each instance can be closed, killed and started again by itself. Moving time
// moves it for all. The work of an instance is in its own journal, the records of
// the services by themselves in the journal of each; Attempts, Settlements and the
// assertions look at the instance that they are called on. Deliveries of Event Grid
// go to the oldest instance that runs. The new instance is stopped when the test
// ends.
func (h *Host) ScaleOut() *Host {
	h.tb.Helper()
	if h.run != nil {
		h.tb.Fatalf("hosttest: ScaleOut: an app among several runs in one instance")
	}
	if !h.shared {
		h.tb.Fatalf("hosttest: ScaleOut: set Options.Instances, so that the first instance holds its locks as between machines")
	}
	other := whole(&Host{
		tb: h.tb, second: true, virtual: h.virtual, cursor: 1, make: h.make, shared: true, begins: h.begins,
		lax: h.lax, mayFail: h.mayFail, inError: h.inError, copied: h.copied, stuck: h.stuck, faults: h.faults, table: h.table,
	})
	var err error
	if other.Host, err = h.make(other, h.Host); err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	h.others = append(h.others, other)
	other.start(false)
	h.tb.Cleanup(other.stop)
	return other
}

// again replaces this instance, which end ends, by another one, which has not
// begun. The new one is made first, so that the services outlive the old one.
// records are the records of the ended instance.
func (h *Host) again(end func() error, records func() []journal.Record) {
	h.tb.Helper()
	fresh, err := h.make(h, h.Host)
	if err != nil {
		h.tb.Fatalf("hosttest: %v", err)
	}
	h.drive(func() { err = end() })
	if err != nil {
		h.tb.Fatalf("hosttest: stop: %v", err)
	}
	h.past = append(h.past, records()...)
	fresh.Journal().Reset() // what the services did meanwhile is in the records
	h.Host, h.cursor, h.down = fresh, 1, true
}
