package host

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/internal/ids"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
)

// A fleet is the hosts that share the embedded services: one, unless others
// run beside it, instances of its app or other apps. Records that the services make by
// themselves are in the journal of each instance; apps have one journal together.
type fleet struct {
	journal *journal.Journal // of the first host, which all apps share

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

// fleetOf is the fleet of a new host, with its journal and its identifiers.
func fleetOf(h *Host) *fleet {
	watch := faults.Watch(h.opts.KillAt, &h.life, h.cut)
	f, first := &fleet{}, h.opts.Beside
	if first != nil {
		f = first.fleet
	}
	if first != nil && h.opts.App != "" {
		h.ids = first.ids
	} else {
		h.ids = ids.New(h.opts.Seed)
		h.journal = journal.New(h.clk.Now, &journal.Options{Keep: h.opts.KeepRecords, Watch: watch})
	}
	if first == nil {
		f.journal = h.journal
	}
	if h.opts.App != "" {
		h.journal = f.journal.For(h.opts.App, watch)
	}
	f.join(h)
	return f
}

// Apps are the hosts of the apps that run beside h, by age, and h among them.
func Apps(h *Host) []*Host {
	if h.opts.App == "" {
		return []*Host{h} // others are instances
	}
	return h.fleet.all()
}

// switches are those that the services keep to: of the first app that runs, or, where none
// before h does, h's own.
func (f *fleet) switches(h *Host, own hostjson.Switches) hostjson.Switches {
	for _, m := range Apps(h) {
		if m == h {
			break
		}
		if g := m.current.Load(); g != nil && m.State() == Running {
			return g.app.Switches
		}
	}
	return own
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
	members := f.all()
	for _, m := range members {
		if m.opts.App != "" {
			f.journal.Append(r)
			return
		}
		m.journal.Append(r)
	}
}

// made wakes what waits in a member for a service to have something.
func (f *fleet) made() {
	for _, m := range f.all() {
		m.listening.Made()
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
// no member is left. A function of one of several apps has the member that runs this app,
// and there the name that is own.
func (f *fleet) front(function string) (to kinds.Front, own string) {
	for _, m := range f.all() {
		if name, ok := strings.CutPrefix(function, m.opts.App+"/"); ok && m.opts.App != "" {
			return front{m}, name
		}
	}
	if m := f.running(); m != nil {
		return front{m}, function
	}
	return nil, function
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
