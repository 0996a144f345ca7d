package azure

import (
	"maps"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings"
)

// holdings are the messages that receivers of a namespace have handed out, by lock
// token: the client settles only what it has made itself.
type holdings struct {
	mu    sync.Mutex
	byTok map[bindings.GUID]*holding
	sweep int // number of entries at which the next sweep removes ended ones
}

// holding is a message that was handed out.
type holding struct {
	m    *azservicebus.ReceivedMessage
	from *receiver
	link int64 // of the receiver's links, by number
}

const firstSweep = 1024

func (h *holdings) add(held *holding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byTok == nil {
		h.byTok, h.sweep = map[bindings.GUID]*holding{}, firstSweep
	}
	if len(h.byTok) >= h.sweep {
		long := time.Now().Add(-longestLock)
		maps.DeleteFunc(h.byTok, func(_ bindings.GUID, held *holding) bool {
			return held.m.LockedUntil != nil && held.m.LockedUntil.Before(long)
		})
		h.sweep = max(firstSweep, 2*len(h.byTok))
	}
	h.byTok[held.m.LockToken] = held
}

// longestLock is how long a lock can last (spec messaging 1.1). Sessions renew without
// telling their messages, so that a message is kept much longer than it says.
const longestLock = 24 * time.Hour

func (h *holdings) get(token bindings.GUID) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byTok[token]
}

func (h *holdings) remove(token bindings.GUID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.byTok, token)
}

// hasLink reports whether the message's link is there, as far as is known.
func (h *holding) hasLink() bool { return h.from.links.Load() == h.link }

// withoutLink is the message as the client settles it by $management: the lock token
// counts, not the link (spec messaging 1.2).
func (h *holding) withoutLink() *azservicebus.ReceivedMessage {
	m := *h.m
	m.RawAMQPMessage = nil
	return &m
}
