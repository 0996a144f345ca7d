package store

import (
	"errors"
	"path"
)

// The reserve is a file that keeps room on the disk for writes that make room: when
// the disk is full it is given up for batches that remove something, and for the cleaning
// of the log that makes use of that. Until it is there again, other batches are refused as
// before. Given up, it is an empty file: so another process knows of it.
const (
	reserveName  = "RESERVE"
	reserveLeast = 1 << 20 // less is of no use
	reserveShare = 2       // it takes no more than this part of the room there is
	roomToRemove = 256 << 10
	roomToAdd    = 1 << 20  // that has to be free beside a reserve before anything is added again
	plenty       = 64 << 20 // with so much free the disk is no longer full, whatever was given up

	// removalMost is how much a batch may write that is taken for a removal.
	removalMost = 64 << 10
)

func (s *Store) reservePath() string { return path.Join(s.dir, reserveName) }

// reserve returns the size of the reserve, and whether it was given up.
func (s *Store) reserve() (size int64, spent bool) {
	size, _, err := s.disk.Stat(s.reservePath())
	if err != nil {
		return 0, false
	}
	return size, size < reserveLeast
}

// keepReserve makes the reserve as large as it has to be, which is a segment and what
// removals take beside it, or as the disk allows. It reports whether there is one then.
func (s *Store) keepReserve(e *engine) bool {
	have, spent := s.reserve()
	want := e.limit.Load() + roomToAdd
	s.reserved.Store(want)
	free, err := s.disk.Free(s.dir)
	if have >= want || err != nil { // a file system in memory has no room to keep
		return have >= reserveLeast
	}
	want = min(want, (int64(free)+have)/reserveShare)
	if want < max(reserveLeast, have+1) {
		return have >= reserveLeast
	}
	open := s.disk.Reopen
	if have == 0 && !spent {
		open = s.disk.Create
	}
	f, err := open(s.reservePath())
	if err != nil {
		return have >= reserveLeast
	}
	if err = f.Allocate(want); err != nil {
		_ = f.Truncate(have) // what there is beside it is room
	}
	_ = f.Close() // nothing is in it
	if err != nil && have == 0 && !spent {
		_ = s.disk.Remove(s.reservePath())
	}
	return err == nil || have >= reserveLeast
}

// growReserve sees to it that the reserve goes with the segments.
func (s *Store) growReserve(e *engine) {
	if e.limit.Load()+roomToAdd > s.reserved.Load() && s.replacing.TryLock() {
		defer s.replacing.Unlock()
		s.keepReserve(e)
	}
}

// giveReserve gives the reserve up for the outage, and reports whether there was one.
func (s *Store) giveReserve() bool {
	if have, spent := s.reserve(); have == 0 || spent {
		return false
	}
	f, err := s.disk.Reopen(s.reservePath())
	if err != nil {
		return false
	}
	if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
		return false
	}
	s.noteGiven()
	return true
}

func (s *Store) noteGiven() {
	free, err := s.disk.Free(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outage != nil && err == nil {
		s.outage.gave, s.outage.free = true, free
	}
}

// begun makes the reserve of a store that has just been opened. If it was given up before,
// and there is no room for another, or none beside it, the store begins with an outage.
func (s *Store) begun() {
	_, spent := s.reserve()
	switch there := s.keepReserve(s.e); {
	case spent && !there:
		s.begins(s.e, ErrDiskFull)
		s.noteGiven()
	case there && !s.disk.hasFree(s.dir, roomToAdd):
		s.begins(s.e, ErrDiskFull)
	}
}

// makeRoom gives the reserve up for a batch that finds no room. It reports whether there is
// any.
func (s *Store) makeRoom(b *Batch) bool {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	need := int64(len(b.frame) + roomToRemove)
	return s.disk.hasFree(s.dir, need) || s.giveReserve() && s.disk.hasFree(s.dir, int64(len(b.frame)))
}

// roomAgain returns why an outage for want of room goes on. It is over when more is free
// than the reserve gave, and the reserve is there again.
func (s *Store) roomAgain(e *engine, o *outage) error {
	s.mu.Lock()
	full, gave := errors.Is(o.reason, ErrDiskFull), o.gave
	free, err := s.disk.Free(s.dir)
	if err == nil {
		o.free = min(o.free, free)
	}
	least := min(o.free+reserveLeast, plenty)
	s.mu.Unlock()
	switch {
	case !full || err != nil:
		return nil
	case gave && free < least, !gave && free < roomToAdd:
		return ErrDiskFull
	}
	if there := s.keepReserve(e); gave && !there || !s.disk.hasFree(s.dir, roomToAdd) {
		return ErrDiskFull
	}
	return nil
}

// reclaim makes room, in an outage, from what does not count any more.
func (s *Store) reclaim() {
	s.mu.Lock()
	o, e := s.outage, s.e
	if o == nil || !errors.Is(o.reason, ErrDiskFull) || s.errLocked() != nil {
		s.mu.Unlock()
		return
	}
	e.use()
	s.mu.Unlock()
	defer e.release()
	e.reclaim()
}

// removes reports whether a batch makes room: it removes something and writes little.
func (b *Batch) removes() bool { return b.frees && b.adds <= removalMost }
