package servicebus

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// A service that cannot be reached is tried again after these times, doubled each time.
// Deliveries in work go on meanwhile.
const (
	outageMin = time.Second
	outageMax = 10 * time.Second
)

// outage is a service that cannot be reached, as seen by a listener that waits
// for it.
type outage struct{ pause time.Duration }

// wait reports whether the call that had this error is to be made again, after an
// idle wait. The end of ctx ends it, as any other error does.
func (o *outage) wait(ctx context.Context, r *run, err error) bool {
	if !errors.Is(err, bindings.ErrUnreachable) {
		o.pause = 0
		return false
	}
	o.pause = min(max(2*o.pause, outageMin), outageMax)
	return r.clk.Idle(ctx, o.pause) == nil
}
