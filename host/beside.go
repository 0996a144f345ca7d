package host

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
)

// A fleet is the hosts that share the embedded services: one, unless others
// run beside it. Records that the services make by themselves are in the
// journal of each.
type fleet struct {
	mu      sync.Mutex // of changes
	members atomic.Pointer[[]*Host]
}

// all are the members, by age.
func (f *fleet) all() []*Host {
	if members := f.members.Load(); members != nil {
		return *members
	}
	return nil
}

func (f *fleet) join(h *Host) {
	f.mu.Lock()
	defer f.mu.Unlock()
	members := append(slices.Clone(f.all()), h)
	f.members.Store(&members)
}

func (f *fleet) leave(h *Host) {
	f.mu.Lock()
	defer f.mu.Unlock()
	members := slices.DeleteFunc(slices.Clone(f.all()), func(m *Host) bool { return m == h })
	f.members.Store(&members)
}

// isLast reports whether no other host is a member.
func (f *fleet) isLast(h *Host) bool {
	return !slices.ContainsFunc(f.all(), func(m *Host) bool { return m != h })
}

// lockLoading lets no member load, reload or stop while the state is replaced.
func (f *fleet) lockLoading() (release func()) {
	var releases []func()
	for _, m := range f.all() {
		releases = append(releases, m.lockLoading())
	}
	return func() {
		for _, release := range slices.Backward(releases) {
			release()
		}
	}
}

// record is told by the services what they do.
func (f *fleet) record(r journal.Record) {
	for _, m := range f.all() {
		m.journal.Append(r)
	}
}

// made wakes what waits in a member for a service to have something.
func (f *fleet) made() {
	for _, m := range f.all() {
		m.failed.start()
	}
}

// running is the oldest member whose app runs, or the oldest one.
func (f *fleet) running() *Host {
	members := f.all()
	for _, m := range members {
		if m.current.Load() != nil && m.State() == Running {
			return m
		}
	}
	if len(members) == 0 {
		return nil
	}
	return members[0]
}

// front is a running member, for services that bring something to functions; nil when
// no member is left.
func (f *fleet) front() kinds.Front {
	if m := f.running(); m != nil {
		return front{m}
	}
	return nil
}

// Kill ends the host at this instant, as kill -9 or a power cut does, and returns when
// nothing of it is left: nothing that it still does reaches the embedded services, so
// that messages in work stay hidden, and locks and leases held, until the clock ends
// them. It is for a host that has another beside it (Options.Beside), which keeps the
// services.
func (h *Host) Kill() error {
	h.clk.Inside("kill", h.cut)
	return h.Close()
}

// cut keeps what the host still does from the services.
func (h *Host) cut() {
	h.life.End()
	h.epoch.Load().End()
	h.cancel()
	h.hangUp()
}

// errKilled is the failure of an attempt of a host that was killed.
var errKilled = errors.New("the host was killed")
