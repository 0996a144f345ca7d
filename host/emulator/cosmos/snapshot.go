package cosmos

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Prefix begins the keys of an account, in a store and in an image.
const Prefix = keyPrefix

// Snapshot copies the state: the keys that a store would hold. It fails only when a
// store cannot be read.
func (a *Account) Snapshot() (*store.Image, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.readyLocked(); err != nil {
		return nil, fmt.Errorf("snapshot of the Cosmos DB account: %w", err)
	}
	return store.NewImage(func(w store.Writer) { a.writeLocked(&change{keep.Into(w)}) }), nil
}

// writeLocked writes everything.
func (a *Account) writeLocked(c *change) {
	for _, name := range slices.Sorted(maps.Keys(a.state.databases)) {
		c.saveDatabase(name, a.state.databases[name])
	}
	for _, k := range a.state.containers {
		c.saveContainer(k)
		for _, r := range k.ranges {
			c.saveSequence(k, r)
		}
		for _, d := range k.items {
			c.saveItem(k, d)
		}
	}
	a.saveCountsLocked(c)
}

// Restore replaces the state by a snapshot of this or another account, identifiers
// and positions of feeds included. When it fails, because the state cannot be read or
// a store cannot be written, the old state stays. Those who watch are told by Wake.
func (a *Account) Restore(state *store.Image) error { return a.replace(state, false) }

// Load is Restore for an account at work: identifiers follow those that were given
// here and there.
func (a *Account) Load(state *store.Image) error { return a.replace(state, true) }

func (a *Account) replace(state *store.Image, follow bool) error {
	commit, err := a.replaceState(state, follow)
	if err == nil {
		err = a.kept.Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the Cosmos DB account: %w", err)
	}
	return nil
}

func (a *Account) replaceState(state *store.Image, follow bool) (keep.Awaited, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.readyLocked(); err != nil {
		return keep.Awaited{}, err
	}
	l := newLoader(state, "snapshot")
	if err := l.load(); err != nil {
		return keep.Awaited{}, err
	}
	c := change{a.kept.Change()}
	c.Replace(Prefix, state)
	if err := c.Err(); err != nil {
		return keep.Awaited{}, err
	}
	if follow {
		l.state.ids.n = max(l.state.ids.n, a.state.ids.n)
	}
	a.state = l.state
	return a.commitLocked(&c)
}
