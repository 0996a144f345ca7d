package emulator

import "github.com/redeliver/redeliver/bindings"

// Messages returns all messages of a queue with their receipts, by id.
func Messages(s *Storage, queue string) map[string]*bindings.QueueMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*bindings.QueueMessage{}
	if q := s.queues[queue]; q != nil {
		for id, m := range q.byID {
			out[id] = m.copy()
		}
	}
	return out
}
