// Package keep ties the memory of a service to the store in which it is kept: what
// every service does alike that lives in memory and writes each change through
// before it reports it.
//
// A service says what its state is with a [Kind] and gets from [New] two things. The
// [State] is for others: copies, replacements and checks of the whole state. The
// [Keeper] is for the service's own operations: [Keeper.Ready] before the memory is
// used, a [Change] for what an operation alters, [Keeper.Begin] under the service's
// mutex, [Keeper.Wait] after it. Without a store all of them do nothing, so that a
// service has one code for both. What is kept, and under which keys, is the service's.
package keep

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// Keeper writes the changes of one service through. The service's mutex guards it, but
// for Open and Wait.
type Keeper struct {
	keys  Keys
	clk   clock.Clock
	mu    *sync.Mutex // the service's
	load  func(v *store.View, dir string) error
	check func(r store.Reader) error
	count func(c *Change) // nil: nothing is counted

	db      *store.Store // nil: none
	opening uint64       // of db, from which the state was read; 0: none
	last    Last
}

// Open ties the service to a store and reads its state. From then on a state that the
// service could not be read from is refused by Load of db, by whomever.
//
// The service lives in memory as before; each change is written through before it is
// reported. When it cannot be written, the call fails with bindings.ErrUnavailable,
// nothing has happened as far as anybody can see, and the next call reads the state
// from db again.
//
// With store.Options.Sync a write takes the disk's time, during which the clock stands
// still and others have their turn; otherwise the caller keeps the turn. A read then
// waits for the writes that it shows: nobody is told what a loss of power could take
// back.
func (k *Keeper) Open(db *store.Store) (err error) {
	k.db = db
	db.Check(func(v *store.View) error { return k.check(v) })
	k.clk.Inside("open "+k.keys.Name, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		err = k.Ready()
	})
	return err
}

// Ready sees to it that what is in memory is what the store holds: it reads the state
// when that has not been done yet, or when it was replaced, or when the store has
// failed and was opened again. It fails with bindings.ErrUnavailable.
func (k *Keeper) Ready() error {
	if k.db == nil {
		return nil
	}
	opening, err := k.db.Ready()
	if err == nil && opening != k.opening {
		err = k.read()
	}
	if err != nil {
		return Unavailable(err)
	}
	k.opening = opening
	return nil
}

func (k *Keeper) read() error {
	v, err := k.db.View()
	if err != nil {
		return err
	}
	return errors.Join(k.load(v, k.db.Dir()), v.Close())
}

// Change returns an empty change of the state that Ready has seen. Once something was
// set it must not outlive the next Ready.
func (k *Keeper) Change() Change { return Change{of: k} }

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
	k.stamp(c)
	commit, err := k.db.Begin(c.batch)
	if err != nil {
		k.opening = 0
		return Awaited{}, Unavailable(err)
	}
	k.last.Begun(commit, k.db, k.opening)
	return Awaited{commit: commit, own: true}, nil
}

// stamp writes what every change changes.
func (k *Keeper) stamp(c *Change) {
	if k.count != nil {
		k.count(c)
	}
	c.setTime(k.keys.Time, k.clk.Now())
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
