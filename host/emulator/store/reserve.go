package store

import (
	"crypto/rand"
	"errors"
	"path"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The reserve is a file that keeps room on the disk for writes that make room: when
// the disk is full it is given up for batches that remove something, which the engine
// too has to write. Until it is there again, other batches are refused as before.
// Given up, it is an empty file: so another process knows of it.
//
// It has to hold what an opening for writing needs, and so it grows with what is in
// the log and not in tables yet. Where the disk is too small for that, the log is
// written to tables in time.
const (
	reserveName = "RESERVE"

	reserveStep  = 2 << 20   // bytes by which it grows; less is of no use
	reserveShare = 2         // it takes no more than this part of the room there is
	reserveEvery = 512 << 10 // bytes that are written between two looks at it
	roomToRemove = 512 << 10 // for the removals themselves
	roomToMerge  = 2 << 20   // that the merging of tables leaves to the rest
	plenty       = 64 << 20  // with so much free the disk is no longer full, with any gift of the reserve

	// removalMost is how much a batch may write that is taken for a removal.
	removalMost = 64 << 10
)

func (s *Store) reservePath() string { return path.Join(s.dir, reserveName) }

// reserveFor is how large the reserve has to be for so much in the log, with what may
// come to it until the next look.
func reserveFor(unflushed int) int {
	need := unflushed + reserveEvery + roomToOpen + roomToRemove
	return (need + reserveStep - 1) / reserveStep * reserveStep
}

// reserve returns the size of the reserve, and whether it was given up.
func (s *Store) reserve() (size int, spent bool) {
	info, err := newDisk(s.fs, &s.opts).Stat(s.reservePath())
	if err != nil {
		return 0, false
	}
	if info.Size() < reserveStep {
		return 0, true
	}
	return int(info.Size()), false
}

// keepReserve makes the reserve as large as it has to be, or as the disk allows. It
// returns the size then; 0 for no reserve.
func (s *Store) keepReserve(unflushed int) int {
	have, spent := s.reserve()
	want := reserveFor(unflushed)
	if have >= want {
		return have
	}
	d := newDisk(s.fs, &s.opts)
	usage, err := d.GetDiskUsage(s.dir)
	if err != nil {
		return have // a file system in memory
	}
	most := (usage.AvailBytes + uint64(have)) / reserveShare / reserveStep * reserveStep
	size := int(min(uint64(want), most))
	if size <= have {
		return have
	}
	if err := extend(d, s.reservePath(), have, size); err != nil {
		if have == 0 {
			_ = empty(d, s.reservePath(), spent) // what there is of it is room
		}
		return have
	}
	return size
}

func extend(d *disk, name string, from, to int) error {
	f, err := d.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	block := make([]byte, 256<<10)
	_, _ = rand.Read(block) // does not fail; the disk must not compress it
	for n := from; n < to && err == nil; n += len(block) {
		_, err = f.WriteAt(block, int64(n))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// spendReserve gives the reserve up, and reports whether there was one.
func (s *Store) spendReserve() bool {
	have, _ := s.reserve()
	return have > 0 && empty(newDisk(s.fs, &s.opts), s.reservePath(), true) == nil
}

// empty takes the room from the reserve, and leaves the file if it is to stay.
func empty(d *disk, name string, stay bool) error {
	if !stay {
		return d.Remove(name)
	}
	f, err := d.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return f.Close()
}

// growReserve sees to it, every so many bytes, that the reserve goes with the log
// that a batch is about to be added to. Where it cannot, the content of the log
// goes into tables; and when there is no room for these either, an outage begins
// while removals can still be written.
func (s *Store) growReserve(b *Batch) {
	n := int64(b.b.Len())
	now := b.e.written.Add(n)
	if now/reserveEvery == (now-n)/reserveEvery || !s.replacing.TryLock() {
		return
	}
	defer s.replacing.Unlock()
	usage, err := b.e.disk.GetDiskUsage(s.dir)
	if err != nil || !s.healthy(b.e) {
		return
	}
	b.e.mergeAgain()
	unflushed := b.e.unflushed() + int(n)
	have := s.keepReserve(unflushed)
	switch {
	case have >= reserveFor(unflushed):
	case usage.AvailBytes > uint64(unflushed+roomToOpen):
		b.e.flush()
	case have > 0 && have < unflushed+reserveEvery+roomToOpen:
		s.beginTight()
	}
}

// healthy reports whether an engine is the one in use, and writes are taken.
func (s *Store) healthy(e *engine) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.e == e && s.outage == nil && s.errLocked() == nil && !e.readOnly
}

// tightLocked reports that the store writes in the room of the reserve.
func (s *Store) tightLocked() bool { return s.outage != nil && s.outage.tight }

// refuse returns why a batch is not taken that does not make room, nil when it is.
func (s *Store) refuse() error {
	err := s.refusal()
	if err == nil || s.gaveReserve() && !newDisk(s.fs, &s.opts).hasFree(s.dir, plenty) {
		return err
	}
	s.relax()
	return s.refusal()
}

func (s *Store) refusal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tightLocked() {
		return errors.Join(ErrFailed, s.outage.reason)
	}
	return nil
}

// lacksReserve reports whether the reserve was given up and cannot be made again.
func (s *Store) lacksReserve() bool {
	if s.keepReserve(0) > 0 {
		return false
	}
	_, spent := s.reserve()
	return spent
}

// begun makes the reserve of a store that has just been opened. If it was given up
// before, and there is no room for another, or none beside it, the store begins with
// an outage.
func (s *Store) begun() {
	if s.Writable() != nil {
		return
	}
	lacks := s.lacksReserve()
	if have, _ := s.reserve(); lacks || have > 0 && !s.e.hasFree(roomToAdd) {
		s.beginTight()
	}
}

// beginTight begins an outage in a store that takes writes.
func (s *Store) beginTight() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked(s.e, ErrDiskFull)
	if s.outage != nil {
		s.outage.tight = true
	}
}

