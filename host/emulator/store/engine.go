package store

import (
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Sizes of the engine: little enough for an idle process, enough for a queue in
// full work. What is in the log and not yet in tables is read again at the next
// start: two memTables full, as a rule.
const (
	memTable  = 4 << 20
	cacheSize = 4 << 20
	// A writer must not wait for a flush that cannot succeed: an engine that
	// cannot flush fails first.
	neverStop = 1 << 10
)

// engine is one opening of one state: its keys and its files. It serves until it
// fails or another takes its place, and closes when its last user has gone.
type engine struct {
	state int
	dir   string // of the state
	disk  *disk
	db    *pebble.DB
	files *files

	failure  atomic.Pointer[error]
	panicked atomic.Bool // its locks are not to be trusted any more

	mu       sync.Mutex
	changed  *sync.Cond // on mu
	users    int
	retired  bool
	closed   bool
	closeErr error
}

func openEngine(fs vfs.FS, dir string, state int, opts *Options) (*engine, error) {
	e := newEngine(fs, dir, state, opts)
	if err := e.open(false); err != nil {
		return nil, explainOpen(e.dir, err)
	}
	return e, nil
}

// createEngine makes an empty state. What a former attempt has left of it is
// removed.
func createEngine(fs vfs.FS, dir string, state int, opts *Options) (*engine, error) {
	e := newEngine(fs, dir, state, opts)
	e.disk.fresh.Store(!opts.Sync)
	defer e.disk.fresh.Store(false)
	err := e.disk.RemoveAll(e.dir)
	if err == nil {
		err = e.open(true)
	}
	if err != nil {
		return nil, explain(e.dir, err)
	}
	return e, nil
}

func newEngine(fs vfs.FS, dir string, state int, opts *Options) *engine {
	e := &engine{state: state, dir: stateDir(dir, state), disk: newDisk(fs, opts)}
	e.changed = sync.NewCond(&e.mu)
	return e
}

// open may be told of damage by a panic of the engine, which audits its own
// only in part.
func (e *engine) open(create bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.disk.fence()
			err = corrupt(e.dir, "%v", r)
		}
	}()
	filesDir := path.Join(e.dir, "files")
	if create {
		if err := e.disk.MkdirAll(filesDir, 0o755); err != nil {
			return err
		}
	}
	e.db, err = pebble.Open(path.Join(e.dir, "db"), e.options(create))
	if err != nil {
		return err
	}
	if err = e.failed(); err == nil {
		e.files, err = openFiles(e.disk, filesDir, e.db)
	}
	if err != nil {
		return errors.Join(err, e.db.Close())
	}
	return nil
}

func (e *engine) options(create bool) *pebble.Options {
	return &pebble.Options{
		FS:                          e.disk,
		Logger:                      engineLog{e},
		EventListener:               &pebble.EventListener{BackgroundError: e.background},
		ErrorIfNotExists:            !create,
		ErrorIfExists:               create,
		FormatMajorVersion:          pebble.FormatTableFormatV6, // raise it together with formatVersion
		MemTableSize:                memTable,
		CacheSize:                   cacheSize,
		MaxOpenFiles:                256,
		MemTableStopWritesThreshold: neverStop,
		L0StopWritesThreshold:       neverStop,
	}
}

// engineLog drops what the engine says of its work. What it calls fatal ends
// this opening, not the process.
type engineLog struct{ e *engine }

func (engineLog) Infof(string, ...any)  {}
func (engineLog) Errorf(string, ...any) {}

func (l engineLog) Fatalf(format string, args ...any) { l.e.fail(fmt.Errorf(format, args...)) }

// background is told what went wrong in a flush or a compaction.
func (e *engine) background(err error) {
	if !errors.Is(err, pebble.ErrCancelledCompaction) {
		e.fail(err)
	}
}

// fail ends the use of the engine for the first reason that is given, and keeps
// what still runs in it from the files.
func (e *engine) fail(err error) error {
	err = explain(e.dir, err)
	e.failure.CompareAndSwap(nil, &err)
	e.disk.fence()
	return *e.failure.Load()
}

func (e *engine) failed() error {
	if p := e.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// use counts a user in. It reports false when the engine has been retired.
func (e *engine) use() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.retired {
		return false
	}
	e.users++
	return true
}

// again counts one more user in, on behalf of one who is.
func (e *engine) again() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users++
}

func (e *engine) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users--
	e.closeIfIdleLocked()
}

// retire lets nobody in any more; the last user closes the engine.
func (e *engine) retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retired = true
	e.closeIfIdleLocked()
}

// closeIfIdleLocked closes the engine under its lock: nobody else wants it.
func (e *engine) closeIfIdleLocked() {
	if !e.retired || e.users > 0 || e.closed {
		return
	}
	e.closed = true
	if !e.panicked.Load() {
		e.closeErr = e.db.Close()
	}
	e.changed.Broadcast()
}

// wait returns when a retired engine has closed.
func (e *engine) wait() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.closed {
		e.changed.Wait()
	}
	return e.closeErr
}
