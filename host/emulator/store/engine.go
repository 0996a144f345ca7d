package store

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Sizes of the engine: little enough for an idle process, enough for a queue in
// full work. The next start reads again the part of the log that is not in
// tables: two memTables full, as a rule.
const (
	memTable  = 4 << 20
	cacheSize = 4 << 20
	// A writer must not wait for a flush that cannot succeed: an engine that
	// cannot flush fails first. It must not wait either for a merge without
	// room (TestARefusedMergeRefusesNoWrite).
	neverStop = 1 << 10
)

// engine is one opening of one state: its keys and its files. It serves until it
// fails or another takes its place, and closes when its last user has gone.
//
// An engine that only reads changes nothing on the disk, except that it
// removes files without a reference. Another opening of the same state,
// which writes, may take its place with everything it knows of the files.
type engine struct {
	state    int
	dir      string // of the state
	readOnly bool
	disk     *disk
	memTable uint64
	db       *pebble.DB
	files    *files

	compactions scheduler
	merging     atomic.Pointer[merging] // nil: nothing is in its way
	written     atomic.Int64            // bytes of the batches that have begun
	logs        int64                   // bytes of the logs that the opening has read

	failure atomic.Pointer[error]
	failing atomic.Pointer[func(error)] // called with the failure; must not wait
	lost    atomic.Bool                 // it cannot be closed any more
	losing  chan struct{}               // closed with lost
	broken  chan struct{}               // closed with the first failure
	once    sync.Once

	order   sync.Mutex
	batches uint64 // that have begun, since the state was made

	mu       sync.Mutex
	changed  *sync.Cond // on mu
	users    int
	retired  bool
	closed   bool
	closeErr error
	onClose  func()
}

func openEngine(under vfs.FS, dir string, state int, opts *Options) (*engine, error) {
	e := newEngine(under, dir, state, opts)
	if err := e.open(false); err != nil {
		return nil, explainOpen(e.dir, err)
	}
	return e, nil
}

// openToRead opens a state that is not to be changed.
func openToRead(under vfs.FS, dir string, state int, opts *Options) (*engine, error) {
	e := newEngine(under, dir, state, opts)
	e.readOnly = true
	if err := e.open(false); err != nil {
		return nil, explainOpen(e.dir, err)
	}
	return e, nil
}

// openAfter opens the state of an engine that only reads for writing. The tables
// that the other may still read stay until that has closed.
func openAfter(before *engine, under vfs.FS, dir string, opts *Options) (*engine, error) {
	e := newEngine(under, dir, before.state, opts)
	if err := e.openAfter(before, false); err != nil {
		return nil, explainOpen(e.dir, err)
	}
	before.then(e.merge)
	return e, nil
}

// createEngine makes an empty state. The remains of a former attempt are removed. A
// fresh store syncs only on request until it is settled: there is nothing to lose
// yet.
func createEngine(under vfs.FS, dir string, state int, opts *Options, fresh bool) (*engine, error) {
	e := newEngine(under, dir, state, opts)
	e.disk.fresh.Store(fresh && !opts.Sync)
	err := e.disk.RemoveAll(e.dir)
	if err == nil {
		err = e.open(true)
	}
	if err != nil {
		return nil, explain(e.dir, err)
	}
	return e, nil
}

func (e *engine) settled() { e.disk.fresh.Store(false) }

func newEngine(under vfs.FS, dir string, state int, opts *Options) *engine {
	e := &engine{state: state, dir: stateDir(dir, state), disk: newDisk(under, opts), memTable: memTable}
	if opts.memTable > 0 {
		e.memTable = opts.memTable
	}
	e.losing, e.broken = make(chan struct{}), make(chan struct{})
	e.changed = sync.NewCond(&e.mu)
	return e
}

func (e *engine) open(create bool) error {
	if err := e.openAfter(nil, create); err != nil {
		return err
	}
	e.compactions.allow(true)
	return nil
}

// openAfter may be told of damage by a panic of the engine, which has looked into
// its own only in part.
func (e *engine) openAfter(before *engine, create bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e.disk.fence()
			err = corrupt(e.dir, "%v", r)
		}
	}()
	filesDir := path.Join(e.dir, "files")
	if create {
		if err := e.disk.MkdirAll(filesDir, privateDir); err != nil {
			return err
		}
		if err := syncDir(e.disk, e.dir); err != nil {
			return err
		}
	}
	if !create {
		if err := e.checkFiles(); err != nil {
			return err
		}
	}
	if err := e.openKeys(create); err != nil {
		return err
	}
	err = e.failed()
	if err == nil {
		err = e.checkBatches(create)
	}
	if err == nil {
		err = e.learnFiles(before, filesDir)
	}
	if err == nil {
		err = e.failed()
	}
	if err != nil {
		e.disk.fence()
		_ = e.closeKeys() // the error of the opening is the one to tell
		return err
	}
	return nil
}

// learnFiles takes over what the engine before knows, if it has read the same
// keys: its files are then also what tells that the two hold the same.
func (e *engine) learnFiles(before *engine, dir string) (err error) {
	if before != nil && before.batches == e.batches {
		e.files = before.files
		e.files.writeTo(e.disk)
		return nil
	}
	e.files, err = openFiles(e.disk, dir, e.db)
	return err
}