// giveReserve gives the reserve up for the outage.
func (s *Store) giveReserve() bool {
	if !s.spendReserve() {
		return false
	}
	usage, err := newDisk(s.fs, &s.opts).GetDiskUsage(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outage != nil && err == nil {
		s.outage.gave, s.outage.free = true, usage.AvailBytes
	}
	return true
}

// roomFor returns why a batch is not taken while the store writes what removes
// something and no more, nil when it is. Before a removal that would find no room it
// gives the reserve up.
func (s *Store) roomFor(b *Batch) error {
	if !b.removes() {
		return s.refuse()
	}
	err := s.refusal()
	if err == nil {
		return nil
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	need := uint64(b.b.Len() + roomToRemove/2)
	if b.e.readOnly || b.e.hasFree(need) || s.giveReserve() && b.e.hasFree(need) {
		return nil
	}
	return err
}

func (s *Store) gaveReserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outage != nil && s.outage.gave
}

// reclaim makes room, in an outage, from removed ranges: the engine would do it at
// some later time. When they are in a table themselves, merging them with the keys
// that they cover takes no room.
func (s *Store) reclaim() {
	s.mu.Lock()
	if !s.tightLocked() || s.errLocked() != nil {
		s.mu.Unlock()
		return
	}
	e, ranges := s.e, s.outage.removed
	s.outage.removed = nil
	e.use()
	s.mu.Unlock()
	defer e.release()
	if len(ranges) == 0 {
		e.mergeAgain()
		return
	}
	e.flush()
	e.merge()
	for _, r := range ranges {
		e.compact(r)
	}
}

// noteRemoved notes the ranges that a batch which has begun removes, for reclaim.
func (s *Store) noteRemoved(b *Batch) {
	if len(b.ranges) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tightLocked() {
		s.outage.removed = append(s.outage.removed, b.ranges...)
	}
}

// relax ends an outage in which the store writes only what removes something, once
// there is room for more, and for a reserve. The reserve's own room does not count.
func (s *Store) relax() {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	tight := s.tightLocked() && s.errLocked() == nil
	e := s.e
	s.mu.Unlock()
	if !tight || !s.freed(e) || !e.hasFree(roomToOpen+roomToAdd) || s.lacksReserve() || e.tryDisk() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.e == e {
		s.endOutageLocked()
	}
}

// freed reports whether more is free than the reserve gave.
func (s *Store) freed(e *engine) bool {
	usage, err := e.disk.GetDiskUsage(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.outage
	if o == nil || !o.gave || err != nil {
		return true
	}
	o.free = min(o.free, usage.AvailBytes)
	return usage.AvailBytes >= min(o.free+reserveStep, plenty)
}

// removes reports whether a batch makes room: it removes something and writes little.
func (b *Batch) removes() bool { return b.frees && b.adds <= removalMost }
