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
)

// A file on disk has its bytes, and then a checksum for each block of blockSize
// bytes; the last block may be shorter. So bytes are read and written in place,
// many blocks at once.
const (
	blockSize = 32 << 10
	sumSize   = 4
	chunkSize = 8 * blockSize // that is written at once
)

// onDisk is the length of a file that holds size bytes.
func onDisk(size int64) int64 { return size + blocks(size)*sumSize }

func blocks(size int64) int64 { return (size + blockSize - 1) / blockSize }

// FileWriter writes a new file. It belongs to one goroutine and must end with
// Finish or Abort.
type FileWriter struct {
	e    *engine
	id   FileID
	f    file
	at   int64       // where the next bytes go in f
	buf  *fileBuffer // nil: not yet, or no more
	n    int         // bytes in buf
	sums []byte
	size int64
	err  error
}

type fileBuffer [chunkSize]byte

// CreateFile begins a file. Other files and all keys can be used meanwhile.
func (s *Store) CreateFile() (*FileWriter, error) {
	if err := s.Writable(); err != nil {
		return nil, fmt.Errorf("create file: %w", err)
	}
	e, err := s.acquire()
	if err != nil {
		return nil, err
	}
	e.files.mu.Lock()
	e.files.last++
	id := e.files.last
	e.files.mu.Unlock()
	w, err := e.createFile(id)
	if err != nil {
		e.release()
	}
	return w, err
}

func (e *engine) createFile(id FileID) (*FileWriter, error) {
	f, err := e.files.create(id)
	if err != nil {
		return nil, fmt.Errorf("create file: %w", e.writeError(err))
	}
	return &FileWriter{e: e, id: id, f: f}, nil
}

// Write appends to the file. After an error only Abort makes sense.
func (w *FileWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && w.err == nil {
		k := copy(w.room(), p)
		p = p[k:]
		n += k
		w.filled(k)
	}
	return n, w.err
}

// ReadFrom appends all that r has, without a detour. It returns r's error or its
// own; after either only Abort makes sense.
func (w *FileWriter) ReadFrom(r io.Reader) (n int64, err error) {
	for w.err == nil {
		k, err := r.Read(w.room())
		n += int64(k)
		w.filled(k)
		switch {
		case w.err != nil:
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		}
	}
	return n, w.err
}

// room is where the next bytes go; it is never empty.
func (w *FileWriter) room() []byte {
	if w.buf == nil {
		w.buf = w.e.files.buffer()
	}
	return w.buf[w.n:]
}

// filled says that so many bytes have come into room.
func (w *FileWriter) filled(n int) {
	w.size += int64(n)
	if w.n += n; w.n == chunkSize {
		w.sum()
		w.put(w.buf[:])
		w.n = 0
	}
}

// sum adds the checksums of the bytes in buf, which begin with a block.
func (w *FileWriter) sum() {
	for at := 0; at < w.n; at += blockSize {
		block := w.buf[at:min(at+blockSize, w.n)]
		w.sums = binary.BigEndian.AppendUint32(w.sums, crc32.Checksum(block, castagnoli))
	}
}

func (w *FileWriter) put(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	n, err := w.f.WriteAt(p, w.at)
	w.at += int64(n)
	if err != nil {
		w.err = fmt.Errorf("write file: %w", w.e.writeError(err))
	}
}

// flush writes the rest, and the checksums.
func (w *FileWriter) flush() {
	if w.size == 0 {
		return
	}
	last := w.room()[:0]
	w.sum()
	if len(w.sums) <= chunkSize-w.n { // one write for both
		last = append(last, w.sums...)
		w.put(w.buf[:w.n+len(last)])
		return
	}
	w.put(w.buf[:w.n])
	w.put(w.sums)
}

// free gives the buffer back.
func (w *FileWriter) free() {
	if w.buf != nil {
		w.e.files.buffers.Put(w.buf)
		w.buf = nil
	}
}

// Finish ends the file, as durable as a commit is, and returns its id. Without
// a batch that keeps it, it goes at the next Open.
func (w *FileWriter) Finish() (FileID, error) {
	w.flush()
	err := w.err
	if err == nil && w.e.disk.sync {
		err = w.f.Sync()
	}
	if err == nil && w.e.disk.sync {
		err = w.e.disk.SyncDir(path.Dir(w.id.name(w.e.files.dir)))
	}
	if err != nil {
		w.Abort()
		return 0, fmt.Errorf("finish file: %w", w.e.writeError(err))
	}
	defer w.e.release()
	w.free()
	if err := w.f.Close(); err != nil {
		return 0, fmt.Errorf("finish file: %w", w.e.writeError(err))
	}
	w.e.files.mu.Lock()
	defer w.e.files.mu.Unlock()
	w.e.files.known[w.id] = &fileState{size: w.size}
	return w.id, nil
}

// Abort ends the writing and removes what there is of the file.
func (w *FileWriter) Abort() {
	w.free()
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
		f.dying, f.gone = true, true
		e.files.removeIfUnusedLocked(id)
	}
}

// File is an open file. Its ReadAt may be called concurrently. It can be read to
// its end, also without references.
type File struct {
	e    *engine
	id   FileID
	name string
	f    file
	size int64
	sums []byte
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
	size, err := file.Size()
	if err == nil && size != onDisk(state.size) {
		err = corrupt(name, "%d bytes, want %d", size, onDisk(state.size))
	}
	var sums []byte
	if err == nil && state.size > 0 {
		sums = make([]byte, blocks(state.size)*sumSize)
		if n, readErr := file.ReadAt(sums, state.size); n < len(sums) {
			err = fmt.Errorf("open file: %w", explain(name, readErr))
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	state.readers++
	return &File{id: id, name: name, f: file, size: state.size, sums: sums}, nil
}

// Size is the length of the file in bytes.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. Bytes that are not what was written give a
// [*CorruptError].
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("read file: negative offset %d", off)
	}
	var block []byte
	for n < len(p) && off < f.size {
		i, skip := off/blockSize, off%blockSize
		if whole := f.wholeBlocks(i, int64(len(p)-n)); skip == 0 && whole > 0 {
			if err := f.readBlocks(p[n:n+int(whole)], i); err != nil {
				return n, err
			}
			n += int(whole)
			off += whole
			continue
		}
		if block == nil {
			block = make([]byte, min(blockSize, f.size))
		}
		data := block[:min(blockSize, f.size-i*blockSize)]
		if err := f.readBlocks(data, i); err != nil {
			return n, err
		}
		k := copy(p[n:], data[skip:])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// wholeBlocks is the length of the blocks from the i-th that have room in so many
// bytes.
func (f *File) wholeBlocks(i, room int64) int64 {
	if rest := f.size - i*blockSize; room >= rest {
		return rest
	}
	return room / blockSize * blockSize
}

// readBlocks reads whole blocks from the i-th, and checks them.
func (f *File) readBlocks(p []byte, i int64) error {
	if n, err := f.f.ReadAt(p, i*blockSize); errors.Is(err, io.EOF) && n < len(p) {
		return corrupt(f.name, "it ends in block %d", i+int64(n)/blockSize)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read file: %w", explain(f.name, err))
	}
	for ; len(p) > 0; i++ {
		data := p[:min(blockSize, len(p))]
		if crc32.Checksum(data, castagnoli) != binary.BigEndian.Uint32(f.sums[i*sumSize:]) {
			return corrupt(f.name, "the checksum of block %d is wrong", i)
		}
		p = p[len(data):]
	}
	return nil
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
