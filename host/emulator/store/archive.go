package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
)

// An archive is the title with the version, then records, each a kind and its
// fields; numbers are uvarints, byte strings follow their length:
//
//	K key value          a key
//	F id refs size bytes a file
//	E sha256             the end, with the hash of all before
const (
	archiveTitle   = "redeliver state"
	archiveVersion = 2

	recordKey  = 'K'
	recordFile = 'F'
	recordEnd  = 'E'

	maxField    = 1 << 26  // of a key or a value; more is damage
	fieldAtOnce = 64 << 10 // bytes that are taken on the word of a length
	loadBatch   = 1 << 20  // bytes of keys and values committed together by Load
)

// Save writes everything in the store, as it is now, to w as one archive. It does
// not depend on the engine or the directory, and delays no other work.
func (s *Store) Save(w io.Writer) error {
	e, err := s.acquire()
	if err != nil {
		return err
	}
	e.files.pin() // first: what the view refers to must stay
	v := newView(e, nil)
	err = v.save(w)
	e.files.unpin()
	if err = errors.Join(err, v.Close()); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

func (v *View) save(to io.Writer) error {
	w := &archiveWriter{w: bufio.NewWriterSize(to, 1<<16), sum: sha256.New()}
	w.text(fmt.Sprintf("%s %d\n", archiveTitle, archiveVersion))
	err := v.scanFiles(func(id FileID, state *fileState) error {
		w.text(string(recordFile))
		w.numbers(uint64(id), uint64(state.refs), uint64(state.size))
		f, err := v.e.files.open(id)
		if err != nil {
			return err
		}
		v.e.use()
		f.e = v.e
		_, err = io.Copy(w, io.NewSectionReader(f, 0, f.size))
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	err = v.Scan([]byte{1}, nil, func(key, value []byte) error {
		w.text(string(recordKey))
		w.field(key)
		w.field(value)
		return w.err
	})
	if err != nil {
		return err
	}
	w.text(string(recordEnd))
	sum := w.sum.Sum(nil)
	_, _ = w.Write(sum)
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// Load replaces everything in the store by what an archive holds, all of it or,
// when it fails, nothing: an error of a Check too leaves the store as it was.
// Changes that are committed while it runs are lost; views, commits and files
// from before fail.
func (s *Store) Load(r io.Reader) error {
	return s.renew("load", func(e *engine) error {
		if err := e.load(r); err != nil {
			return err
		}
		return s.check(e)
	})
}

// A stateCheck says whether the owner of a space can read a state.
type stateCheck struct {
	space []byte
	check func(v *View) error
}

// Check makes every later Load of the store show its new state to check, before
// that counts, as it looks in this space: owners of keys refuse what they could
// not read afterwards. The view is valid during the call; check must not call the
// store.
func (s *Store) Check(check func(v *View) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, stateCheck{space: s.prefix, check: check})
}

// check asks everybody about the state of an engine that is not in place yet.
func (s *Store) check(e *engine) error {
	s.mu.Lock()
	checks := s.checks // grows only
	s.mu.Unlock()
	for _, c := range checks {
		e.use()
		v := newView(e, c.space)
		if err := errors.Join(c.check(v), v.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Reset removes everything from the store. The space is free at once.
func (s *Store) Reset() error {
	return s.renew("reset", func(*engine) error { return nil })
}

// renew puts a new state in the place of the present one.
func (s *Store) renew(what string, fill func(e *engine) error) error {
	s.replacing.Lock()
	defer s.replacing.Unlock()
	s.mu.Lock()
	next, closed := s.state+1, s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	e, err := createEngine(s.under, s.dir, next, &s.opts, false)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err = fill(e); err == nil {
		err = e.checkNow() // it must be there when the one before goes
	}
	if err == nil {
		err = s.replace(e)
	}
	if err != nil {
		e.retire()
		_ = s.disk.RemoveAll(e.dir) // garbage; the next open tries again
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (e *engine) load(from io.Reader) error {
	r := &archiveReader{r: bufio.NewReaderSize(from, 1<<16), sum: sha256.New()}
	title := make([]byte, len(archiveTitle))
	r.bytes(title)
	if r.err != nil || string(title) != archiveTitle {
		return corrupt("archive", "it does not begin with %q", archiveTitle)
	}
	var version int
	line := r.line()
	if _, err := fmt.Sscanf(line, " %d\n", &version); err != nil {
		return corrupt("archive", "the version cannot be read")
	}
	if version != archiveVersion {
		return &VersionError{Path: "archive", Got: version, Want: archiveVersion}
	}
	b := newBatch(e, nil)
	for {
		switch kind := r.byte(); {
		case r.err != nil:
			return r.failed()
		case kind == recordKey:
			key, value := r.field(), r.field()
			if r.err != nil {
				return r.failed()
			}
			if len(key) == 0 || key[0] == 0 {
				return corrupt("archive", "key %q", key)
			}
			b.Set(key, value)
			if len(b.frame) >= loadBatch {
				if err := e.commitLoad(b); err != nil {
					return err
				}
				b = newBatch(e, nil)
			}
		case kind == recordFile:
			if err := e.loadFile(r, b); err != nil {
				return err
			}
		case kind == recordEnd:
			want := r.sum.Sum(nil)
			got := make([]byte, len(want))
			r.bytes(got)
			if r.err != nil {
				return r.failed()
			}
			if string(got) != string(want) {
				return corrupt("archive", "the checksum is wrong")
			}
			return e.commitLoad(b)
		default:
			return corrupt("archive", "record of kind %q", kind)
		}
	}
}

func (e *engine) loadFile(r *archiveReader, b *Batch) error {
	id, refs, size := FileID(r.number()), r.number(), r.number()
	if r.err != nil {
		return r.failed()
	}
	if refs == 0 || refs > maxField || int64(size) < 0 || e.files.known[id] != nil {
		return corrupt("archive", "file %d", id)
	}
	e.use()
	w, err := e.createFile(id)
	if err != nil {
		e.release()
		return err
	}
	n, err := io.CopyN(w, r, int64(size))
	if n < int64(size) && w.err == nil && err != nil {
		w.Abort()
		return r.failed()
	}
	if _, err := w.Finish(); err != nil {
		return err
	}
	state := &fileState{refs: int(refs), size: int64(size)}
	e.files.known[id] = state
	e.files.last = max(e.files.last, id)
	b.frame = appendSet(b.frame, nil, refKey(id), encodeRef(state))
	return nil
}

func (e *engine) commitLoad(b *Batch) error {
	e.use()
	c, err := e.begin(b)
	if err != nil {
		e.release()
		return err
	}
	return c.Wait()
}

// archiveWriter writes and hashes, and keeps the first error.
type archiveWriter struct {
	w   *bufio.Writer
	sum hash.Hash
	err error
}

func (w *archiveWriter) Write(p []byte) (int, error) {
	if w.err == nil {
		_, _ = w.sum.Write(p)
		_, w.err = w.w.Write(p)
	}
	return len(p), w.err
}

func (w *archiveWriter) text(s string) { _, _ = w.Write([]byte(s)) }

func (w *archiveWriter) numbers(ns ...uint64) {
	var b []byte
	for _, n := range ns {
		b = binary.AppendUvarint(b, n)
	}
	_, _ = w.Write(b)
}

func (w *archiveWriter) field(p []byte) {
	w.numbers(uint64(len(p)))
	_, _ = w.Write(p)
}

// archiveReader reads and hashes, and keeps the first error; after it everything
// reads as zero.
type archiveReader struct {
	r   *bufio.Reader
	sum hash.Hash
	err error
}

func (r *archiveReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.r.Read(p)
	_, _ = r.sum.Write(p[:n])
	r.err = err
	return n, err
}

// ReadByte implements io.ByteReader.
func (r *archiveReader) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

func (r *archiveReader) bytes(p []byte) { _, _ = io.ReadFull(r, p) }

func (r *archiveReader) byte() byte {
	b, _ := r.ReadByte()
	return b
}

func (r *archiveReader) line() string {
	var line []byte
	for len(line) < 32 && r.err == nil {
		line = append(line, r.byte())
		if line[len(line)-1] == '\n' {
			break
		}
	}
	return string(line)
}

func (r *archiveReader) number() uint64 {
	n, err := binary.ReadUvarint(r)
	if err != nil && r.err == nil {
		r.err = corrupt("archive", "a number cannot be read: %w", err)
	}
	return n
}

// field reads bytes after their length, which may be damage: no more memory is taken
// than what comes needs.
func (r *archiveReader) field() []byte {
	n := r.number()
	if n > maxField && r.err == nil {
		r.err = corrupt("archive", "a field of %d bytes", n)
	}
	if r.err != nil {
		return nil
	}
	if n <= fieldAtOnce {
		p := make([]byte, n)
		r.bytes(p)
		return p
	}
	var p bytes.Buffer
	_, _ = io.CopyN(&p, r, int64(n)) // r keeps the error
	return p.Bytes()
}

// failed names the reader's error: an archive that ends too early is damaged.
func (r *archiveReader) failed() error {
	if known, ok := errors.AsType[*CorruptError](r.err); ok {
		return known
	}
	if errors.Is(r.err, io.EOF) || errors.Is(r.err, io.ErrUnexpectedEOF) {
		return corrupt("archive", "it ends too early")
	}
	return fmt.Errorf("read the archive: %w", r.err)
}
