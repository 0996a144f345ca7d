package emulator

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
)

// storeBodies is a bodyStore in a store: small bodies are values, large ones
// files. A body is in the store for good once a batch has kept it; before, a small
// one is in memory, and a file goes at the next start.
type storeBodies struct {
	db *store.Store

	mu     sync.Mutex
	last   uint64 // number given to a small body
	staged map[bodyID][]byte
	begun  []bodyID // small bodies of the batch that is being collected
}

// smallBody is the size up to which a body is a value: the cost of a file is that
// of some hundred kilobytes.
const smallBody = 32 << 10

func newStoreBodies(db *store.Store) *storeBodies {
	return &storeBodies{db: db, staged: map[bodyID][]byte{}}
}

// Identifiers say which form a body has.
const (
	valuePrefix = "v"
	filePrefix  = "f"
)

func (b *storeBodies) write(r io.Reader, size int64) (bodyID, error) {
	capacity := int64(smallPiece)
	if size > 0 && size <= smallBody {
		capacity = size + 1 // and the end is found without growing
	}
	head := bytes.NewBuffer(make([]byte, 0, capacity))
	n, err := io.Copy(head, io.LimitReader(r, smallBody+1))
	switch {
	case err != nil:
		return "", err
	case n > smallBody:
		return b.writeFile(io.MultiReader(head, r))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	id := bodyID(valuePrefix + strconv.FormatUint(b.last, 10))
	b.staged[id] = head.Bytes()
	return id, nil
}

func (b *storeBodies) writeFile(r io.Reader) (bodyID, error) {
	w, err := b.db.CreateFile()
	if err != nil {
		return "", unavailable(err)
	}
	if _, err := io.Copy(sink{w}, r); err != nil {
		w.Abort()
		return "", err
	}
	id, err := w.Finish()
	if err != nil {
		return "", unavailable(err)
	}
	return fileBody(id), nil
}

// sink tells failures of the store from those of the sender.
type sink struct{ w *store.FileWriter }

func (s sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		err = unavailable(err)
	}
	return n, err
}

func fileBody(id store.FileID) bodyID {
	return bodyID(filePrefix + strconv.FormatUint(uint64(id), 10))
}

// number takes an identifier apart.
func (id bodyID) number() (n uint64, file bool) {
	text, file := strings.CutPrefix(string(id), filePrefix)
	if !file {
		text = strings.TrimPrefix(text, valuePrefix)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic("emulator: body " + strconv.Quote(string(id)) + " is of no form of the store's")
	}
	return n, file
}

func bodyKey(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte{bodyKind, 0}, n) }

func (b *storeBodies) open(id bodyID) (body, error) {
	n, file := id.number()
	if file {
		f, err := b.db.OpenFile(store.FileID(n))
		if err != nil {
			return nil, fmt.Errorf("body %q: %w", id, unavailable(err))
		}
		return f, nil
	}
	b.mu.Lock()
	data, ok := b.staged[id]
	b.mu.Unlock()
	if !ok {
		var err error
		if data, err = b.db.Get(bodyKey(n)); err != nil {
			return nil, fmt.Errorf("body %q: %w", id, unavailable(err))
		}
	}
	return valueBody{bytes.NewReader(data)}, nil
}

// valueBody is a small body that is being read.
type valueBody struct{ *bytes.Reader }

func (valueBody) Close() error { return nil }

func (b *storeBodies) keep(id bodyID, w *change) {
	if w == nil || !w.writable() {
		return
	}
	n, file := id.number()
	if file {
		w.batch.Keep(store.FileID(n))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w.batch.Set(bodyKey(n), b.staged[id])
	b.begun = append(b.begun, id)
}

// number writes the number of the last small body if the batch keeps any.
func (b *storeBodies) number(w *store.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.begun) > 0 {
		w.Set(lastBodyKey, binary.BigEndian.AppendUint64(nil, b.last))
	}
}

// kept notes that the store has what the last batch keeps.
func (b *storeBodies) kept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.begun {
		delete(b.staged, id)
	}
	b.begun = b.begun[:0]
}

func (b *storeBodies) remove(id bodyID, w *change) {
	if w == nil || !w.writable() {
		return
	}
	n, file := id.number()
	if file {
		w.batch.Release(store.FileID(n))
		return
	}
	w.batch.Delete(bodyKey(n))
}

func (b *storeBodies) discard(id bodyID) {
	n, file := id.number()
	if file {
		b.db.DiscardFile(store.FileID(n))
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.staged, id)
}

// numbered makes the numbers of new bodies follow those that there are.
func (b *storeBodies) numbered(last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, last)
}

// readAll returns the bytes of a body in pieces.
func readAll(s bodyStore, id bodyID, size int64) (memoryBody, error) {
	open, err := s.open(id)
	if err != nil {
		return memoryBody{}, err
	}
	pieces, err := readPieces(io.NewSectionReader(open, 0, size), size)
	if err = errors.Join(err, open.Close()); err != nil {
		return memoryBody{}, fmt.Errorf("body %q: %w: %w", id, bindings.ErrUnavailable, err)
	}
	return pieces, nil
}
