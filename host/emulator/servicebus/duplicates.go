package servicebus

import (
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// history is the memory of duplicate detection: the identifiers that were
// accepted, for as long as the entity's window.
type history struct {
	partitioned bool // the partition key belongs to the identifier
	at          map[string]time.Time
	order       []string // by time
}

func (h *history) key(m *servicebus.Message) string {
	if key := partitionKey(m); h.partitioned && key != nil {
		return *key + "\x00" + m.MessageID
	}
	return m.MessageID
}

// duplicate reports whether the entity has accepted a message with this
// identifier within its window, and otherwise remembers it. The window does not
// begin anew with a duplicate (spec messaging 1.8).
func (e *entity) duplicate(op *operation, m *servicebus.Message) bool {
	if e.window == 0 {
		return false
	}
	h := &e.seen
	for len(h.order) > 0 && !h.at[h.order[0]].Add(e.window).After(op.now) {
		op.dropSeen(e, h.order[0])
		delete(h.at, h.order[0])
		h.order = h.order[1:]
	}
	key := h.key(m)
	if _, known := h.at[key]; known {
		return true
	}
	h.remember(key, op.now)
	op.saveSeen(e, key, op.now)
	return false
}

func (h *history) remember(key string, at time.Time) {
	if h.at == nil {
		h.at = map[string]time.Time{}
	}
	h.at[key] = at
	h.order = append(h.order, key)
}
