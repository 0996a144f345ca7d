package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Waits between openings that fail, in real time: the first, and the longest.
// The watcher of an outage tries as often as the second says, when no other
// call does.
const (
	retryFirst = 100 * time.Millisecond
	retryLast  = 10 * time.Second
	watchEvery = time.Second
)

// settleFor is how long writes must have been taken before the end of an outage is
// told: on a disk that has just run full the room that is given back does not last.
const settleFor = 500 * time.Millisecond

// probeName is the file that is written to see whether the disk takes writes.
const probeName = "PROBE"

// roomToOpen is the room on the disk that an opening for writing needs, beside
// the content of the log: for the manifest, a log, small files.
const roomToOpen = 512 << 10

// roomToAdd is the room that has to be free beside that before anything is
// added again.
const roomToAdd = 1 << 20

// outage is a time during which writes are refused. It begins when an engine
// fails. The state is then opened for reading only, which changes nothing on the
// disk and so succeeds when it is full; and each write tries to open it for
// writing, if there is room. One opening is under way at a time. Failed openings
// are spaced out.
type outage struct {
	reason error
	wait   time.Duration // after the last opening that failed
	next   time.Time     // no opening before
	tight  bool          // there is room for what removes something, and no more
	gave   bool          // the reserve has been given up for that
	free   uint64        // what was free after that, at the least
	over   chan struct{} // closed at its end
	again  chan struct{} // closed when another goes on with it before its end is told
	goesOn bool          // with another whose end has not been told
	before chan struct{} // closed when all of the outage before has been told; nil: none
	told   chan struct{} // closed when all of this one has been

	removed []keyRange // whose room the engine has not given back
}

// putLocked puts an engine in the place of the present one. Unless anew it holds
// what owners know already.
func (s *Store) putLocked(e *engine, anew bool) {
	s.e = e
	if anew {
		s.opening++
	}
	if e.readOnly {
		return
	}
	if !s.tightLocked() {
		s.endOutageLocked()
	}
	failing := func(err error) { go s.begin(e, err) } // the engine holds its locks
	e.failing.Store(&failing)
	if err := e.failed(); err != nil {
		go s.begin(e, err)
	}
}

func (s *Store) endOutageLocked() {
	if s.outage != nil {
		close(s.outage.over)
		s.ending, s.outage = s.outage, nil
	}
}

// begin begins an outage for an engine that has failed, unless it has begun or is
// over already.
func (s *Store) begin(e *engine, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginLocked(e, reason)
}

func (s *Store) beginLocked(e *engine, reason error) {
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
			_ = s.takeWrites(false) // as a write would; it tells the writers
			s.reclaim()
			s.relax()
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

// Recover opens a store that has failed again, so that it can be written; it does
// nothing while the store works. It then holds every batch whose commit was done,
// and perhaps some whose commit failed: owners read their state anew. Views,
// commits and files from before fail.
//
// Calling it is optional: Ready opens a failed store for reading, and each
// write opens it for writing, both at intervals that spare the disk.
// Recover does not wait for that. When it fails, the state may be readable.
func (s *Store) Recover() error {
	s.mu.Lock()
	if s.outage != nil {
		s.outage.next = time.Time{}
	}
	s.mu.Unlock()
	return s.takeWrites(false)
}

// reread opens a store that has failed for reading.
func (s *Store) reread() error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	return s.rereadReplacing()
}

