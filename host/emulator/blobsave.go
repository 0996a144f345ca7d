package emulator

import "maps"

// blobsSnapshot is the blob state of an account at one moment, as part of a
// Snapshot. It never changes.
type blobsSnapshot struct {
	changes []blobChange // that make the state out of an empty one
	bodies  map[bodyID]memoryBody
}

// save copies the state. Records are shared, as they never change.
func (s *blobs) save() *blobsSnapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := &blobsSnapshot{changes: s.records()}
	if m, ok := s.bodies.(*memoryBodies); ok {
		m.mu.Lock()
		snap.bodies = maps.Clone(m.bodies)
		m.mu.Unlock()
	}
	return snap
}

// records returns the changes that make the state out of an empty one.
func (s *blobs) records() []blobChange {
	changes := []blobChange{setAccount{s.account}}
	for _, c := range s.contents {
		changes = append(changes, putContent{contentRecord{ID: c.ID, Segments: append([]segment(nil), c.Segments...)}})
	}
	for name := range s.names.from("") {
		c := s.containers[name]
		changes = append(changes, putContainer{*c.record})
		for name := range c.names.from("") {
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

// restore replaces the state. Times in it are kept: what was due meanwhile has
// ended. A download under way may fail.
func (s *blobs) restore(snap *blobsSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.bodyRefs { // bodies that are staged stay
		s.bodies.remove(id)
	}
	s.clear()
	s.apply(snap.changes)
	if m, ok := s.bodies.(*memoryBodies); ok {
		m.mu.Lock()
		for id := range s.bodyRefs {
			m.bodies[id] = snap.bodies[id]
		}
		m.mu.Unlock()
	}
}

// reset removes everything. Callers of OnChange stay.
func (s *blobs) reset() { s.restore(&blobsSnapshot{}) }
