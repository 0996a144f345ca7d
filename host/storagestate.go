package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/places"
	"github.com/redeliver/redeliver/host/services"
)

// SaveState, LoadState and ResetState are for a host at work and are called from
// outside the clock. The state is not replaced while the app is loaded or stopped:
// the one waits for the other. When the state is replaced every listener that uses
// an embedded service ends its hold on the old one, and another starts from the
// new: see [epoch.Epoch] and package listening. Deliveries in work go on: their attempts run
// to the end, and their settlement changes nothing, with any identifiers and
// receipts of the new state. A message that the saved state has in work is
// invisible until its lock ends, and is then delivered again, as after a crash.

// SaveState writes the state of the embedded services to w, as it is at one moment. Time
// goes on while w is slow.
func (h *Host) SaveState(w io.Writer) error {
	if h.embedded.Stored() {
		return h.embedded.Save(w)
	}
	return h.states.spooled(func(f *os.File) (err error) {
		h.clk.Inside("save the state", func() { err = h.embedded.Save(f) })
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			_, err = io.Copy(w, f)
		}
		return err
	})
}

// LoadState replaces the state by what SaveState wrote, all of it or, when it
// fails, nothing: *store.CorruptError when r is not what was written,
// *store.VersionError when another version wrote it. r is read to its end before
// anything changes. Storage accounts that this host does not have are not shown; a
// host in memory forgets them.
//
// A state of which the clock has not reached the last change yet moves a virtual
// clock there, through every deadline on the way, for the reason given at
// [services.StartTime]; moved is by how much. It stays where it is when that is more than
// a year.
func (h *Host) LoadState(r io.Reader) (moved time.Duration, err error) {
	err = h.states.spooled(func(f *os.File) error {
		if _, err := io.Copy(f, r); err != nil {
			return err
		}
		last, err := h.states.load(f)
		if err == nil {
			moved = h.states.catchUp(last)
		}
		return err
	})
	return moved, err
}

// states replace the state of the services.
type states struct{ host *Host }

// load puts a saved state in the place of the present one, and returns the time
// of its last change.
func (s *states) load(f *os.File) (last time.Time, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return last, err
	}
	s.host.clk.Inside("load the state", func() {
		defer s.host.fleet.lockLoading()() // a generation that comes to run has its places in one state
		if last, err = s.host.embedded.Load(f); err == nil {
			s.host.Journal().Append(journal.Record{Kind: journal.StateLoaded})
			err = s.replaced()
		}
	})
	return last, err
}

// longestCatchUp is as far as a loaded state moves the clock.
const longestCatchUp = 366 * 24 * time.Hour

// catchUp moves a virtual clock to the time of a state's last change.
func (s *states) catchUp(last time.Time) time.Duration {
	ahead := last.Sub(s.host.clk.Now())
	if _, ok := s.host.clk.(*clock.Virtual); !ok || ahead <= 0 || ahead > longestCatchUp {
		return 0
	}
	s.host.Advance(ahead)
	return ahead
}

// ResetState removes everything from the embedded services, and the recorded outputs
// with the faults that outputs were given. Unlike [Host.Reset] it leaves the journal and
// the counters of IDs alone, and deliveries may be in work.
func (h *Host) ResetState() (err error) {
	h.clk.Inside("reset the state", func() {
		defer h.fleet.lockLoading()()
		if err = h.embedded.Clear(); err == nil {
			for _, m := range h.fleet.all() {
				m.outputs.Clear()
			}
			h.Journal().Append(journal.Record{Kind: journal.StateLoaded})
			err = h.states.replaced()
		}
	})
	return err
}

// replaced lets every service take up a state that has come from elsewhere, gives
// it what the app wants, and lets every listener start from it.
func (s *states) replaced() error {
	for _, m := range s.host.fleet.all() {
		defer m.endEpoch()()
	}
	if err := s.host.embedded.TakeUp(); err != nil {
		return err
	}
	for _, m := range s.host.fleet.all() {
		if err := m.states.repopulate(); err != nil {
			return err
		}
	}
	return nil
}

// repopulate gives the services what the running app wants.
func (s *states) repopulate() error {
	if g := s.host.current.Load(); g != nil {
		if err := places.Again(s.host.env, g.places()); err != nil {
			return err
		}
		g.nameUnserved()
	}
	return s.restoreResidents()
}

// restoreResidents gives the services what the running app describes.
func (s *states) restoreResidents() error {
	var running kinds.Generation
	if g := s.host.current.Load(); g != nil {
		running = g
	}
	for _, r := range s.host.loader.residents {
		if err := r.Restore(running); err != nil {
			return err
		}
	}
	return nil
}

// spooled calls f with a file that is gone afterwards: a state may be larger
// than memory, and its reader or writer slower than the clock can wait for.
func (s *states) spooled(f func(*os.File) error) (err error) {
	dir := app.StateFolder(s.host.dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = "" // the system's
	}
	file, err := os.CreateTemp(dir, "state-*")
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, file.Close())
		_ = os.Remove(file.Name()) // what stays is garbage in a folder for such
	}()
	return f(file)
}

// Snapshot copies the state of the embedded services, for Restore. It fails only when a
// store cannot be read. Call it inside the clock.
func (h *Host) Snapshot() (*services.Snapshot, error) { return h.embedded.Snapshot() }

// Restore brings back the state of a snapshot of this host, identifiers
// included: later records have the same names as the records after the
// snapshot. It fails while deliveries are in work. Call it inside the clock.
func (h *Host) Restore(snap *services.Snapshot) error {
	defer h.fleet.lockLoading()()
	for _, m := range h.fleet.all() {
		if m.counters.busy() {
			return fmt.Errorf("restore: %w", errInWork)
		}
	}
	if err := h.embedded.Restore(snap); err != nil {
		return err
	}
	return h.states.replaced()
}
