package blobs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// storeBodies is a bodyStore in a store: small bodies are values, large ones
// files. A body is in the store for good once a batch has kept it. Before, a small
// one is in memory only, and a file goes at the next start.
type storeBodies struct {
	db *store.Store

	mu     sync.Mutex
	staged map[bodyID]stagedForm
	stages uint64            // staged bodies so far
	last   uint64            // number given to a small body
	taken  map[bodyID][]byte // small bodies until a batch that keeps them has begun
}

// stagedForm is a staged body: its bytes, or a file of one opening of the store.
type stagedForm struct {
	data    []byte
	file    store.FileID
	opening uint64 // 0: the bytes
}

// smallBody is the size up to which a body is a value: a file costs as much as some
// hundred kilobytes.
const smallBody = 32 << 10

func newStoreBodies(db *store.Store) *storeBodies {
	return &storeBodies{db: db, staged: map[bodyID]stagedForm{}, taken: map[bodyID][]byte{}}
}

// Identifiers say which form a body has. Numbers of staged bodies never leave
// memory, and none is given twice; the others belong to one state of the store.
const (
	stagedPrefix = "s"
	valuePrefix  = "v"
	filePrefix   = "f"
)

func (b *storeBodies) write(r io.Reader, size int64, hash *bodyHash) (bodyID, error) {
	if size > smallBody {
		return b.writeFile(r, hash)
	}
	capacity := int64(smallPiece)
	if size > 0 {
		capacity = size + 1 // and the end is found without growing
	}
	data, end, err := readUpTo(r, make([]byte, capacity), smallBody)
	switch {
	case err != nil:
		return "", err
	case !end:
		return b.writeFile(io.MultiReader(bytes.NewReader(data), r), hash)
	}
	if hash != nil {
		hash.share(data)
	}
	return b.stage(stagedForm{data: data}), nil
}

// readUpTo reads into p, or more if that is full, up to the end of r or until more
// than most bytes have come.
func readUpTo(r io.Reader, p []byte, most int) (data []byte, end bool, err error) {
	for n := 0; ; {
		k, err := r.Read(p[n:])
		n += k
		switch {
		case err == io.EOF:
			return p[:n], n <= most, nil
		case err != nil:
			return nil, false, err
		case n > most:
			return p[:n], false, nil
		case n == len(p):
			p = append(p, make([]byte, min(3*n, most+1-n))...)
		}
	}
}

func (b *storeBodies) stage(form stagedForm) bodyID {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages++
	id := bodyID(stagedPrefix + strconv.FormatUint(b.stages, 10))
	b.staged[id] = form
	return id
}

func (b *storeBodies) writeFile(r io.Reader, hash *bodyHash) (bodyID, error) {
	if hash != nil {
		r = io.TeeReader(r, hash)
	}
	opening, err := b.db.Ready() // before the file is: a state that comes between the two refuses it
	if err != nil {
		return "", keep.Unavailable(err)
	}
	w, err := b.db.CreateFile()
	if err != nil {
		return "", keep.Unavailable(err)
	}
	from := &sender{r: r}
	if _, err := w.ReadFrom(from); err != nil {
		w.Abort()
		if from.err != nil {
			return "", from.err
		}
		return "", keep.Unavailable(err)
	}
	id, err := w.Finish()
	if err != nil {
		return "", keep.Unavailable(err)
	}
	return b.stage(stagedForm{file: id, opening: opening}), nil
}

func (b *storeBodies) take(staged bodyID, opening uint64) (bodyID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	form, ok := b.staged[staged]
	switch {
	case !ok:
		return "", keep.Unavailable(errors.New("the body was discarded"))
	case form.opening == opening:
		delete(b.staged, staged)
		return fileBody(form.file), nil
	case form.opening != 0:
		return "", keep.Unavailable(errors.New("the body came before the state was replaced"))
	}
	delete(b.staged, staged)
	b.last++
	id := bodyID(valuePrefix + strconv.FormatUint(b.last, 10))
	b.taken[id] = form.data
	return id, nil
}

// sender remembers its error, to tell it from the store's errors.
type sender struct {
	r   io.Reader
	err error
}

