package account

import (
	"sync"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Image is most of a [Service] whose copies are images of its keys: all but what is in
// them. A service embeds it.
type Image[T any] struct {
	mu    *sync.Mutex
	state *keep.State[T]
	kept  *keep.Keeper
}

// NewImage returns the Image of a service whose mutex is mu.
func NewImage[T any](clk clock.Clock, mu *sync.Mutex, kind keep.Kind[T]) Image[T] {
	state, kept := keep.New(clk, mu, kind)
	return Image[T]{mu, state, kept}
}

// Keeper implements Service.
func (i Image[T]) Keeper() *keep.Keeper { return i.kept }

// Mutex implements Service.
func (i Image[T]) Mutex() *sync.Mutex { return i.mu }

// Open implements Service.
func (i Image[T]) Open(db *store.Store) error { return i.kept.Open(db) }

// Check implements Service.
func (i Image[T]) Check(r store.Reader) error { return i.state.Check(r) }

// Copy implements Service.
func (i Image[T]) Copy() (State, error) {
	image, err := i.state.Snapshot()
	if err != nil {
		return nil, err
	}
	return image, nil
}

// Replacing implements Service.
func (i Image[T]) Replacing(state State, follow bool) (func(c *keep.Change), error) {
	image := &store.Image{}
	if state != nil {
		image = state.(*store.Image)
	}
	from := keep.Origin{Follow: true}
	if !follow {
		from = keep.Origin{Epoch: image.Epoch}
	}
	return i.state.Replacing(image, from)
}
