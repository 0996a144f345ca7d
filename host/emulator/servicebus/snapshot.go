package servicebus

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Prefix begins the keys of a namespace, in a store and in an image.
const Prefix = keyPrefix

// Snapshot copies the state: the keys that a store would hold. It fails only when a
// store cannot be read.
func (ns *Namespace) Snapshot() (*store.Image, error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return nil, fmt.Errorf("snapshot of the Service Bus namespace: %w", err)
	}
	return store.NewImage(func(w store.Writer) { ns.writeLocked(&change{keep.Into(w)}) }), nil
}

// writeLocked writes everything.
func (ns *Namespace) writeLocked(c *change) {
	for _, key := range slices.Sorted(maps.Keys(ns.entities)) {
		e := ns.entities[key]
		c.saveEntity(e)
		c.saveSequence(e.main)
		for _, id := range e.seen.order {
			c.saveSeen(e, id, e.seen.at[id])
		}
		for _, q := range e.queues() {
			for _, id := range slices.Sorted(maps.Keys(q.sessions)) {
				c.saveSession(q, q.sessions[id])
			}
			q.all.from(0, func(m *message) bool {
				c.saveMessage(q, m)
				return true
			})
		}
	}
	ns.saveCountsLocked(c)
}

// Restore replaces the state by a snapshot of this or another namespace,
// identifiers included. Times are kept: what was due meanwhile has ended. Plain
// receivers go on, if their queues are there; sessions are lost, as after a restart.
// When it fails, because the state cannot be read or a store cannot be written, the
// old state stays.
func (ns *Namespace) Restore(state *store.Image) error { return ns.replace(state, false) }

// Load is Restore for a namespace at work: identifiers follow those that were given
// here and there, so that no lock token fits two messages.
func (ns *Namespace) Load(state *store.Image) error { return ns.replace(state, true) }

func (ns *Namespace) replace(state *store.Image, follow bool) error {
	commit, untold, err := ns.replaceState(state, follow)
	ns.record(untold)
	if err == nil {
		err = ns.kept.Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the Service Bus namespace: %w", err)
	}
	return nil
}

func (ns *Namespace) replaceState(state *store.Image, follow bool) (commit keep.Awaited, untold []journal.Record, err error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return commit, nil, err
	}
	fresh, err := ns.read(state, "snapshot")
	if err != nil {
		return commit, nil, err
	}
	c := change{ns.kept.Change()}
	c.Replace(Prefix, state)
	if err := c.Err(); err != nil {
		return commit, nil, err
	}
	if follow {
		fresh.ids.n = max(fresh.ids.n, ns.ids.n)
	}
	ns.takeLocked(fresh)
	commit, err = ns.commitLocked(&c)
	return commit, ns.takeUntold(), err
}
