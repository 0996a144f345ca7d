package keep

import (
	"context"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
)

// last is the last commit that has begun, where commits take time. Every
// answer about the state waits for it, so that none shows what a loss of
// power takes back. The zero value is none.
type last struct {
	commit  *store.Commit
	opening uint64
}

// begun notes a commit to the state of an opening of db.
func (l *last) begun(commit *store.Commit, db *store.Store, opening uint64) {
	if db.Sync() {
		*l = last{commit, opening}
	}
}

// pending is the commit if it belongs to the state of an opening and is not durable
// yet.
func (l *last) pending(opening uint64) Awaited {
	if l.commit == nil || l.opening != opening || l.commit.Durable() {
		return Awaited{}
	}
	return Awaited{commit: l.commit}
}

// Awaited is a commit that is waited for; the zero value is none.
type Awaited struct {
	commit *store.Commit
	own    bool
}

// wait returns when the commit is durable; with store.Options.Sync that takes the
// disk's time. It gives others their turn meanwhile for the sake of its own commit
// only: the state of another's commit depends on the disk, and the order of turns
// must not. It fails with bindings.ErrUnavailable.
func (a Awaited) wait(ctx context.Context, clk clock.Clock, db *store.Store) (err error) {
	switch {
	case a.commit == nil:
		return nil
	case a.own && db.Sync():
		clk.Outside(ctx, "write to disk", func() { err = a.commit.Wait() })
	default:
		err = a.commit.Wait()
	}
	if err != nil {
		return Unavailable(err)
	}
	return nil
}

// WaitOwn waits only for a commit of the operation itself, and keeps the turn: for
// changes that no answer shows.
func (a Awaited) WaitOwn() error {
	if !a.own {
		return nil
	}
	return a.commit.Wait()
}
