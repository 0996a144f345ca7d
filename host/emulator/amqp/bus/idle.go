package bus

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// idleTime is how long a link may go unused; then it is detached, and the connection goes
// on. Credit that waits for messages is no use of a link, nor are heartbeats (docs: AMQP
// errors in Azure Service Bus, "Link is closed"; azure-sdk-for-python issues 10127 and
// 18795, azure-service-bus-java issue 224).
const idleTime = 10 * time.Minute

// idle detaches a link of which no use is made, by the clock of the namespace. Time does
// not jump for its sake.
type idle struct {
	clk   clock.Clock
	last  atomic.Int64 // use, in nanoseconds since 1970
	timer *clock.Timer
}

// watchIdle begins to watch a new link, in the clock. The kind is publisher or consumer.
func (b *Backend) watchIdle(r *amqp.AttachRequest, kind, class string) *idle {
	i := &idle{clk: b.clk}
	i.used()
	number := b.links.Add(1)
	i.timer = b.clk.AfterFunc(idleTime, "idle time of the link "+r.Name, func() {
		if rest := idleTime - i.clk.Now().Sub(time.Unix(0, i.last.Load())); rest > 0 {
			i.timer.Reset(rest)
			return
		}
		r.Detach(&wire.Error{Condition: wire.CondDetachForced, Description: fmt.Sprintf(
			"The link '%s:%s' is force detached. Code: %s(link%d). Details: %s.IdleTimerExpired: Idle timeout: 00:10:00.",
			r.Connection, r.Name, kind, number, class)})
	})
	return i
}

// used notes a use of the link.
func (i *idle) used() { i.last.Store(i.clk.Now().UnixNano()) }

// end ends the watch, in the clock.
func (i *idle) end() { i.timer.Stop() }
