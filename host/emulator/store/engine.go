package store

import (
	"fmt"
	"math"
	"path"
	"sync"
	"sync/atomic"
)

// engine is one opening of one state: its log, the index of its keys, and its files. It
// serves until it fails or another takes its place, and closes when its last user has
// gone.
type engine struct {
	state int
	dir   string // of the state
	disk  *disk
	files *files

	failure atomic.Pointer[error]
	failing atomic.Pointer[func(error)] // called with the failure; must not wait

	// The keys. A change is written and seen under the mutex, so that the order of frames
	// is that of what readers see.
	mu         sync.RWMutex
	index      index
	log        *log
	limit      atomic.Int64 // of the last segment, for those without the mutex
	checked    account      // what CHECK says
	cleaning   bool         // by a goroutine, see clean.go
	cleanAt    int64        // size of the log below which it is not tried
	cleanSlack int64        // see cleanLeast
	cleaners   sync.WaitGroup
	outgoing   outgoing

	fsync sync.Mutex // of a segment: what fails does so before another counts

	synced syncing

	uses     sync.Mutex
	users    int
	retired  bool
	closed   bool
	changed  *sync.Cond // on uses
	closeErr error
}

func newEngine(under fileSystem, dir string, state int, opts *Options) *engine {
	e := &engine{state: state, dir: stateDir(dir, state), disk: newDisk(under, opts)}
	e.log = &log{disk: e.disk, dir: e.logDir(), fixed: opts.segment, synced: e.synced.last}
	e.cleanSlack = cleanLeast
	if opts.segment > 0 {
		e.cleanSlack = opts.segment
	}
	e.changed = sync.NewCond(&e.uses)
	e.synced.changed = sync.NewCond(&e.synced.mu)
	return e
}

func (e *engine) logDir() string   { return path.Join(e.dir, "log") }
func (e *engine) filesDir() string { return path.Join(e.dir, "files") }

// openEngine opens a state that is there, as of a frame. It needs no room on the disk.
func openEngine(under fileSystem, dir string, state int, upTo uint64, opts *Options) (*engine, error) {
	e := newEngine(under, dir, state, opts)
	if err := e.open(upTo); err != nil {
		return nil, explainOpen(e.dir, err)
	}
	return e, nil
}

func (e *engine) open(upTo uint64) error {
	if err := openLog(e.log, upTo, e.apply); err != nil {
		return err
	}
	e.limit.Store(e.log.limit)
	err := e.checkEnd()
	if err == nil {
		e.files, err = openFiles(e)
	}
	if err != nil {
		e.log.closeAll()
	}
	return err
}

// everything is the number of a frame that is never reached.
const everything = math.MaxUint64

// createEngine makes an empty state. The remains of a former attempt are removed. A fresh
// store syncs only on request until it is settled: there is nothing to lose yet.
func createEngine(under fileSystem, dir string, state int, opts *Options, fresh bool) (*engine, error) {
	e := newEngine(under, dir, state, opts)
	e.disk.fresh.Store(fresh && !opts.Sync)
	if err := e.create(); err != nil {
		return nil, explain(e.dir, err)
	}
	return e, nil
}

func (e *engine) create() error {
	if err := e.disk.RemoveAll(e.dir); err != nil {
		return err
	}
	for _, dir := range []string{e.dir, e.logDir(), e.filesDir()} {
		if err := e.disk.MakeDir(dir); err != nil {
			return err
		}
	}
	if err := e.log.begin(1, 1); err != nil {
		return err
	}
	e.limit.Store(e.log.limit)
	err := e.writeCheck(account{frames: 1, segment: 1})
	if err == nil {
		err = e.disk.SyncDir(e.dir)
	}
	if err == nil {
		e.files, err = openFiles(e)
	}
	if err != nil {
		e.log.closeAll()
	}
	return err
}

