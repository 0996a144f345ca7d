package host

import "sync"

// maxPoisonErrors is how many poison messages the host remembers the error of.
const maxPoisonErrors = 10_000

// poisonErrors remembers, outside the messages, why they are poison
// (spec storage 4.2): a message has no room for it. The oldest are forgotten first,
// and all of them when the process ends. Its methods may be called concurrently.
type poisonErrors struct {
	mu   sync.Mutex
	byID map[string]string // by the ID that the poison message has
	ids  []string          // in order of their coming
}

func (p *poisonErrors) add(id, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID == nil {
		p.byID = map[string]string{}
	}
	if len(p.ids) == maxPoisonErrors {
		delete(p.byID, p.ids[0])
		p.ids = p.ids[1:]
	}
	p.byID[id] = text
	p.ids = append(p.ids, id)
}

func (p *poisonErrors) of(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byID[id]
}

func (p *poisonErrors) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byID, p.ids = nil, nil
}

// PoisonError returns the failure that made a message poison: of the last attempt,
// or of the decoding of its body. messageID is the ID that it has as a poison
// message. The failure is empty if this host did not see it: an earlier host gave
// the message up, or it was moved without a run because it was delivered too
// often. The host remembers the latest 10,000, until it is reset.
func (h *Host) PoisonError(messageID string) string { return h.poisoned.of(messageID) }
