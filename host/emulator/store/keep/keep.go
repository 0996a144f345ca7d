// Package keep ties the memory of a service to the store in which it is kept: what
// every service does alike that lives in memory and writes each change through
// before it reports it.
//
// Read [Keeper] first: [Keeper.Ready] before the memory is used, a [Change] for what
// an operation alters, [Keeper.Begin] under the service's mutex, [Keeper.Wait]
// after it. Without a store all of them do nothing, so that a service has one code
// for both. What is kept, and under which keys, is the service's.
package keep

import (
	"context"
	"errors"
	"fmt"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Keeper is the store of one service. The service's mutex guards it, but for Wait.
// A Keeper of no store is that of a service that lives in memory only.
type Keeper struct {
	clk     clock.Clock
	db      *store.Store // nil: none
	opening uint64       // of db, from which the state was read; 0: none
	last    Last
}

// New returns the keeper of a service in db, which may be nil.
func New(clk clock.Clock, db *store.Store) Keeper { return Keeper{clk: clk, db: db} }

// Ready sees to it that what is in memory is what the store holds: it calls load
// when the state has not been read yet, or was replaced, or when the store has
// failed and was opened again. dir names what is read, for errors. It fails with
// bindings.ErrUnavailable.
func (k *Keeper) Ready(load func(v *store.View, dir string) error) error {
	if k.db == nil {
		return nil
	}
	opening, err := k.db.Ready()
	if err == nil && opening != k.opening {
		err = k.read(load)
	}
	if err != nil {
		return Unavailable(err)
	}
	k.opening = opening
	return nil
}

func (k *Keeper) read(load func(v *store.View, dir string) error) error {
	v, err := k.db.View()
	if err != nil {
		return err
	}
	return errors.Join(load(v, k.db.Dir()), v.Close())
}

// Change returns an empty change of the state that Ready has seen. It must not
// outlive the next Ready.
func (k *Keeper) Change() Change {
	if k.db == nil {
		return Change{}
	}
	return Change{of: k}
}

// Begin begins to write a change. When there is none, it returns what has to be
// written before anybody may be told the state. After an error memory is ahead of
// the store, and the next Ready reads it again.
func (k *Keeper) Begin(c *Change) (Awaited, error) {
	if c.batch == nil {
		if c.err != nil {
			k.opening = 0
		}
		return k.Pending(), c.err
	}
	commit, err := k.db.Begin(c.batch)
	if err != nil {
		k.opening = 0
		return Awaited{}, Unavailable(err)
	}
	k.last.Is(commit, k.db, k.opening)
	return Awaited{commit: commit, own: true}, nil
}

// Writable returns nil when a change would be taken now. An operation that only adds
// asks before it alters the memory: what is refused later has to be read again. It
// fails with bindings.ErrUnavailable.
func (k *Keeper) Writable() error {
	if k.db == nil {
		return nil
	}
	if err := k.db.Writable(); err != nil {
		return Unavailable(err)
	}
	return nil
}

// Tolerable reports whether a read may be answered although what passing time had
// changed meanwhile could not be written: nobody else has seen anything of it.
func Tolerable(err error) bool { return errors.Is(err, store.ErrReadOnly) }

// Pending is what has to be written before anybody may be told the state.
func (k *Keeper) Pending() Awaited { return k.last.Pending(k.opening) }

// Wait returns when what Begin has begun is written. Others may call meanwhile:
// their changes follow, and are not written if this one is not. The service's
// mutex must not be held.
func (k *Keeper) Wait(ctx context.Context, a Awaited) error { return a.Wait(ctx, k.clk, k.db) }

// Unavailable is err as services report it.
func Unavailable(err error) error { return fmt.Errorf("%w: %w", bindings.ErrUnavailable, err) }

// ErrReplaced is what they get who still have something of a state that is no more.
var ErrReplaced = errors.New("the state was replaced")
