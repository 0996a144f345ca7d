package eventgrid

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Prefix begins the keys of a Grid, in a store and in an image.
const Prefix = keyPrefix

// Snapshot copies the state: the keys that a store would hold. A request that is out
// is as if it had not been made. It fails only when a store cannot be read.
func (g *Grid) Snapshot() (*store.Image, error) {
	err := g.lock()
	defer g.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	before := g.writing
	defer func() { g.writing = before }()
	return store.NewImage(func(w store.Writer) {
		g.writing = keep.Into(w)
		for _, name := range slices.Sorted(maps.Keys(g.topics)) {
			t := g.topics[name]
			g.saveTopic(t)
			for _, s := range t.subscriptions {
				g.saveSubscription(s)
			}
		}
		for _, d := range g.live {
			g.saveEvent(d)
		}
		for _, e := range g.endpoints {
			if e.failures > 0 {
				saved := e.saved
				g.saveHealth(e)
				e.saved = saved // the image is not the store
			}
		}
		g.saveDeclared()
		g.saveCountersLocked(&g.writing)
	}), nil
}

// Restore replaces the state by a snapshot of this or another Grid, identifiers
// included. Times are kept: what was due meanwhile is due. When it fails, because the
// state cannot be read or a store cannot be written, the old state stays.
func (g *Grid) Restore(state *store.Image) error { return g.replace(state, false) }

// Load is Restore for a Grid at work: numbers and identifiers follow those that were
// given here and there.
func (g *Grid) Load(state *store.Image) error { return g.replace(state, true) }

func (g *Grid) replace(state *store.Image, follow bool) error {
	err := g.change(context.Background(), func() error {
		l, err := g.read(state, "snapshot")
		if err != nil {
			return err
		}
		g.writing.Replace(Prefix, state)
		if err := g.writing.Err(); err != nil {
			return err
		}
		if follow {
			l.follow(g)
		}
		g.takeLocked(l)
		return nil
	})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}