// openKeys opens the engine. When it fails in the background on the way, the
// engine itself would not return.
func (e *engine) openKeys(create bool) error {
	type result struct {
		db    *pebble.DB
		err   error
		panic any
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { r.panic = recover(); done <- r }()
		r.db, r.err = pebble.Open(e.keysDir(), e.options(create))
	}()
	select {
	case r := <-done:
		if r.panic != nil {
			panic(r.panic)
		}
		if r.err != nil {
			e.disk.fence()
			if err := e.failed(); err != nil {
				return err
			}
			return r.err
		}
		e.db = r.db
		return nil
	case <-e.losing:
		e.disk.abandon()
		return e.failed()
	}
}

func (e *engine) options(create bool) *pebble.Options {
	o := &pebble.Options{
		FS:                          &shield{disk: e.disk, dir: e.dir, failed: func(err error) { _ = e.fail(err) }, replays: e.replays},
		ReadOnly:                    e.readOnly,
		Logger:                      engineLog{e},
		DisableTableStats:           true,
		EventListener:               &pebble.EventListener{BackgroundError: e.background, DataCorruption: e.damaged},
		ErrorIfNotExists:            !create,
		ErrorIfExists:               create,
		FormatMajorVersion:          pebble.FormatTableFormatV6, // raise it together with formatVersion
		MemTableSize:                e.memTable,
		CacheSize:                   cacheSize,
		MaxOpenFiles:                256,
		MemTableStopWritesThreshold: neverStop,
		L0StopWritesThreshold:       neverStop,
	}
	o.Experimental.CompactionScheduler = &e.compactions
	return o
}

// engineLog drops what the engine says of its work. A failure that it calls fatal
// ends this opening, not the process (TestEachFileOperationFails).
type engineLog struct{ e *engine }

func (engineLog) Infof(string, ...any)  {}
func (engineLog) Errorf(string, ...any) {}

func (l engineLog) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = cause // the text has lost what kind of error it was
		}
	}
	_ = l.e.fail(err)
}

// background is told, by the goroutine of a flush or a compaction, what went
// wrong in it. The engine would try again at once and for ever; this ends the
// goroutine instead, and with it the hope to close the engine in order.
func (e *engine) background(err error) {
	if errors.Is(err, pebble.ErrCancelledCompaction) {
		return
	}
	if vfs.IsNoSpaceError(err) && e.failed() == nil { // only a merge is told of that
		e.stopMerging()
		return
	}
	_ = e.fail(err)
	e.lose()
	runtime.Goexit()
}

// damaged is told of damage that the engine has found in any read, in a merge of
// tables too.
func (e *engine) damaged(info pebble.DataCorruptionInfo) {
	_ = e.fail(&CorruptError{Path: info.Path, Err: info.Details})
}

func (e *engine) lose() {
	e.lost.Store(true)
	e.once.Do(func() { close(e.losing) })
}

// fail ends the use of the engine for the first reason that is given, and keeps
// what still runs in it from the files.
func (e *engine) fail(err error) error {
	err = explain(e.dir, err)
	first := e.failure.CompareAndSwap(nil, &err)
	e.compactions.allow(false)
	e.disk.fence()
	if !first {
		return *e.failure.Load()
	}
	close(e.broken)
	if tell := e.failing.Load(); tell != nil {
		(*tell)(err)
	}
	return *e.failure.Load()
}

// writeError names the failure of a write to a file. A late writer gets the error
// that ended the opening.
func (e *engine) writeError(err error) error {
	if failure := e.failed(); failure != nil && errors.Is(err, errFenced) {
		return fmt.Errorf("%w: %w", ErrFailed, failure)
	}
	return explain(e.dir, err)
}

// readError names what went wrong in a read. An engine that has failed may miss
// tables that it was made to believe it had written, or parts of them.
func (e *engine) readError(path string, err error) error {
	if failure := e.failed(); failure != nil {
		return fmt.Errorf("%w: %w", ErrFailed, failure)
	}
	return explain(path, err)
}

func (e *engine) failed() error {
	if p := e.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// use counts one more user in. The caller knows that the engine is open: it has
// found it in the Store, whose mutex it holds, or is a user itself.
func (e *engine) use() {
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

// retire admits no further user; the last one closes the engine.
func (e *engine) retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retired = true
	e.closeIfIdleLocked()
}

// closeIfIdleLocked closes the engine under its lock, if it has no user.
func (e *engine) closeIfIdleLocked() {
	if !e.retired || e.users > 0 || e.closed {
		return
	}
	e.closed = true
	e.closeErr = e.closeKeys()
	if e.failed() == nil && e.closeErr == nil && !e.readOnly {
		e.closeErr = e.writeCheck() // now that the log is on disk
	}
	if e.onClose != nil {
		e.onClose()
	}
	e.changed.Broadcast()
}

// then calls f when the engine has closed.
func (e *engine) then(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.onClose = f; e.closed {
		f()
	}
}

// closeKeys closes the engine as well as it can be closed. It may be lost while
// it closes (TestDamageIsNamed).
func (e *engine) closeKeys() error {
	if e.lost.Load() {
		e.disk.abandon()
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- e.db.Close() }()
	select {
	case err := <-done:
		return explain(e.dir, err)
	case <-e.losing:
		e.disk.abandon()
		return e.failed()
	}
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
