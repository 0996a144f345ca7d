package scenario

import (
	"fmt"
	"slices"
	"sync"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// lineage knows which message a redriven one was before, so that scripts go on with it: it is
// the same message to whoever sent it.
type lineage struct {
	mu   sync.Mutex
	host *hosttest.Host
}

func (l *lineage) set(h *hosttest.Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.host = h
}

// before are the names that scripts have for a message that an ID means, before it was moved:
// the newest first. A queue gives it another ID when it becomes poison and when it comes
// back, Service Bus another number.
func (l *lineage) before(id string) (list []string) {
	l.mu.Lock()
	h := l.host
	l.mu.Unlock()
	if h == nil {
		return nil
	}
	for _, rec := range slices.Backward(h.Journal().Records()) {
		switch {
		case slices.ContainsFunc(rec.Fields, func(f journal.Field) bool { return f.Key == "new_message_id" && f.Value == id }):
			id = rec.MessageID
			list = append(list, id)
		case rec.Kind == journal.Forwarded && rec.Cause == "redrive" && rec.MessageID == id && rec.MessageNumber > 0:
			list = append(list, id+fmt.Sprint(rec.MessageNumber))
		}
	}
	return list
}

// continued hands on what a script has done with a message before it was redriven.
func (p *player) continued(message, id string) {
	if p.before == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.done[message]; known {
		return
	}
	for _, earlier := range p.before.before(id) {
		if n, ok := p.done[earlier]; ok {
			p.done[message] = n
			return
		}
	}
}
