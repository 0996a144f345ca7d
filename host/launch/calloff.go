package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// ErrCalledOff is wrapped by the error of a load that was called off. It says nothing
// about the app.
var ErrCalledOff = errors.New("the load was called off")

// Loads are the loads of a host. They wait for programs, and end with their caller or
// with the host.
type Loads struct {
	// CallOff ends the loads that are under way, and all later ones. It does not wait,
	// and may be called from anywhere, more than once.
	CallOff context.CancelFunc

	life context.Context
}

// NewLoads returns loads that nobody has called off.
func NewLoads() *Loads {
	life, callOff := context.WithCancel(context.Background()) //clock:outside loads wait for programs
	return &Loads{callOff, life}
}

// Load runs a load whose context, one of the real world, ends when ctx does or the loads
// are called off meanwhile, and not for what comes after it. What the load has made then
// is discarded; made is the zero value if it made nothing.
func Load[T comparable](ctx context.Context, of *Loads, load func(ctx context.Context) (T, error), discard func(T)) (made T, err error) {
	life, end := context.WithCancel(context.Background()) //clock:outside a load waits for programs
	gone, over := context.AfterFunc(ctx, end), context.AfterFunc(of.life, end)
	made, err = load(life)
	if gone() && over() {
		return made, err
	}
	var none T
	if made != none {
		discard(made)
	}
	return none, fmt.Errorf("%w: %w", ErrCalledOff, cmp.Or(ctx.Err(), context.Canceled))
}
