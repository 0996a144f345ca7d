package process

import "sync"

// Inbox is a queue between a goroutine of the real world and one that waits
// outside the clock. Putting something in does not wait. The zero Inbox is
// ready.
type Inbox[T any] struct {
	mu     sync.Mutex    // guards:
	filled chan struct{} //clock:outside what a process says
	list   []T
	err    error // after list
}

// Put adds v.
func (b *Inbox[T]) Put(v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.list = append(b.list, v)
	b.ringLocked()
}

// Waiting reports whether Next would return at once with something.
func (b *Inbox[T]) Waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.list) > 0
}

// End makes Next fail with err when all has been taken. The first error counts.
func (b *Inbox[T]) End(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	b.ringLocked()
}

// ringLocked wakes who waits.
func (b *Inbox[T]) ringLocked() {
	if b.filled != nil {
		close(b.filled)
		b.filled = nil
	}
}

// Next waits for something and takes it. One goroutine at a time calls it.
func (b *Inbox[T]) Next() (T, error) {
	for {
		b.mu.Lock()
		if len(b.list) > 0 {
			v := b.list[0]
			var none T
			b.list[0] = none
			b.list = b.list[1:]
			b.mu.Unlock()
			return v, nil
		}
		if b.err != nil {
			defer b.mu.Unlock()
			var none T
			return none, b.err
		}
		if b.filled == nil {
			b.filled = make(chan struct{}) //clock:outside what a process says
		}
		filled := b.filled
		b.mu.Unlock()
		<-filled //clock:outside what a process says
	}
}
