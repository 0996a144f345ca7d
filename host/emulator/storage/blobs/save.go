package blobs

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// snapshot is the state of the service at one moment, a [account.State]. It never changes.
// Bodies are in memory, and in a store too if the service has one.
type snapshot struct {
	changes []blobChange // that make the state out of an empty one
	bodies  map[bodyID]memoryBody
}

// Copy implements account.Service.
func (s *Service) Copy() (account.State, error) {
	snap, err := s.snapshot()
	if err != nil {
		return nil, fmt.Errorf("snapshot of the blobs: %w", err)
	}
	return snap, nil
}

// snapshot copies the state. Records are shared, as they never change.
func (s *Service) snapshot() (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kept.Ready(); err != nil {
		return nil, err
	}
	snap := &snapshot{changes: s.records(), bodies: map[bodyID]memoryBody{}}
	if m, ok := s.bodies.(*memoryBodies); ok {
		m.mu.Lock()
		defer m.mu.Unlock()
		return snap, eachSegment(snap.changes, func(seg *segment) error {
			snap.bodies[seg.Body] = m.bodies[seg.Body]
			return nil
		})
	}
	sizes := make(map[bodyID]int64, len(s.bodyRefs)) // as far as they are needed
	_ = eachSegment(snap.changes, func(seg *segment) error {
		sizes[seg.Body] = max(sizes[seg.Body], seg.Skip+seg.Size)
		return nil
	})
	return snap, eachSegment(snap.changes, func(seg *segment) error {
		if _, ok := snap.bodies[seg.Body]; ok {
			return nil
		}
		body, err := readAll(s.bodies, seg.Body, sizes[seg.Body])
		snap.bodies[seg.Body] = body
		return err
	})
}

// records returns the changes that make the state out of an empty one.
func (s *Service) records() []blobChange {
	changes := []blobChange{setAccount{s.account, true}}
	for name := range s.names.From("") {
		changes = append(changes, putContainer{*s.containers[name].record})
	}
	held := s.heldByBlobs()
	for _, id := range slices.Sorted(maps.Keys(s.contents)) {
		if !held[id] {
			continue // only a reader still has it
		}
		c := s.contents[id]
		changes = append(changes, putContent{contentRecord{ID: c.ID, Segments: slices.Clone(c.list())}})
	}
	for name := range s.names.From("") {
		c := s.containers[name]
		for name := range c.names.From("") {
			state := c.blobs[name]
			for _, r := range state.snapshots {
				changes = append(changes, putBlob{*r})
			}
			if state.base != nil {
				changes = append(changes, putBlob{*state.base})
			}
			for _, r := range state.blocks {
				changes = append(changes, putBlock{*r})
			}
		}
	}
	return changes
}

// heldByBlobs is the contents that blobs and snapshots have.
func (s *Service) heldByBlobs() map[uint64]bool {
	held := map[uint64]bool{}
	for _, c := range s.containers {
		for _, state := range c.blobs {
			for _, r := range state.snapshots {
				held[r.Content] = true
			}
			if state.base != nil {
				held[state.base.Content] = true
			}
		}
	}
	return held
}

// eachSegment calls f with each segment that a list of records names. f makes its
// changes in the list.
func eachSegment(changes []blobChange, f func(*segment) error) error {
	for i, c := range changes {
		switch c := c.(type) {
		case putContent:
			for j := range c.Segments {
				if err := f(&c.Segments[j]); err != nil {
					return err
				}
			}
		case putBlock:
			if err := f(&c.segment); err != nil {
				return err
			}
			changes[i] = c
		case appendSegment:
			if err := f(&c.Segment); err != nil {
				return err
			}
			changes[i] = c
		case pageRun:
			for j := range c.Pages {
				if err := f(&c.Pages[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copied returns the changes of a snapshot with bodies of an account of its own.
func (snap *snapshot) copied(to bodyStore, opening uint64) ([]blobChange, error) {
	changes := make([]blobChange, len(snap.changes))
	for i, c := range snap.changes {
		if content, ok := c.(putContent); ok {
			content.Segments = append([]segment(nil), content.Segments...)
			c = content
		}
		changes[i] = c
	}
	ids := map[bodyID]bodyID{}
	var order []bodyID // so that equal snapshots make equal copies
	err := eachSegment(changes, func(seg *segment) (err error) {
		if _, ok := ids[seg.Body]; !ok {
			order = append(order, seg.Body)
			ids[seg.Body], err = stageCopy(to, snap.bodies[seg.Body], seg.Size)
		}
		return err
	})
	for _, from := range order {
		staged := ids[from]
		if err == nil {
			ids[from], err = to.take(staged, opening)
		}
		if err != nil {
			to.discard(staged)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	return changes, eachSegment(changes, func(seg *segment) error {
		seg.Body = ids[seg.Body]
		return nil
	})
}

func stageCopy(to bodyStore, b memoryBody, size int64) (bodyID, error) {
	if m, ok := to.(*memoryBodies); ok {
		return m.adopt(b), nil // bodies never change
	}
	return to.write(&pieceReader{b: b}, size, nil)
}

// pieceReader reads a body in memory from its beginning.
type pieceReader struct {
	b  memoryBody
	at int64
}

func (r *pieceReader) Read(p []byte) (int, error) {
	n, err := r.b.ReadAt(p, r.at)
	r.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Replacing implements account.Service. A download under way may fail.
func (s *Service) Replacing(state account.State, follow bool) (func(c *keep.Change), error) {
	snap := &snapshot{}
	if state != nil {
		snap = state.(*snapshot)
	}
	changes, err := snap.copied(s.bodies, s.kept.Opening())
	if err != nil {
		return nil, err
	}
	if follow {
		s.goOn(changes)
	}
	return func(c *keep.Change) { s.replaceLocked(changes, c) }, nil
}

func (s *Service) replaceLocked(changes []blobChange, w *keep.Change) {
	dropAll(w)
	s.writing = w
	for id := range s.bodyRefs { // bodies that are staged stay
		s.bodies.remove(id, w)
	}
	s.clear()
	s.apply(changes)
	s.writing = nil
	s.keptBodies()
	s.seed = seeded.Mix(s.seed) // no lease is given twice
}

// dropAll removes every record; small bodies go one by one, as files do.
func dropAll(c *keep.Change) {
	for _, kind := range []byte{containerKind, blobKind, blockKind, contentKind} {
		c.DeletePrefix([]byte{kind, 0})
	}
	c.Delete(blobAccountKey)
	c.Delete(blobPropertiesKey)
}

// goOn makes the counters of another state go on after this one's.
func (s *Service) goOn(changes []blobChange) {
	for i, c := range changes {
		if c, ok := c.(setAccount); ok {
			c.IDs, c.LastETag = max(c.IDs, s.account.IDs), max(c.LastETag, s.account.LastETag)
			changes[i] = c
		}
	}
}