func (s *sender) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func fileBody(id store.FileID) bodyID {
	return bodyID(filePrefix + strconv.FormatUint(uint64(id), 10))
}

// number takes an identifier apart that is one of the store's.
func (id bodyID) number() (n uint64, file bool) {
	n, file, ok := id.parse()
	if !ok {
		panic("emulator: body " + strconv.Quote(string(id)) + " is of no form of the store's")
	}
	return n, file
}

func (id bodyID) parse() (n uint64, file, ok bool) {
	text, file := strings.CutPrefix(string(id), filePrefix)
	if !file {
		text, ok = strings.CutPrefix(text, valuePrefix)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, file, (file || ok) && err == nil
}

func bodyKey(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{bodyKind, 0}, n) }

func (b *storeBodies) open(id bodyID) (body, error) {
	if strings.HasPrefix(string(id), stagedPrefix) {
		return b.openStaged(id)
	}
	n, file := id.number()
	if file {
		return b.openFile(id, store.FileID(n))
	}
	data, err := b.db.Get(bodyKey(n))
	if err != nil {
		return nil, fmt.Errorf("body %q: %w", id, keep.Unavailable(err))
	}
	return valueBody(data), nil
}

func (b *storeBodies) openFile(id bodyID, n store.FileID) (body, error) {
	f, err := b.db.OpenFile(n)
	if err != nil {
		return nil, fmt.Errorf("body %q: %w", id, keep.Unavailable(err))
	}
	return f, nil
}

// openStaged opens a staged body for its own writer.
func (b *storeBodies) openStaged(id bodyID) (body, error) {
	b.mu.Lock()
	form, ok := b.staged[id]
	b.mu.Unlock()
	switch {
	case !ok:
		return nil, fmt.Errorf("body %q: %w", id, keep.Unavailable(store.ErrNotFound))
	case form.opening == 0:
		return valueBody(form.data), nil
	}
	f, err := b.openFile(id, form.file)
	if err == nil && !b.db.IsOpening(form.opening) {
		return nil, errors.Join(keep.Unavailable(keep.ErrReplaced), f.Close())
	}
	return f, err
}

// valueBody is a small body that is being read.
type valueBody []byte

func (b valueBody) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, b.bytesAt(at))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// bytesAt returns what follows a place.
func (b valueBody) bytesAt(at int64) []byte { return b[min(at, int64(len(b))):] }

func (valueBody) Close() error { return nil }

func (b *storeBodies) keep(id bodyID, w *keep.Change) {
	if w == nil || !w.Writable() {
		return
	}
	n, file := id.number()
	if file {
		w.Keep(store.FileID(n))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Set(bodyKey(n), b.taken[id])
}

// kept notes that the store has what the last batch keeps.
func (b *storeBodies) kept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.taken)
}

func (b *storeBodies) remove(id bodyID, w *keep.Change) {
	if w == nil || !w.Writable() {
		return
	}
	n, file := id.number()
	if file {
		w.Release(store.FileID(n))
		return
	}
	w.Delete(bodyKey(n))
}

func (b *storeBodies) discard(id bodyID) {
	b.mu.Lock()
	form, ok := b.staged[id]
	delete(b.staged, id)
	b.mu.Unlock()
	if ok && form.opening != 0 && b.db.IsOpening(form.opening) {
		b.db.DiscardFile(form.file)
	}
}

// numbered makes the numbers of new bodies follow the numbers of a state that was
// read, and forgets bodies on their way into the state before.
func (b *storeBodies) numbered(last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, last)
	clear(b.taken)
}

// readAll returns the bytes of a body in pieces.
func readAll(s bodyStore, id bodyID, size int64) (memoryBody, error) {
	open, err := s.open(id)
	if err != nil {
		return memoryBody{}, err
	}
	pieces, err := readPieces(io.NewSectionReader(open, 0, size), size, nil)
	if err = errors.Join(err, open.Close()); err != nil {
		return memoryBody{}, fmt.Errorf("body %q: %w: %w", id, bindings.ErrUnavailable, err)
	}
	return pieces, nil
}
