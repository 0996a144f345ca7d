package journal

import "context"

// Subscription follows a journal at the reader's own pace. It holds a place in
// the journal, not a queue of its own: a slow reader costs nothing until the
// records that it has not read are no longer kept, and is then told how many
// it missed. A Subscription is used by one goroutine, outside the clock.
type Subscription struct {
	j     *Journal
	next  uint64
	epoch int
	wake  chan struct{} //clock:outside readers follow in real time
}

// Subscribe starts a subscription with the record of that sequence number; 1
// is the first, Len()+1 the next one.
func (j *Journal) Subscribe(from uint64) *Subscription {
	s := &Subscription{j: j, next: from, wake: make(chan struct{}, 1)} //clock:outside readers follow in real time
	j.mu.Lock()
	s.epoch = j.epoch
	j.changed[s.wake] = struct{}{}
	j.mu.Unlock()
	return s
}

// Next returns the next record, waiting for it in real time, and the number of
// records missed just before it because they were no longer kept. It returns
// ctx's error when that ends first.
func (s *Subscription) Next(ctx context.Context) (r Record, missed uint64, err error) {
	for {
		if r, missed, ok := s.TryNext(); ok {
			return r, missed, nil
		}
		if err := s.Wait(ctx); err != nil {
			return Record{}, 0, err
		}
	}
}

// Wait waits in real time until a record was appended since the last Wait, or returns
// ctx's error.
func (s *Subscription) Wait(ctx context.Context) error {
	select { //clock:outside readers follow in real time
	case <-s.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryNext is Next without waiting: ok is false when there is no further record
// yet.
func (s *Subscription) TryNext() (r Record, missed uint64, ok bool) {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	if s.epoch != s.j.epoch { // the journal was reset
		s.next, s.epoch = 1, s.j.epoch
	}
	if s.next >= s.j.next {
		return Record{}, 0, false
	}
	if s.next < s.j.first {
		missed = s.j.first - s.next
		s.next = s.j.first
	}
	s.j.loadLocked(&r, s.next)
	s.next++
	return r, missed, true
}

// Close ends the subscription. It does not wait and may be called twice.
func (s *Subscription) Close() {
	s.j.mu.Lock()
	defer s.j.mu.Unlock()
	delete(s.j.changed, s.wake)
}
