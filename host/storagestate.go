package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// A state is everything that the embedded services hold: the queues and blobs of the
// storage accounts, in them what the host keeps there itself, such as the status of
// timers and the checkpoints of Event Hubs; the entities and messages of Service Bus;
// event hubs with their events; Cosmos DB containers with their documents and feeds,
// the leases among them; and topics, subscriptions and undelivered events of Event
// Grid. It is the same whether the host keeps it in a store or in memory, and what
// one has saved the other loads.
//
// SaveState, LoadState and ResetState are for a host at work and are called from
// outside the clock. The state is not replaced while the app is loaded or stopped: the
// one waits for the other. When the state is replaced every listener that uses an embedded
// service ends its hold on the old one, and another starts from the new: see [epoch]
// and [turn]. What is in work goes on: its attempts run to their end, and its
// settlement changes nothing, whatever identifiers and receipts the new state has. A
// message that the saved state has in work is invisible until its lock ends, and is
// then delivered again, as after a crash.

// service is an embedded service other than storage, whose state is keys.
type service interface {
	Keys() keep.Keys
	Snapshot() (*store.Image, error)
	Restore(state *store.Image) error // identifiers included
	Load(state *store.Image) error    // identifiers go on
	Check(r store.Reader) error       // why Load would fail
}

// besideStorage is the services beside storage.
func (h *Host) besideStorage() []service {
	return []service{h.namespace, h.hubs, h.cosmos, h.grid}
}

// SaveState writes the state to w, as it is at one moment. Time goes on while w
// is slow.
func (h *Host) SaveState(w io.Writer) error {
	if h.accounts.db != nil {
		return h.accounts.db.Save(w)
	}
	return h.spooled(func(f *os.File) (err error) {
		h.clk.Inside("save the state", func() { err = h.saveMemory(f) })
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			_, err = io.Copy(w, f)
		}
		return err
	})
}

// saveMemory is SaveState for a host without a store: it makes one.
func (h *Host) saveMemory(w io.Writer) (err error) {
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := h.storage.CopyTo(db); err != nil {
		return err
	}
	batch, err := db.NewBatch()
	if err != nil {
		return err
	}
	for _, s := range h.besideStorage() {
		state, err := s.Snapshot()
		if err != nil {
			batch.Discard()
			return err
		}
		state.CopyTo(batch)
	}
	if err := db.Apply(batch); err != nil {
		return err
	}
	return db.Save(w)
}

// LoadState replaces the state by what SaveState wrote, all of it or, when it
// fails, nothing: *store.CorruptError when r is not what was written,
// *store.VersionError when another version wrote it. r is read to its end before
// anything changes. Storage accounts that this host does not have are not shown; a
// host in memory forgets them.
//
// A state of which the clock has not reached the last change yet moves a virtual
// clock there, through every deadline on the way, for the reason given at
// [StartTime]; moved is by how much. It stays where it is when that is more than
// a year.
func (h *Host) LoadState(r io.Reader) (moved time.Duration, err error) {
	err = h.spooled(func(f *os.File) error {
		if _, err := io.Copy(f, r); err != nil {
			return err
		}
		last, err := h.loadState(f)
		if err == nil {
			moved = h.catchUp(last)
		}
		return err
	})
	return moved, err
}

// loadState puts a saved state in the place of the present one, and returns the time
// of its last change.
func (h *Host) loadState(f *os.File) (last time.Time, err error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return last, err
	}
	h.clk.Inside("load the state", func() {
		defer h.fleet.lockLoading()() // a generation that comes to run has its places in one state
		db := h.accounts.db
		if db == nil {
			last, err = h.loadMemory(f)
		} else {
			err = h.storage.Load(f)
		}
		if err == nil {
			err = h.replaced()
		}
		if err == nil && db != nil {
			last, err = lastChange(db, accountNames(h.opts.Accounts))
		}
	})
	return last, err
}

// loadMemory is loadState for a host without a store. Nothing changes before every
// service has said that it can read its part.
func (h *Host) loadMemory(r io.Reader) (last time.Time, err error) {
	db, err := store.OpenMemory(nil)
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	emulator.CheckLoads(db)
	for _, s := range h.besideStorage() {
		db.Check(func(v *store.View) error { return s.Check(v) })
	}
	if err := db.Load(r); err != nil {
		return last, err
	}
	if last, err = lastChange(db, []string{FirstAccount}); err != nil {
		return last, err
	}
	if err := h.storage.CopyFrom(db); err != nil {
		return last, err
	}
	v, err := db.View()
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	for _, s := range h.besideStorage() {
		state, err := store.ImageOf(v, s.Keys().Prefix)
		if err == nil {
			err = s.Load(state)
		}
		if err != nil {
			return last, err
		}
	}
	return last, nil
}

