package bus

import (
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// holders knows the sessions that links have been given, until the links are gone.
// Requests to $management name the link for which they speak (associated-link-name),
// and the Go client names nothing else (azservicebus: internal/mgmt.go).
type holders struct {
	mu sync.Mutex
	by map[holder]hold
}

// holder is a link by its name, which is unique in its connection.
type holder struct{ connection, link string }

// hold is the session that a link was given, and may have lost since.
type hold struct {
	session servicebus.Session
	mode    servicebus.ReceiveMode
}

func (h *holders) put(at holder, s hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[holder]hold{}
	}
	h.by[at] = s
}

// find returns what the links have that a request may speak for: the link that it
// names, of its own connection if there is one of that name, and otherwise of any;
// or without a name all links of its connection.
func (h *holders) find(connection, link string) (list []hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if own, ok := h.by[holder{connection, link}]; ok {
		return []hold{own}
	}
	for at, s := range h.by {
		if link == at.link || link == "" && connection == at.connection {
			list = append(list, s)
		}
	}
	return list
}

// forget forgets what a link was given. A link of the same name may have come since.
func (h *holders) forget(at holder, session servicebus.Receiver) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by[at].session == session {
		delete(h.by, at)
	}
}

// is reports whether it is that session of that source.
func (h hold) is(source, session string) bool {
	return h.session.SessionID() == session && strings.EqualFold(h.session.Source(), source)
}
