package storage

import queueapi "github.com/redeliver/redeliver/bindings/queue"

// Messages returns all messages of a queue with their receipts, by id.
func Messages(s *Storage, queue string) map[string]*queueapi.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*queueapi.Message{}
	if q := s.queues[queue]; q != nil {
		for _, m := range q.byID {
			out[m.id.String()] = m.copy()
		}
	}
	return out
}