// apply makes the index and the account of live bytes follow the records of a frame.
func (e *engine) apply(g *segment, at int64, records []byte) {
	gone := func(p place, key int) {
		size := sizeOfSet(key, p.size)
		e.log.of(p).live -= size
		e.log.live -= size
	}
	eachRecord(records, func(r record) {
		switch r.kind {
		case recordSet:
			old, had := e.index.set(r.key, place{g.number, at + frameHead + int64(r.at), len(r.value)})
			if had {
				gone(old, len(r.key))
			}
			size := sizeOfSet(len(r.key), len(r.value))
			g.live += size
			e.log.live += size
		case recordDelete:
			if old, had := e.index.remove(r.key); had {
				gone(old, len(r.key))
			}
		case recordRange:
			end := r.value
			if len(end) == 0 {
				end = nil
			}
			e.index.removeRange(r.key, end, gone)
		}
	})
}

// addLocked writes a frame and makes it seen. An engine that has failed writes no more: the
// log may be another's by now.
func (e *engine) addLocked(frame []byte) error {
	if err := e.failed(); err != nil {
		return err
	}
	if e.log.full(frame) {
		if err := e.rotateLocked(); err != nil {
			return err
		}
	}
	g, at, err := e.log.add(frame)
	if err != nil {
		return err
	}
	e.apply(g, at, frame[frameHead:])
	e.cleanLocked()
	return nil
}

// rotateLocked goes on in another segment. All frames before it are durable then.
func (e *engine) rotateLocked() error {
	before := e.log.last()
	if e.log.torn || before.ahead > before.size {
		if err := e.log.cut(); err != nil {
			return err
		}
	}
	if err := e.syncFile(before); err != nil {
		return err
	}
	if err := e.log.begin(before.number+1, e.log.segments[0].number); err != nil {
		return err
	}
	e.limit.Store(e.log.limit)
	last := e.log.last()
	e.synced.reached(last.first)
	_ = e.writeCheck(account{frames: last.first, segment: last.number}) // the one before holds, too
	return nil
}

// fail ends the use of the engine for the first reason that is given.
func (e *engine) fail(err error) error {
	err = explain(e.dir, err)
	if e.failure.CompareAndSwap(nil, &err) {
		e.files.fence()
		if tell := e.failing.Load(); tell != nil {
			(*tell)(err)
		}
	}
	return *e.failure.Load()
}

func (e *engine) failed() error {
	if p := e.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// use counts one more user in. The caller knows that the engine is open: it has found it in
// the Store, whose mutex it holds, or is a user itself.
func (e *engine) use() {
	e.uses.Lock()
	defer e.uses.Unlock()
	e.users++
}

func (e *engine) release() {
	e.uses.Lock()
	defer e.uses.Unlock()
	e.users--
	e.closeIfIdleLocked()
}

// retire admits no further user; the last one closes the engine.
func (e *engine) retire() {
	e.uses.Lock()
	defer e.uses.Unlock()
	e.retired = true
	e.closeIfIdleLocked()
}

// closeIfIdleLocked closes the engine under its lock, if it has no user.
func (e *engine) closeIfIdleLocked() {
	if !e.retired || e.users > 0 || e.closed {
		return
	}
	e.closed = true
	e.closeErr = e.close()
	e.changed.Broadcast()
}

// close ends the log. Nobody uses the engine.
func (e *engine) close() error {
	e.mu.Lock()
	e.cleanAt = noCleaning
	e.mu.Unlock()
	e.cleaners.Wait()
	err := e.failed()
	if err == nil {
		err = e.checkNow()
	}
	e.log.closeAll()
	return explain(e.dir, err)
}

// wait returns when a retired engine has closed.
func (e *engine) wait() error {
	e.uses.Lock()
	defer e.uses.Unlock()
	for !e.closed {
		e.changed.Wait()
	}
	return e.closeErr
}

// writeError names the failure of a write to a file. A late writer gets the error that
// ended the opening.
func (e *engine) writeError(err error) error {
	if failure := e.failed(); failure != nil {
		return fmt.Errorf("%w: %w", ErrFailed, failure)
	}
	return explain(e.dir, err)
}