// longestCatchUp is as far as a loaded state moves the clock.
const longestCatchUp = 366 * 24 * time.Hour

// catchUp moves a virtual clock to the time of a state's last change.
func (h *Host) catchUp(last time.Time) time.Duration {
	ahead := last.Sub(h.clk.Now())
	if _, ok := h.clk.(*clock.Virtual); !ok || ahead <= 0 || ahead > longestCatchUp {
		return 0
	}
	h.Advance(ahead)
	return ahead
}

// ResetState removes everything from the embedded services, and the recorded outputs
// with the faults that outputs were given. Unlike [Host.Reset] it leaves the journal and
// the counters of IDs alone, and deliveries may be in work.
func (h *Host) ResetState() (err error) {
	var empty bytes.Buffer
	h.clk.Inside("reset the state", func() {
		defer h.fleet.lockLoading()()
		// Loading nothing keeps the count of identifiers; Reset would start it again.
		if err = emulator.New(h.clk, nil).Save(&empty); err != nil {
			return
		}
		if err = h.storage.Load(&empty); err != nil {
			return
		}
		if h.accounts.db == nil {
			for _, s := range h.besideStorage() {
				err = errors.Join(err, s.Load(&store.Image{}))
			}
		}
		h.clearOutputs()
		err = errors.Join(err, h.replaced())
	})
	return err
}

// replaced lets every service take up a state that has come from elsewhere, gives
// it what the app wants, and lets every listener start from it.
func (h *Host) replaced() error {
	for _, m := range h.fleet.all() {
		defer m.endEpoch()()
	}
	if _, err := h.namespace.ListQueues(context.Background()); err != nil {
		return err
	}
	for _, m := range h.fleet.all() {
		if err := m.repopulate(); err != nil {
			return err
		}
	}
	return nil
}

// repopulate gives the services what the running app wants.
func (h *Host) repopulate() error {
	if err := h.populate(h.namespace); err != nil {
		return err
	}
	if g := h.current.Load(); g != nil {
		if err := g.nameHubs(); err != nil {
			return err
		}
		g.nameUnserved()
	}
	return h.restoreGrid()
}

// spooled calls f with a file that is gone afterwards: a state may be larger
// than memory, and its reader or writer slower than the clock can wait for.
func (h *Host) spooled(f func(*os.File) error) (err error) {
	dir := filepath.Join(h.dir, stateDir)
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

// Snapshot is the state at one moment. It never changes, and may be restored any
// number of times.
type Snapshot struct {
	accounts map[string]*emulator.Snapshot
	services []*store.Image
}

// Snapshot copies the state, for Restore. Everything in it is in memory, blobs too.
// It fails only when a store cannot be read. Call it inside the clock.
func (h *Host) Snapshot() (*Snapshot, error) {
	snap := &Snapshot{accounts: map[string]*emulator.Snapshot{}}
	for _, name := range h.Accounts() {
		account, err := h.accounts.byName[name].Snapshot()
		if err != nil {
			return nil, fmt.Errorf("storage account %q: %w", name, err)
		}
		snap.accounts[name] = account
	}
	for _, s := range h.besideStorage() {
		state, err := s.Snapshot()
		if err != nil {
			return nil, err
		}
		snap.services = append(snap.services, state)
	}
	return snap, nil
}

// Restore brings back the state of a snapshot of this host, identifiers
// included: what happens next has the same names as what happened after the
// snapshot. It fails while deliveries are in work. Call it inside the clock.
func (h *Host) Restore(snap *Snapshot) error {
	defer h.fleet.lockLoading()()
	for _, m := range h.fleet.all() {
		if m.counters.busy() {
			return fmt.Errorf("restore: %w", errInWork)
		}
	}
	for _, name := range h.Accounts() {
		if err := h.accounts.byName[name].Restore(snap.accounts[name]); err != nil {
			return fmt.Errorf("storage account %q: %w", name, err)
		}
	}
	for i, s := range h.besideStorage() {
		if err := s.Restore(snap.services[i]); err != nil {
			return err
		}
	}
	return h.replaced()
}
