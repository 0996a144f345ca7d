package store

import "sync"

// syncing is how far the log is durable. Commits that wait at one time share one sync.
type syncing struct {
	mu      sync.Mutex
	changed *sync.Cond
	number  uint64 // of the last frame that is
	busy    bool
}

func (s *syncing) reached(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number = max(s.number, number)
	s.changed.Broadcast()
}

// last is the last frame that is durable.
func (s *syncing) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.number
}

// syncTo returns when a frame is durable: with Options.Sync on the disk, otherwise in the
// hands of the operating system, where it is already.
func (e *engine) syncTo(number uint64) error {
	if !e.disk.sync && e.disk.fault == nil {
		return e.failed()
	}
	s := &e.synced
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := e.failed(); err != nil {
			return err
		}
		if s.number >= number {
			return nil
		}
		if s.busy {
			s.changed.Wait()
			continue
		}
		s.busy = true
		s.mu.Unlock()
		reached, err := e.syncLast()
		if err != nil {
			_ = e.fail(err)
		}
		s.mu.Lock()
		if s.busy = false; err == nil {
			s.number = max(s.number, reached)
		}
		s.changed.Broadcast()
	}
}

// syncFile puts what is in a segment on the disk. A disk that refuses may have forgotten
// it, and with Options.Sync commits wait for nothing else: then the engine has failed.
func (e *engine) syncFile(g *segment) error {
	e.fsync.Lock()
	defer e.fsync.Unlock()
	if err := e.failed(); err != nil {
		return err
	}
	err := g.f.Sync()
	if err != nil && e.disk.sync {
		err = e.fail(err)
	}
	return err
}

// syncLast syncs the last segment, and returns the last frame in it.
func (e *engine) syncLast() (number uint64, err error) {
	e.mu.RLock()
	g, number := e.log.last(), e.log.number
	g.users.Add(1)
	e.mu.RUnlock()
	defer g.release()
	if !e.disk.sync {
		return number, e.disk.ask(OpSync, g.name)
	}
	return number, e.syncFile(g)
}

// durable is the last frame that is certain when the engine has failed. What it was writing
// or removing then has been when this returns.
func (e *engine) durable() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.outgoing.mu.Lock()
	defer e.outgoing.mu.Unlock()
	if !e.disk.sync {
		return everything // the operating system has all of them
	}
	return e.synced.last()
}
