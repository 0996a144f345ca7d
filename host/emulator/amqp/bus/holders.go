package bus

import "sync"

// holders knows which session each link of a connection holds. The Go client names
// no session in its requests to $management, only the link on which it has one
// (azservicebus: internal/mgmt.go, associated-link-name).
type holders struct {
	mu sync.Mutex
	by map[holder]string
}

// holder is a link by its name, which is unique in its connection.
type holder struct{ connection, link string }

func (h *holders) put(at holder, session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[holder]string{}
	}
	h.by[at] = session
}

func (h *holders) get(at holder) (session string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	session, ok = h.by[at]
	return session, ok
}

func (h *holders) forget(at holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.by, at)
}
