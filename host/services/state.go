package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// A state is everything that the embedded services hold: the queues and blobs of the
// storage accounts, in them what the host keeps there itself, such as the status of
// timers and the checkpoints of Event Hubs; the entities and messages of Service Bus;
// event hubs with their events; Cosmos DB containers with their documents and feeds,
// the leases among them; topics, subscriptions and undelivered events of Event Grid; and
// the task hubs of Durable Functions. It is the same whether the services are kept in a store or in memory, and what
// one has saved the other loads.

// keyed is an embedded service other than storage, whose state is keys.
type keyed interface {
	Keys() keep.Keys
	Snapshot() (*store.Image, error)
	Restore(state *store.Image) error // identifiers included
	Load(state *store.Image) error    // identifiers go on
	Check(r store.Reader) error       // why Load would fail
}

// keyed are the services beside storage.
func (e *Embedded) keyed() []keyed { return []keyed{e.bus, e.hubs, e.documents, e.grid, e.engine} }

// Stored reports whether the services are kept in a store. Then [Embedded.Save] needs no
// clock, and may be as slow as w.
func (e *Embedded) Stored() bool { return e.db != nil }

// Save writes the state to w, as it is at one moment.
func (e *Embedded) Save(w io.Writer) (err error) {
	if e.db != nil {
		return e.db.Save(w)
	}
	db, err := store.OpenMemory(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := e.Storage().CopyTo(db); err != nil {
		return err
	}
	batch, err := db.NewBatch()
	if err != nil {
		return err
	}
	for _, s := range e.keyed() {
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

// Load replaces the state by what Save wrote, all of it or, when it fails, nothing, and
// returns the time of its last change. Call it inside the clock.
func (e *Embedded) Load(r io.Reader) (last time.Time, err error) {
	if e.db == nil {
		return e.loadMemory(r)
	}
	if err := e.Storage().Load(r); err != nil {
		return last, err
	}
	return lastChange(e.db, accountNames(e.opts.Accounts))
}

// loadMemory is Load without a store. Nothing changes before every service has said that
// it can read its part.
func (e *Embedded) loadMemory(r io.Reader) (last time.Time, err error) {
	db, err := store.OpenMemory(nil)
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	storage.CheckLoads(db)
	for _, s := range e.keyed() {
		db.Check(func(v *store.View) error { return s.Check(v) })
	}
	if err := db.Load(r); err != nil {
		return last, err
	}
	if last, err = lastChange(db, []string{FirstAccount}); err != nil {
		return last, err
	}
	if err := e.Storage().CopyFrom(db); err != nil {
		return last, err
	}
	v, err := db.View()
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	for _, s := range e.keyed() {
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

// Clear removes everything. Counters of identifiers go on, as [Embedded.Reset] does not
// let them. Call it inside the clock.
func (e *Embedded) Clear() (err error) {
	var empty bytes.Buffer
	if err := storage.New(e.clk, nil).Save(&empty); err != nil {
		return err
	}
	if err := e.Storage().Load(&empty); err != nil {
		return err
	}
	if e.db == nil {
		for _, s := range e.keyed() {
			err = errors.Join(err, s.Load(&store.Image{}))
		}
	}
	return err
}

// TakeUp lets the services take up a state that was loaded, and reports why they cannot.
func (e *Embedded) TakeUp() error {
	_, err := e.bus.ListQueues(context.Background())
	return err
}

// Snapshot is the state at one moment. It never changes, and may be restored any
// number of times.
type Snapshot struct {
	accounts map[string]*storage.Snapshot
	keyed    []*store.Image
}

// Snapshot copies the state, for Restore. Everything in it is in memory, blobs too.
// It fails only when a store cannot be read. Call it inside the clock.
func (e *Embedded) Snapshot() (*Snapshot, error) {
	snap := &Snapshot{accounts: map[string]*storage.Snapshot{}}
	for _, name := range e.Accounts() {
		account, err := e.accounts[name].Snapshot()
		if err != nil {
			return nil, fmt.Errorf("storage account %q: %w", name, err)
		}
		snap.accounts[name] = account
	}
	for _, s := range e.keyed() {
		state, err := s.Snapshot()
		if err != nil {
			return nil, err
		}
		snap.keyed = append(snap.keyed, state)
	}
	return snap, nil
}

// Restore brings back the state of a snapshot of these services, identifiers included.
// Call it inside the clock.
func (e *Embedded) Restore(snap *Snapshot) error {
	for _, name := range e.Accounts() {
		if err := e.accounts[name].Restore(snap.accounts[name]); err != nil {
			return fmt.Errorf("storage account %q: %w", name, err)
		}
	}
	for i, s := range e.keyed() {
		if err := s.Restore(snap.keyed[i]); err != nil {
			return err
		}
	}
	return nil
}