func (s *Store) rereadReplacing() error {
	s.mu.Lock()
	before := s.e
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	if before != nil {
		err := before.failed()
		if err == nil {
			s.mu.Unlock()
			return nil
		}
		s.beginLocked(before, err)
	}
	if s.outage != nil {
		s.outage.tight = false // the reserve did not last
	}
	err := s.soonLocked()
	if err == nil {
		s.e = nil
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if before != nil {
		before.retire()
	}
	e, err := openToRead(s.fs, s.dir, s.state, &s.opts)
	if err != nil {
		return s.postpone(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putLocked(e, true)
	return nil
}

// takeWrites makes a store that has failed one that takes writes again; for a batch
// that removes something in the room of the reserve, if there is no other.
func (s *Store) takeWrites(removes bool) error {
	if s.takesWrites() {
		return nil
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	if err := s.rereadReplacing(); err != nil {
		return err
	}
	s.mu.Lock()
	before, err := s.e, s.soonLocked()
	s.mu.Unlock()
	switch {
	case !before.readOnly:
		return nil
	case err != nil:
		return err
	}
	tight := false
	err = before.probe(roomToAdd)
	if err != nil && removes && errors.Is(explain(s.dir, err), ErrDiskFull) {
		tight = true
		if err = before.probe(0); err != nil && s.giveReserve() {
			err = before.probe(0)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, explain(s.dir, err))
	}
	e, err := openAfter(before, s.fs, s.dir, &s.opts)
	if err != nil {
		return s.postpone(err)
	}
	tight = tight || s.gaveReserve() || s.lacksReserve()
	s.mu.Lock()
	if s.outage != nil {
		s.outage.tight = tight
	}
	s.putLocked(e, e.files != before.files)
	s.mu.Unlock()
	before.retire()
	return nil
}

// Writable returns nil when a batch would be taken now, and otherwise why not. Owners
// who ask before they change their memory need not read it again.
func (s *Store) Writable() error {
	if err := s.takeWrites(false); err != nil {
		return err
	}
	return s.refuse()
}

func (s *Store) takesWrites() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errLocked() == nil && !s.e.readOnly
}

// soonLocked refuses an opening that would follow too soon on one that failed.
func (s *Store) soonLocked() error {
	if s.outage == nil || !time.Now().Before(s.outage.next) {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrFailed, s.outage.reason)
}

// postpone keeps the next opening away from one that failed.
func (s *Store) postpone(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.outage; o != nil {
		o.wait = min(max(2*o.wait, retryFirst), retryLast)
		o.next, o.reason = time.Now().Add(o.wait), err
	}
	return fmt.Errorf("%w: %w", ErrFailed, err)
}

// toWritable moves a batch to the engine that writes what the batch's own engine
// only reads.
func (s *Store) toWritable(b *Batch) error {
	err := s.roomFor(b)
	if err == nil && b.e.readOnly {
		if err = s.takeWrites(b.removes()); err == nil {
			err = s.roomFor(b)
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	if !b.e.readOnly {
		return nil
	}
	e, err := s.acquire()
	if err != nil {
		return err
	}
	if e.files != b.e.files {
		e.release()
		return errReplaced
	}
	moved := e.db.NewBatch()
	must(moved.Apply(b.b, nil))
	_ = b.b.Close()
	b.e.release()
	b.e, b.b = e, moved
	return nil
}

// probe asks whether there is room on the disk to open the state, which the engine
// only reads, for writing, and so much more, and whether the disk takes writes at all.
func (e *engine) probe(more int64) error {
	need := uint64(e.logs + roomToOpen + more)
	if e.hasFree(need) {
		return e.tryDisk()
	}
	if e.dropLeftovers(); e.hasFree(need) {
		return e.tryDisk()
	}
	return ErrDiskFull
}

// hasFree reports whether so much is free on the disk, as far as it can be known.
func (e *engine) hasFree(bytes uint64) bool { return e.disk.hasFree(e.dir, bytes) }

// tryDisk writes and removes a small file.
func (e *engine) tryDisk() error {
	name := path.Join(e.dir, probeName)
	f, err := e.disk.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	text := make([]byte, 4<<10)
	_, _ = rand.Read(text) // does not fail; the disk must not compress it
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), e.disk.Remove(name))
}

// replays counts the logs that the engine reads while it is opened: what an opening
// for writing makes tables of (TestAddsGoOnWithALittleRoom).
func (e *engine) replays(name string) {
	if !strings.HasSuffix(name, ".log") {
		return
	}
	if info, err := e.disk.Stat(name); err == nil {
		e.logs += info.Size()
	}
}

// unflushed is how much there is in the logs that is not in tables yet.
func (e *engine) unflushed() int { return int(e.db.Metrics().WAL.Size) }

// flush writes the content of the logs to tables. The caller uses the engine.
func (e *engine) flush() {
	done, err := e.db.AsyncFlush()
	if err != nil {
		_ = e.fail(err)
		return
	}
	select {
	case <-done:
	case <-e.broken:
	}
}

// dropLeftovers removes the tables that engines have left which the disk stopped: the
// engine, which only reads, does not know them (TestLeftoversGiveTheirRoom).
func (e *engine) dropLeftovers() {
	levels, err := e.db.SSTables()
	if err != nil {
		return
	}
	known := map[string]bool{}
	for _, tables := range levels {
		for _, t := range tables {
			known[fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum))] = true
		}
	}
	names, err := e.disk.List(e.keysDir())
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") && !known[name] {
			_ = e.disk.Remove(path.Join(e.keysDir(), name)) // or the next opening for writing does
		}
	}
}
