package azure

import (
	"context"
	"sync"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// gate lets one Receive at a time through until it is closed: the clients allow no
// more.
type gate struct {
	turn   chan struct{} // holds the turn
	closed chan struct{}
	once   sync.Once
}

func newGate() *gate {
	return &gate{turn: make(chan struct{}, 1), closed: make(chan struct{})}
}

// enter takes the turn, unless within ends before: then it returns ctx's error, or
// none when ctx goes on. It fails with ErrClosed.
func (g *gate) enter(ctx, within context.Context) (ok bool, err error) {
	select {
	case g.turn <- struct{}{}:
		return true, nil
	case <-g.closed:
		return false, messaging.ErrClosed
	case <-within.Done():
		return false, ctx.Err()
	}
}

func (g *gate) leave() { <-g.turn }

func (g *gate) isClosed() bool {
	select {
	case <-g.closed:
		return true
	default:
		return false
	}
}

// shut closes the gate, and runs f if that is news.
func (g *gate) shut(f func() error) (err error) {
	g.once.Do(func() {
		close(g.closed)
		err = f()
	})
	return err
}
