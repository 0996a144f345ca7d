// Package keep ties the memory of a service to the store in which it is kept: what
// every service does alike that lives in memory and writes each change through
// before it reports it.
//
// A service says what its state is with a [Kind] and gets from [New] two things.
// The [State] is for others: copies, replacements and checks of the whole state.
// The [Keeper] is for the service's own operations: [Keeper.Ready] before the
// memory is used, a [Change] for what an operation alters, [Keeper.Begin] under the
// service's mutex, [Keeper.Wait] after it. Without a store all of them do nothing,
// so that a service has one code for both. The service chooses its data and keys.
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

// Keeper writes the changes of one service through. The service's mutex guards it,
// except in Open and Wait.
type Keeper struct {
	keys  Keys
	clk   clock.Clock
	mu    *sync.Mutex // the service's
	load  func(v *store.View, dir string) error
	check func(r store.Reader) error
	count func(c *Change) // nil: nothing is counted

	db      *store.Store // nil: none
	opening uint64       // of db, from which the state was read; 0: none
	last    last
}

// Open ties the service to a store and reads its state. From then on a state that the
// service could not be read from is refused by Load of db, by whomever.
//
// The service lives in memory as before; each change is written through before it is
// reported. When it cannot be written, the call fails with bindings.ErrUnavailable,
// nothing has happened as far as anybody can see, and the next call reads the state
// from db again.
//
// With store.Options.Sync a write takes the disk's time, during which the clock
// stands still and others have their turn; otherwise the caller keeps the turn. A
// read then waits for the writes that it shows: no answer tells a change that a
// loss of power could take back.
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

// Ready makes sure that memory agrees with the store: it reads the state when that
// has not been done yet, or when it was replaced, or when the store has failed and
// was opened again. It fails with bindings.ErrUnavailable.
func (k *Keeper) Ready() error {
	if k.db == nil {
		return nil
	}
	opening, err := k.db.Ready()
	if err == nil && opening != k.opening {
		k.opening = opening
		if err = k.read(); err != nil {
			k.opening = 0
		}
	}
	if err != nil {
		return Unavailable(err)
	}
	return nil
}

// Opening is the opening of the store from which the state was read, 0
// without a store and while the state has to be read again. It names a
// state to which something belongs that may come too late.
func (k *Keeper) Opening() uint64 { return k.opening }

func (k *Keeper) read() error {
	v, err := k.db.View()
	if err != nil {
		return err
	}
	return errors.Join(k.load(v, k.db.Dir()), v.Close())
}

// IsOpening reports whether an opening is still the store's, or 0 without a store.
// The mutex need not be held.
func (k *Keeper) IsOpening(opening uint64) bool {
	return k.db == nil || k.db.IsOpening(opening)
}

// Change returns an empty change of the state that Ready has seen. Once something was
// set it must not outlive the next Ready.
func (k *Keeper) Change() Change { return Change{of: k} }

// Begin begins to write a change. Without one, it returns the writes that have to
// be done before an answer may show the state. After an error memory is ahead of
// the store, and the next Ready reads it again. So it is with others, other keepers
// of the same store whose memory the change has altered too.
func (k *Keeper) Begin(c *Change, others ...*Keeper) (Awaited, error) {
	if c.batch == nil {
		if c.err != nil {
			k.ahead(others)
		}
		return k.Pending(), c.err
	}
	k.stamp(c)
	for _, other := range others {
		other.stamp(c)
	}
	commit, err := k.db.Begin(c.batch)
	if err != nil {
		k.ahead(others)
		return Awaited{}, Unavailable(err)
	}
	k.last.begun(commit, k.db, k.opening)
	for _, other := range others {
		other.last = k.last
	}
	return Awaited{commit: commit, own: true}, nil
}

// ahead makes the next Ready read the state again.
func (k *Keeper) ahead(others []*Keeper) {
	k.opening = 0
	for _, other := range others {
		other.opening = 0
	}
}

// Tidy writes a change that removes what the memory has forgotten already: that it
// cannot be written is no harm. Unlike Begin it waits.
func (k *Keeper) Tidy(c *Change) {
	if c.batch != nil {
		_ = k.db.Apply(c.batch)
	}
}

// stamp writes what every change changes.
func (k *Keeper) stamp(c *Change) {
	if k.count != nil {
		k.count(c)
	}
	if k.keys.Time != "" {
		c.setTime(k.keys.Time, k.clk.Now())
	}
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

// Operate runs an operation between its fault points: not at all when ctx is over, when
// the first point fails, or when it adds data and a change would not be taken. The error
// of the second comes after the effect. ErrNoEffect at the first point means success
// without one.
func (k *Keeper) Operate(ctx context.Context, adds bool, fault func(after bool) error, run func() error) error {
	err := ctx.Err()
	if err == nil {
		err = fault(false)
	}
	if err == nil && adds {
		err = k.Writable()
	}
	if err == nil {
		err = run()
	}
	if err == nil {
		err = fault(true)
	}
	if err == ErrNoEffect {
		return nil
	}
	return err
}

// ErrNoEffect is a fault that lets an operation do nothing, and succeed.
var ErrNoEffect = errors.New("the operation succeeds without an effect")

// Tolerable reports whether a read may be answered although the changes of passing
// time could not be written: no other answer has shown them.
func Tolerable(err error) bool { return errors.Is(err, store.ErrReadOnly) }

// Pending are the writes that have to end before anybody may be told the state.
func (k *Keeper) Pending() Awaited { return k.last.pending(k.opening) }

// Wait returns when what Begin has begun is written. Others may call meanwhile:
// their changes follow, and are not written if this one is not. The service's
// mutex must not be held.
func (k *Keeper) Wait(ctx context.Context, a Awaited) error { return a.wait(ctx, k.clk, k.db) }

// Unavailable is err as services report it.
func Unavailable(err error) error { return fmt.Errorf("%w: %w", bindings.ErrUnavailable, err) }

// ErrReplaced is the error of calls on objects of a state that was replaced.
var ErrReplaced = errors.New("the state was replaced")
