package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// FileID names a file of the store. An id is never given twice as long as the
// file of it is there.
type FileID uint64

// name spreads files over 256 directories.
func (id FileID) name(dir string) string {
	return path.Join(dir, fmt.Sprintf("%02x", uint8(id)), fmt.Sprintf("%016x", uint64(id)))
}

// The key of a file holds its size and the number of references to it.
var refPrefix = []byte{0, 'f'}

func refKey(id FileID) []byte { return binary.BigEndian.AppendUint64([]byte{0, 'f'}, uint64(id)) }

func encodeRef(s *fileState) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s.refs)), uint64(s.size))
}

func decodeRef(key, value []byte) (FileID, *fileState, bool) {
	refs, n := binary.Uvarint(value)
	if n <= 0 || refs == 0 || len(key) != len(refPrefix)+8 {
		return 0, nil, false
	}
	size, m := binary.Uvarint(value[n:])
	if m <= 0 || n+m != len(value) {
		return 0, nil, false
	}
	id := FileID(binary.BigEndian.Uint64(key[len(refPrefix):]))
	return id, &fileState{refs: int(refs), size: int64(size)}, true
}

// files is the files of one engine: who refers to them, and who reads them.
type files struct {
	dir     string
	buffers sync.Pool // *fileBuffer

	mu    sync.Mutex
	disk  *disk
	over  atomic.Bool // the engine has failed: no file goes by its word
	last  FileID
	known map[FileID]*fileState // every file that is there
	pins  int                   // while it is above 0, no file goes
	dirs  map[uint8]bool        // made or seen
}

type fileState struct {
	size    int64
	refs    int // as of the last batch that has begun
	readers int
	dying   bool // its last reference is gone, as of the last batch that has begun
	gone    bool // and for good
}

// openFiles learns which files are referred to, and removes all others.
func openFiles(e *engine) (*files, error) {
	f := &files{disk: e.disk, dir: e.filesDir(), known: map[FileID]*fileState{}, dirs: map[uint8]bool{}}
	e.use()
	v := newView(e, nil)
	err := v.scanFiles(func(id FileID, state *fileState) error {
		f.known[id] = state
		f.last = max(f.last, id)
		return nil
	})
	if err = errors.Join(err, v.Close()); err != nil {
		return nil, err
	}
	return f, f.sweep()
}

// sweep compares the directories with what is known.
func (f *files) sweep() error {
	names, err := f.disk.List(f.dir)
	if err != nil {
		return err
	}
	there := 0
	for _, sub := range names {
		n, err := strconv.ParseUint(sub, 16, 8)
		if err != nil {
			continue
		}
		f.dirs[uint8(n)] = true
		inside, err := f.disk.List(path.Join(f.dir, sub))
		if err != nil {
			return err
		}
		for _, name := range inside {
			n, err := strconv.ParseUint(name, 16, 64)
			if err == nil && f.known[FileID(n)] != nil {
				there++
				continue
			}
			// It may stay: no id leads to it, and it is tried again next time.
			f.last = max(f.last, FileID(n))
			_ = f.disk.Remove(path.Join(f.dir, sub, name))
		}
	}
	if missing := len(f.known) - there; missing > 0 {
		return f.corruptMissing(missing)
	}
	return nil
}

// corruptMissing names the first of the known files that are not there.
func (f *files) corruptMissing(missing int) error {
	for _, id := range slices.Sorted(maps.Keys(f.known)) {
		if _, _, err := f.disk.Stat(id.name(f.dir)); errors.Is(err, fs.ErrNotExist) {
			return corrupt(id.name(f.dir), "it is missing, the first of %d", missing)
		}
	}
	return corrupt(f.dir, "%d of %d files are missing", missing, len(f.known))
}

// referencesLocked adds what becomes of the numbers of references to a frame.
func (f *files) referencesLocked(frame []byte, delta map[FileID]int) ([]byte, error) {
	for _, id := range slices.Sorted(maps.Keys(delta)) {
		n, s := delta[id], f.known[id]
		switch {
		case s == nil || s.dying || s.refs+n < 0:
			return nil, fmt.Errorf("file %d: %w", id, ErrNotFound)
		case n == 0:
		case s.refs+n == 0:
			frame = appendDelete(frame, nil, refKey(id))
		default:
			frame = appendSet(frame, nil, refKey(id), encodeRef(&fileState{size: s.size, refs: s.refs + n}))
		}
	}
	return frame, nil
}

// referLocked changes the numbers of references, and returns the files without one.
func (f *files) referLocked(delta map[FileID]int) (dead []FileID) {
	for id, n := range delta {
		s := f.known[id]
		if s.refs += n; n != 0 && s.refs == 0 {
			dead = append(dead, id)
			s.dying = true
		}
	}
	return dead
}

// fence keeps every file from now on: an engine that takes the place of this one may hold
// what this one has given up.
func (f *files) fence() { f.over.Store(true) }

// remove takes files away whose release is durable, except the ones that somebody reads.
func (f *files) remove(dead []FileID) {
	if len(dead) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range dead {
		f.known[id].gone = true
		f.removeIfUnusedLocked(id)
	}
}

func (f *files) removeIfUnusedLocked(id FileID) {
	if s := f.known[id]; s != nil && s.gone && s.readers == 0 && f.pins == 0 && !f.over.Load() {
		delete(f.known, id)
		_ = f.disk.Remove(id.name(f.dir)) // garbage; the next open tries again
	}
}

// pin keeps all files until unpin.
func (f *files) pin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pins++
}

func (f *files) unpin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pins--; f.pins > 0 {
		return
	}
	for id := range f.known {
		f.removeIfUnusedLocked(id)
	}
}

func (f *files) buffer() *fileBuffer {
	if c, ok := f.buffers.Get().(*fileBuffer); ok {
		return c
	}
	return new(fileBuffer)
}

func (f *files) create(id FileID) (file, error) {
	sub := uint8(id)
	f.mu.Lock()
	made := f.dirs[sub]
	f.mu.Unlock()
	if !made {
		if err := f.disk.MakeDir(path.Dir(id.name(f.dir))); err != nil {
			return nil, err
		}
		if f.disk.sync {
			if err := f.disk.SyncDir(f.dir); err != nil {
				return nil, err
			}
		}
		f.mu.Lock()
		f.dirs[sub] = true
		f.mu.Unlock()
	}
	return f.disk.Create(id.name(f.dir))
}
