package eventhubs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Prefix begins the keys of a namespace, in a store and in an image.
const Prefix = keyPrefix

// Snapshot copies the state: the keys that a store would hold. It fails only when a
// store cannot be read.
func (ns *Namespace) Snapshot() (*store.Image, error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return nil, fmt.Errorf("snapshot of the Event Hubs namespace: %w", err)
	}
	return store.NewImage(func(w store.Writer) { ns.writeLocked(&change{keep.Into(w)}) }), nil
}

// writeLocked writes everything.
func (ns *Namespace) writeLocked(c *change) {
	for _, key := range slices.Sorted(maps.Keys(ns.hubs)) {
		h := ns.hubs[key]
		c.saveHub(h)
		for _, p := range h.partitions {
			if p.next == 0 {
				continue // as in a store: nothing was ever sent to it
			}
			c.saveEnd(p)
			for _, r := range p.events {
				c.saveEvent(p, r)
			}
		}
	}
	c.SetTime(timeKey, ns.now())
}

// Restore replaces the state by a snapshot of this or another namespace, sequence
// numbers included. Readers go on where the hub is there, from where they are or, if
// their partition ends before, from its end. When it fails, because the state cannot
// be read or a store cannot be written, the old state stays.
func (ns *Namespace) Restore(state *store.Image) error {
	commit, err := ns.replaceState(state)
	if err == nil {
		err = ns.kept.Wait(context.Background(), commit)
	}
	if err != nil {
		return fmt.Errorf("restore the Event Hubs namespace: %w", err)
	}
	return nil
}

// Load is Restore for a namespace at work. It is the same here, where nothing but
// sequence numbers is counted.
func (ns *Namespace) Load(state *store.Image) error { return ns.Restore(state) }

func (ns *Namespace) replaceState(state *store.Image) (keep.Awaited, error) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	if err := ns.readyLocked(); err != nil {
		return keep.Awaited{}, err
	}
	hubs, err := ns.read(state, "snapshot")
	if err != nil {
		return keep.Awaited{}, err
	}
	c := change{ns.kept.Change()}
	c.Replace(Prefix, state)
	if err := c.Err(); err != nil {
		return keep.Awaited{}, err
	}
	ns.takeLocked(hubs)
	return ns.commitLocked(&c)
}
