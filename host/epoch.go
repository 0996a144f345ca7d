package host

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator"
)

// An epoch is the life of one state of the embedded services, from the start or from
// the moment at which it took the place of another, until it is replaced itself.
//
// Listeners reach the embedded services through the epoch in which they began. When
// it is over, every call that they still make fails with errReplaced and does
// nothing: whatever they settle, renew, write down or receive belongs to a state
// that is no more.
type epoch struct {
	number int // from 0
	over   atomic.Bool
}

// errReplaced is the error of calls that a listener makes for a state that was
// replaced. To the listener its message, lock or lease is gone.
var errReplaced = fmt.Errorf("the state was replaced meanwhile: %w", bindings.ErrMessageNotFound)

// during makes a call for a listener. What the call brings although the epoch ended
// under way is of no use to it either.
func during[T any](ctx context.Context, e *epoch, f func(ctx context.Context) (T, error)) (T, error) {
	var none T
	if e.over.Load() {
		return none, errReplaced
	}
	v, err := f(ctx)
	if e.over.Load() {
		return none, errReplaced
	}
	return v, err
}

func duringOnly(ctx context.Context, e *epoch, f func(ctx context.Context) error) error {
	_, err := during(ctx, e, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// endEpoch ends the present epoch, since the state of the embedded services has been
// replaced or is about to be, and with it what the listeners of the running app
// receive. resume lets them start from the new state.
func (h *Host) endEpoch() (resume func()) {
	old := h.epoch.Load()
	h.epoch.Store(&epoch{number: old.number + 1})
	old.over.Store(true)
	g := h.current.Load()
	if g == nil {
		return func() {}
	}
	over := g.endTurns()
	return func() { g.listenAgain(over) }
}

// isEmbedded reports whether an account is one of this host, with the others' state.
func (h *Host) isEmbedded(account any) bool {
	s, ok := account.(*emulator.Storage)
	if !ok {
		return false
	}
	for _, own := range h.accounts.byName {
		if s == own {
			return true
		}
	}
	return false
}

// queuesIn returns a queue account as a listener of the epoch reaches it, and whether
// it is an embedded one.
func (h *Host) queuesIn(e *epoch, a queue.Account) (queue.Account, bool) {
	if !h.isEmbedded(a) {
		return a, false
	}
	own := a.(*emulator.Storage)
	return epochQueues{pastQueues{trip{epoch: e}, a}, own, own}, true
}

type epochQueues struct {
	pastQueues
	queue.Waker
	queue.Foresight
}

// blobsIn is queuesIn for blobs.
func (h *Host) blobsIn(e *epoch, a blob.Account) (blob.Account, bool) {
	if !h.isEmbedded(a) {
		return a, false
	}
	return epochBlobs{pastBlobs{trip{epoch: e}, a}, a.(*emulator.Storage)}, true
}

type epochBlobs struct {
	pastBlobs
	blob.Waker
}

// epochCosmos is the embedded Cosmos DB account as a listener of an epoch reaches it.
type epochCosmos struct {
	*epoch
	account cosmos.Account
}

func (c epochCosmos) AccountHost() string { return c.account.AccountHost() }

func (c epochCosmos) Container(ctx context.Context, database, container string) (cosmos.Container, error) {
	return c.container(ctx, func(ctx context.Context) (cosmos.Container, error) {
		return c.account.Container(ctx, database, container)
	})
}

func (c epochCosmos) CreateContainer(ctx context.Context, spec cosmos.ContainerSpec) (cosmos.Container, error) {
	return c.container(ctx, func(ctx context.Context) (cosmos.Container, error) {
		return c.account.CreateContainer(ctx, spec)
	})
}

func (c epochCosmos) container(ctx context.Context, f func(ctx context.Context) (cosmos.Container, error)) (cosmos.Container, error) {
	of, err := during(ctx, c.epoch, f)
	if err != nil {
		return nil, err
	}
	return epochContainer{c.epoch, of}, nil
}

// epochContainer is a container of epochCosmos.
type epochContainer struct {
	*epoch
	of cosmos.Container
}

var (
	_ cosmos.Container = epochContainer{}
	_ cosmos.Watcher   = epochContainer{}
)

func (c epochContainer) Info() cosmos.ContainerInfo { return c.of.Info() }

func (c epochContainer) Ranges(ctx context.Context) ([]cosmos.Range, error) {
	return during(ctx, c.epoch, c.of.Ranges)
}

func (c epochContainer) Create(ctx context.Context, document []byte) (*cosmos.Item, error) {
	return during(ctx, c.epoch, func(ctx context.Context) (*cosmos.Item, error) { return c.of.Create(ctx, document) })
}

func (c epochContainer) Upsert(ctx context.Context, documents ...[]byte) ([]*cosmos.Item, error) {
	return during(ctx, c.epoch, func(ctx context.Context) ([]*cosmos.Item, error) { return c.of.Upsert(ctx, documents...) })
}

func (c epochContainer) Replace(ctx context.Context, document []byte, ifMatch string) (*cosmos.Item, error) {
	return during(ctx, c.epoch, func(ctx context.Context) (*cosmos.Item, error) { return c.of.Replace(ctx, document, ifMatch) })
}

func (c epochContainer) Delete(ctx context.Context, id string, key cosmos.Key, ifMatch string) error {
	return duringOnly(ctx, c.epoch, func(ctx context.Context) error { return c.of.Delete(ctx, id, key, ifMatch) })
}

func (c epochContainer) Read(ctx context.Context, id string, key cosmos.Key) (*cosmos.Item, error) {
	return during(ctx, c.epoch, func(ctx context.Context) (*cosmos.Item, error) { return c.of.Read(ctx, id, key) })
}

func (c epochContainer) Items(ctx context.Context, prefix string) ([]*cosmos.Item, error) {
	return during(ctx, c.epoch, func(ctx context.Context) ([]*cosmos.Item, error) { return c.of.Items(ctx, prefix) })
}

func (c epochContainer) Changes(ctx context.Context, rangeID string, from cosmos.Position, limit int) (cosmos.Changes, error) {
	return during(ctx, c.epoch, func(ctx context.Context) (cosmos.Changes, error) {
		return c.of.Changes(ctx, rangeID, from, limit)
	})
}

func (c epochContainer) Watch(rangeID string, changed func()) (stop func()) {
	if w, ok := c.of.(cosmos.Watcher); ok {
		return w.Watch(rangeID, changed)
	}
	return func() {}
}

// trip is the way of a listener's call to an embedded service.
type trip struct{ epoch *epoch }

func away[T any](ctx context.Context, t trip, f func(ctx context.Context) (T, error)) (T, error) {
	return during(ctx, t.epoch, f)
}

func awayOnly(ctx context.Context, t trip, f func(ctx context.Context) error) error {
	return duringOnly(ctx, t.epoch, f)
}

// last is for calls that end the use of something: they are made also when an epoch is
// over.
func last(ctx context.Context, _ trip, f func(ctx context.Context) error) error { return f(ctx) }
