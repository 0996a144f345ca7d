package store

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Options changes how a store works. The zero value is good for use.
type Options struct {
	// Sync makes every commit wait until the disk has it, so that it survives the
	// loss of power. Commits that wait at one time share one sync. Without it a
	// commit waits until the operating system has it.
	Sync bool

	// Fault is asked before each operation on a file, and its error becomes the
	// operation's: the store behaves as if the disk had said so (syscall.ENOSPC:
	// the disk is full). Paths have forward slashes. It is called concurrently, by
	// goroutines of the store too.
	Fault func(op FileOp, path string) error

	// Refusing is called when the store begins to refuse writes, with the reason,
	// and with nil when it takes them again; in turns, by one goroutine at a time.
	Refusing func(reason error)

	segment int64 // bytes at which a segment of the log is full; 0: as in log.go
}

// Store is an open store, or a space of its keys; see Space. All methods may be
// called concurrently. None of them knows the emulator's clock: where time must
// not stand still for a disk, call Commit.Wait outside the clock.
type Store struct {
	*shared
	prefix []byte // before every key of its user
}

// shared is the common part of a store and its spaces.
type shared struct {
	dir   string
	opts  Options
	under fileSystem
	disk  *disk
	lock  io.Closer // nil in memory

	exposed error // why others may read it; nil: they may not

	replacing sync.Mutex   // held while another engine is put in place, or the reserve is changed
	reserved  atomic.Int64 // bytes of the reserve that were wanted last

	mu       sync.Mutex
	opening  uint64
	upTo     uint64  // the last frame that was certain when an engine failed
	e        *engine // nil after Close, or while the state cannot even be read
	state    int     // number of the state that counts
	closed   bool
	checks   []stateCheck
	closing  chan struct{}  // closed by Close
	outage   *outage        // nil: writes are taken
	ending   *outage        // over, and not told to be; nil: none
	told     chan struct{}  // of the last outage; nil: there was none
	watching sync.WaitGroup // goroutines that watch an outage
}

// Open opens the store in dir and makes it first if it is not there. The
// directory is this process's until Close.
//
// It is private to its user (0700, its files 0600) and made so if it is not;
// Exposed says when that cannot be done.
//
// It fails with [*InUseError] when another process has it, with [*UnwritableError]
// when this process may not write it, with [*VersionError] when another version of
// the program wrote it, with [*CorruptError] when its content is damaged, and
// otherwise with the file system's error. Damage that lies deeper comes to light
// in reads. The remains of a sudden end, and files that no key needs, are removed.
func Open(dir string, opts *Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := newStore(filepath.ToSlash(abs), opts, osFS{})
	if err := makeDir(s.disk, s.dir); err != nil {
		return nil, explainOwn(s.dir, err)
	}
	if s.lock, err = own(s.dir); err != nil {
		return nil, explainOwn(s.dir, err)
	}
	if filesHaveUsers {
		s.exposed = makePrivate(s.dir)
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(explainOwn(s.dir, err), s.lock.Close())
	}
	return s, nil
}

// OpenMemory returns an empty store that lives in memory and goes with it. It
// differs from one in a directory in nothing else.
func OpenMemory(opts *Options) (*Store, error) { return openOn(newMemFS(), opts) }

// openOn opens the store that a file system without owners holds.
func openOn(fs fileSystem, opts *Options) (*Store, error) {
	s := newStore("/data", opts, fs)
	if err := makeDir(s.disk, s.dir); err != nil {
		return nil, explain(s.dir, err)
	}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(dir string, opts *Options, fs fileSystem) *Store {
	s := &Store{shared: &shared{dir: dir, under: fs, closing: make(chan struct{})}}
	if opts != nil {
		s.opts = *opts
	}
	s.disk = newDisk(fs, &s.opts)
	return s
}

func (s *Store) start() error {
	state, found, err := readFormat(s.disk, s.dir)
	if err != nil {
		return explain(s.dir, err)
	}
	if !found {
		s.disk.fresh.Store(!s.opts.Sync)
		err := writeFormat(s.disk, s.dir, 0)
		s.disk.fresh.Store(false)
		if err != nil {
			return explain(s.dir, err)
		}
	}
	removeOtherStates(s.disk, s.dir, state)
	if state > 0 {
		err = s.resume(state)
	} else {
		err = s.first()
	}
	if err == nil {
		s.begun()
	}
	return err
}

// first makes the first state.
func (s *Store) first() error {
	e, err := createEngine(s.under, s.dir, 1, &s.opts, true)
	if err != nil {
		return err
	}
	if err := s.replace(e); err != nil {
		e.retire()
		return err
	}
	e.disk.fresh.Store(false)
	return nil
}

// resume opens a state.
func (s *Store) resume(state int) error {
	e, err := openEngine(s.under, s.dir, state, everything, &s.opts)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	s.putLocked(e)
	return nil
}

// replace makes e the current state, and ends the previous one. The caller
// holds replacing, or is alone.
func (s *Store) replace(e *engine) error {
	if err := writeFormat(e.disk, s.dir, e.state); err != nil {
		_ = writeFormat(e.disk, s.dir, s.state) // it may name the new one already
		return explain(s.dir, err)
	}
	s.mu.Lock()
	before, number := s.e, s.state
	s.state = e.state
	s.putLocked(e)
	s.mu.Unlock()
	if before != nil {
		_ = before.fail(errReplaced)
		before.retire()
	}
	if number > 0 {
		_ = e.disk.RemoveAll(stateDir(s.dir, number)) // garbage; the next open tries again
	}
	return nil
}

// Dir returns the directory as an absolute path with forward slashes.
func (s *Store) Dir() string { return s.dir }

// Sync reports whether commits wait for the disk (Options.Sync).
func (s *Store) Sync() bool { return s.opts.Sync }

// acquire returns the engine for one use, which ends with its release.
func (s *Store) acquire() (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.errLocked(); err != nil {
		return nil, err
	}
	s.e.use()
	return s.e, nil
}

func (s *Store) errLocked() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.e == nil:
		return fmt.Errorf("%w: %w", ErrFailed, s.outage.reason)
	}
	if err := s.e.failed(); err != nil {
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return nil
}

// Opening returns a number that changes with everything that makes the owners'
// memory of the state void: Load, Reset and an opening after a failure, by any caller. It
// fails while the state cannot be read.
func (s *Store) Opening() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opening, s.errLocked()
}

// IsOpening reports whether the state still belongs to an opening, and can be read.
func (s *Store) IsOpening(opening uint64) bool {
	now, err := s.Opening()
	return err == nil && now == opening
}

// Ready is Opening, after a store that has failed was opened again: what an owner asks
// before it relies on its memory of the state.
func (s *Store) Ready() (opening uint64, err error) {
	opening, err = s.Opening()
	if errors.Is(err, ErrFailed) {
		if err = s.reopen(); err == nil {
			opening, err = s.Opening()
		}
	}
	return opening, err
}

// Close waits for the views, commits and files that are open, and gives the
// directory free. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.endOutageLocked()
	s.mu.Unlock()
	if closed {
		return nil
	}
	close(s.closing)
	s.watching.Wait()
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	e := s.e
	s.e = nil
	s.mu.Unlock()
	var err error
	if e != nil {
		e.retire()
		if err = e.wait(); e.failed() != nil {
			err = nil // the caller that met the failure was told
		}
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}
