package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A file on disk is blocks of blockSize bytes, the last one shorter, each
// followed by its checksum.
const (
	blockSize = 32 << 10
	sumSize   = 4
)

// onDisk is the length of a file that holds size bytes.
func onDisk(size int64) int64 { return size + (size+blockSize-1)/blockSize*sumSize }

// FileWriter writes a new file. It belongs to one goroutine and must end with
// Finish or Abort.
type FileWriter struct {
	e    *engine
	id   FileID
	f    vfs.File
	buf  []byte // the block that is not full yet
	size int64
	err  error
}

// CreateFile begins a file. Other files and all keys can be used meanwhile.
func (s *Store) CreateFile() (*FileWriter, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	e.files.mu.Lock()
	e.files.last++
	id := e.files.last
	e.files.mu.Unlock()
	w, err := e.create(id)
	if err != nil {
		e.release()
	}
	return w, err
}

func (e *engine) create(id FileID) (*FileWriter, error) {
	f, err := e.files.create(id)
	if err != nil {
		return nil, fmt.Errorf("create file: %w", explain(e.dir, err))
	}
	return &FileWriter{e: e, id: id, f: f}, nil
}

// Write appends to the file. After an error only Abort makes sense.
func (w *FileWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		k := min(len(p), blockSize-len(w.buf))
		w.buf = append(w.buf, p[:k]...)
		p = p[k:]
		n += k
		if len(w.buf) == blockSize {
			w.flush()
		}
	}
	w.size += int64(n)
	return n, w.err
}

// flush writes the block and its checksum.
func (w *FileWriter) flush() {
	block := binary.BigEndian.AppendUint32(w.buf, crc32.Checksum(w.buf, castagnoli))
	if _, err := w.f.Write(block); err != nil {
		w.err = fmt.Errorf("write file: %w", explain(w.e.dir, err))
	}
	w.buf = block[:0]
}

// Finish ends the file, as durable as a commit is, and returns its id. Without
// a batch that keeps it, it goes at the next Open.
func (w *FileWriter) Finish() (FileID, error) {
	if len(w.buf) > 0 && w.err == nil {
		w.flush()
	}
	err := w.err
	if err == nil && w.e.disk.sync {
		err = w.f.SyncData()
	}
	if err == nil && w.e.disk.sync {
		err = syncDir(w.e.disk, path.Dir(w.id.name(w.e.files.dir)))
	}
	if err != nil {
		w.Abort()
		return 0, fmt.Errorf("finish file: %w", explain(w.e.dir, err))
	}
	defer w.e.release()
	if err := w.f.Close(); err != nil {
		return 0, fmt.Errorf("finish file: %w", explain(w.e.dir, err))
	}
	w.e.files.mu.Lock()
	defer w.e.files.mu.Unlock()
	w.e.files.known[w.id] = &fileState{size: w.size}
	return w.id, nil
}

// Abort ends the writing and removes what there is of the file.
func (w *FileWriter) Abort() {
	_ = w.f.Close()
	_ = w.e.disk.Remove(w.id.name(w.e.files.dir)) // or at the next Open
	w.e.release()
}

// DiscardFile removes a file that Finish returned and no batch has kept.
func (s *Store) DiscardFile(id FileID) {
	e, err := s.acquire()
	if err != nil {
		return
	}
	defer e.release()
	e.files.mu.Lock()
	defer e.files.mu.Unlock()
	if f := e.files.known[id]; f != nil && f.refs == 0 {
		f.dying = true
		e.files.removeIfUnusedLocked(id)
	}
}

// File is an open file. Its ReadAt may be called concurrently. It can be read to
// its end, whatever becomes of its references.
type File struct {
	e    *engine
	id   FileID
	name string
	f    vfs.File
	size int64
	once sync.Once
}

// OpenFile opens a finished file, or fails with ErrNotFound.
func (s *Store) OpenFile(id FileID) (*File, error) {
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	f, err := e.files.open(id)
	if err != nil {
		e.release()
		return nil, err
	}
	f.e = e
	return f, nil
}

func (f *files) open(id FileID) (*File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state := f.known[id]
	if state == nil {
		return nil, fmt.Errorf("file %d: %w", id, ErrNotFound)
	}
	name := id.name(f.dir)
	file, err := f.disk.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &CorruptError{Path: name, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("open file: %w", explain(name, err))
	}
	info, err := file.Stat()
	if err == nil && info.Size() != onDisk(state.size) {
		err = corrupt(name, "%d bytes, want %d", info.Size(), onDisk(state.size))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	state.readers++
	return &File{id: id, name: name, f: file, size: state.size}, nil
}

// Size is the length of the file in bytes.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. Bytes that are not what was written give a
// [*CorruptError].
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("read file: negative offset %d", off)
	}
	block := make([]byte, min(blockSize, f.size)+sumSize)
	for n < len(p) && off < f.size {
		data, err := f.readBlock(block, off/blockSize)
		if err != nil {
			return n, err
		}
		k := copy(p[n:], data[off%blockSize:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *File) readBlock(buf []byte, i int64) ([]byte, error) {
	size := min(blockSize, f.size-i*blockSize)
	buf = buf[:size+sumSize]
	if _, err := f.f.ReadAt(buf, i*(blockSize+sumSize)); errors.Is(err, io.EOF) {
		return nil, corrupt(f.name, "it ends in block %d", i)
	} else if err != nil {
		return nil, fmt.Errorf("read file: %w", explain(f.name, err))
	}
	data := buf[:size]
	if crc32.Checksum(data, castagnoli) != binary.BigEndian.Uint32(buf[size:]) {
		return nil, corrupt(f.name, "the checksum of block %d is wrong", i)
	}
	return data, nil
}

// Close ends the reading. A second Close does nothing.
func (f *File) Close() error {
	var err error
	f.once.Do(func() {
		err = f.f.Close()
		files := f.e.files
		files.mu.Lock()
		files.known[f.id].readers--
		files.removeIfUnusedLocked(f.id)
		files.mu.Unlock()
		f.e.release()
	})
	return err
}
