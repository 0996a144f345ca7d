package store

import (
	"errors"
	"fmt"
	"time"
)

// Waits between openings that fail, in real time: the first, and the longest; the same
// between tries to write after which the state has to be opened again. The watcher of an
// outage tries as often as watchEvery says, when no other call does.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 10 * time.Second
	watchEvery = time.Second
)

// settleFor is how long writes must have been taken before the end of an outage is
// told: on a disk that has just run full the room that is given back does not last.
const settleFor = 500 * time.Millisecond

// outage is a time during which writes are refused. It begins when one fails. What is kept
// stays as it was: a write that fails leaves nothing. The outage ends when a write succeeds,
// which each call that wants to write tries, and the watcher.
//
// An outage may begin with an engine that has failed, because the disk did not keep what it
// had taken. The state is then opened again, with what is on the disk for certain; openings
// that fail are spaced out.
type outage struct {
	reason error
	open   pause         // after openings that failed
	write  pause         // after tries to write that cost an opening
	gave   bool          // the reserve has been given up
	free   uint64        // what was free after that, at the least
	over   chan struct{} // closed at its end
	again  chan struct{} // closed when another goes on with it before its end is told
	goesOn bool          // with another whose end has not been told
	before chan struct{} // closed when all of the outage before has been told; nil: none
	told   chan struct{} // closed when all of this one has been
}

// pause keeps what has failed from being done again too soon.
type pause struct {
	wait time.Duration
	next time.Time // not before
}

func (p *pause) failed() {
	p.wait = min(max(2*p.wait, retryFirst), retryLast)
	p.next = time.Now().Add(p.wait)
}

func (p *pause) over() bool { return !time.Now().Before(p.next) }

// putLocked puts an engine in the place of the present one. What owners know is void.
func (s *Store) putLocked(e *engine) {
	s.e = e
	s.opening++
	failing := func(err error) { go s.begins(e, err) } // the engine holds its locks
	e.failing.Store(&failing)
	if err := e.failed(); err != nil {
		go s.begins(e, err)
	}
}

func (s *Store) endOutageLocked() {
	if s.outage != nil {
		close(s.outage.over)
		s.ending, s.outage = s.outage, nil
	}
}

// begins begins an outage, unless it has begun or the engine is another by now.
func (s *Store) begins(e *engine, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.e != e || s.outage != nil {
		return
	}
	o := &outage{reason: reason, over: make(chan struct{}), again: make(chan struct{}), before: s.told, told: make(chan struct{})}
	if s.ending != nil {
		close(s.ending.again)
		s.ending, o.goesOn = nil, true
	}
	s.outage, s.told = o, o.told
	s.watching.Add(1)
	go s.watch(o, reason)
}

// watch tells of an outage and lets it end without a write.
func (s *Store) watch(o *outage, reason error) {
	defer s.watching.Done()
	defer close(o.told)
	if o.before != nil {
		<-o.before
	}
	tell := s.opts.Refusing
	if tell == nil {
		tell = func(error) {}
	}
	if !o.goesOn {
		tell(reason)
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-o.over:
			if s.settled(o) {
				tell(nil)
			}
			return
		case <-tick.C:
			s.reclaim()
			_ = s.takeWrites() // as a write would; it tells the writers
		}
	}
}

// settled waits until the end of an outage has lasted, and reports whether it has.
func (s *Store) settled(o *outage) bool {
	select {
	case <-o.again:
		return false
	case <-s.closing:
		return false
	case <-time.After(settleFor):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending != o || s.closed {
		return false
	}
	s.ending = nil
	return true
}

// Writable returns nil when a batch would be taken now, and otherwise why not. Owners
// who ask before they change their memory need not read it again.
func (s *Store) Writable() error { return s.takeWrites() }

// reopen opens a store that has failed again.
func (s *Store) reopen() error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	return s.reopenReplacing()
}

func (s *Store) reopenReplacing() error {
	s.mu.Lock()
	before := s.e
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	if before != nil && before.failed() == nil {
		s.mu.Unlock()
		return nil
	}
	if before != nil {
		s.mu.Unlock()
		s.begins(before, before.failed())
		s.mu.Lock()
	}
	if o := s.outage; o != nil && !o.open.over() {
		defer s.mu.Unlock()
		return refusal(o.reason)
	}
	s.e = nil
	s.mu.Unlock()
	if before != nil {
		s.upTo = before.durable()
		before.retire()
	}
	e, err := openEngine(s.under, s.dir, s.state, s.upTo, &s.opts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if o := s.outage; o != nil {
			o.open.failed()
			o.reason = err
		}
		return refusal(err)
	}
	s.putLocked(e)
	return nil
}

// takeWrites makes a store that refuses writes one that takes them again, if they would
// succeed.
func (s *Store) takeWrites() error {
	if s.takesWrites() {
		return nil
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	if err := s.reopenReplacing(); err != nil {
		return err
	}
	s.mu.Lock()
	o, e := s.outage, s.e
	var soon error
	if o != nil && !o.write.over() {
		soon = refusal(o.reason)
	}
	s.mu.Unlock()
	if o == nil || soon != nil {
		return soon
	}
	err := s.roomAgain(e, o)
	if err == nil {
		err = e.try()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outage != o {
		return s.errLocked()
	}
	if err != nil {
		o.reason = explain(s.dir, err)
		if e.failed() != nil {
			o.write.failed()
		}
		return refusal(o.reason)
	}
	s.endOutageLocked()
	return nil
}

func (s *Store) takesWrites() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errLocked() == nil && s.outage == nil
}

// refusal is the error of a write for a reason.
func refusal(reason error) error { return fmt.Errorf("%w: %w: %w", ErrReadOnly, ErrFailed, reason) }

// begin begins a batch, unless writes are refused.
func (s *Store) begin(b *Batch) (*Commit, error) {
	s.mu.Lock()
	refuses := s.outage != nil
	removes := b.removes() && (!refuses || errors.Is(s.outage.reason, ErrDiskFull))
	s.mu.Unlock()
	if refuses && removes {
		s.makeRoom(b)
	} else if refuses {
		if err := s.takeWrites(); err != nil {
			return nil, err
		}
	}
	c, err := b.e.begin(b)
	unwritten, ok := errors.AsType[unwrittenError](err)
	if !ok {
		if !refuses {
			s.growReserve(b.e)
		}
		return c, err
	}
	s.begins(b.e, unwritten.error)
	if removes && errors.Is(err, ErrDiskFull) && s.makeRoom(b) {
		if c, again := b.e.begin(b); again == nil {
			return c, nil
		}
	}
	return nil, refusal(unwritten.error)
}

// try writes a frame without a meaning.
func (e *engine) try() error {
	e.mu.Lock()
	err := e.failed()
	if err == nil {
		err = e.addLocked(appendLog(newFrame(), 0, 0))
	}
	number := e.log.number
	e.mu.Unlock()
	if err != nil {
		return err
	}
	return e.syncTo(number)
}
