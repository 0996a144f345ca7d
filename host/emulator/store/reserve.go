package store

import (
	"crypto/rand"
	"errors"
	"path"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The reserve is a file that keeps room on the disk for what makes room: when the
// disk is full it is given up for batches that remove something, which the engine too
// has to write. Until it is there again, other batches are refused as before. Given
// up, it is an empty file: so another process knows of it.
const (
	reserveName = "RESERVE"

	reserveMost  = 4 << 20 // bytes: a log, a manifest, a table
	reserveLeast = 2 << 20 // less is of no use
	reserveTimes = 4       // so much has to be free to make it, of its own size

	// removalMost is how large a batch may be that is taken for a removal.
	removalMost = 64 << 10
)

func (s *Store) reservePath() string { return path.Join(s.dir, reserveName) }

// reserveSize is how much the reserve takes of a disk with so much room; 0: none.
func reserveSize(free uint64) int {
	for _, size := range []int{reserveMost, reserveLeast} {
		if free >= reserveTimes*uint64(size) {
			return size
		}
	}
	return 0
}

// hasReserve reports whether the reserve is there, and whether it was given up.
func (s *Store) hasReserve() (there, spent bool) {
	info, err := newDisk(s.fs, &s.opts).Stat(s.reservePath())
	if err != nil {
		return false, false
	}
	there = info.Size() >= reserveLeast
	return there, !there
}

// keepReserve makes the reserve if there is room for it, and reports whether it is there.
func (s *Store) keepReserve() bool {
	d := newDisk(s.fs, &s.opts)
	there, spent := s.hasReserve()
	if there {
		return true
	}
	usage, err := d.GetDiskUsage(s.dir)
	if err != nil {
		return false // a file system in memory
	}
	size := reserveSize(usage.AvailBytes)
	if size == 0 {
		return false
	}
	if err := writeReserve(d, s.reservePath(), size); err != nil {
		_ = empty(d, s.reservePath(), spent) // what there is of it is room
		return false
	}
	return true
}

func writeReserve(d *disk, name string, size int) error {
	f, err := d.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	block := make([]byte, 256<<10)
	_, _ = rand.Read(block) // does not fail; the disk must not compress it
	for n := 0; n < size && err == nil; n += len(block) {
		_, err = f.Write(block)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// spendReserve gives the reserve up, and reports whether there was one.
func (s *Store) spendReserve() bool {
	there, _ := s.hasReserve()
	return there && empty(newDisk(s.fs, &s.opts), s.reservePath(), true) == nil
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

// tightLocked reports that the store writes in the room of the reserve.
func (s *Store) tightLocked() bool { return s.outage != nil && s.outage.tight }

// refuse returns why a batch is not taken that does not make room, nil when it is.
func (s *Store) refuse() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tightLocked() {
		return errors.Join(ErrFailed, s.outage.reason)
	}
	return nil
}

// goOnTight begins an outage in a store that takes writes, if the reserve was given up
// before it was opened.
func (s *Store) goOnTight() {
	if _, spent := s.hasReserve(); !spent {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked(s.e, ErrDiskFull)
	if s.outage != nil {
		s.outage.tight = true
	}
}

// relax ends an outage in which the store writes in the room of the reserve, once
// there is room for another.
func (s *Store) relax() {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	tight := s.tightLocked() && s.errLocked() == nil
	e := s.e
	s.mu.Unlock()
	if !tight || e.probe() != nil || !s.keepReserve() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.e == e {
		s.endOutageLocked()
	}
}

// removes reports whether a batch makes room.
func (b *Batch) removes() bool { return b.frees && b.b.Len() <= removalMost }
