package blobs

import (
	"crypto/md5"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// bodyID names the bytes of one body in a bodyStore.
type bodyID string

// bodyStore keeps bytes that are written once, read many times and then removed.
// The blobs know their meaning and when they are no longer needed. All
// methods may be called concurrently; write may block as long as its reader.
type bodyStore interface {
	// write stages everything that r has. Nothing is kept after an error. A size
	// above 0 is the length that the caller expects. A hash that is not nil gets all
	// bytes; its owner ends it.
	write(r io.Reader, size int64, hash *bodyHash) (bodyID, error)
	// take returns the identifier under which records may have a staged
	// body; the state belongs to an opening of the store. It fails when the
	// body was lost with a state from before.
	take(staged bodyID, opening uint64) (bodyID, error)
	// open returns the bytes for reading. They can be read until close, even
	// after remove.
	open(id bodyID) (body, error)
	// keep says that a record has the body from now on; w collects the writes
	// for that, and is nil when there are none.
	keep(id bodyID, w *keep.Change)
	// remove says that no record has it any more.
	remove(id bodyID, w *keep.Change)
	// discard forgets a staged body that was not taken.
	discard(id bodyID)
}

// body is an open body.
type body interface {
	io.ReaderAt
	io.Closer
}

// memoryBodies is a bodyStore in memory.
type memoryBodies struct {
	mu     sync.Mutex
	last   uint64
	bodies map[bodyID]memoryBody
}

// memoryBody is a body in pieces, so that a large one is never moved. All pieces
// but the last have one length.
type memoryBody struct {
	pieces [][]byte
	piece  int64
}

const (
	smallPiece = 4 << 10 // of a body of unknown size, to begin with
	largePiece = 1 << 20
)

func newMemoryBodies() *memoryBodies { return &memoryBodies{bodies: map[bodyID]memoryBody{}} }

func (m *memoryBodies) write(r io.Reader, size int64, hash *bodyHash) (bodyID, error) {
	b, err := readPieces(r, size, hash)
	if err != nil {
		return "", err
	}
	return m.adopt(b), nil
}

// adopt gives a body an identifier. None is given twice, over all changes of the
// state.
func (m *memoryBodies) adopt(b memoryBody) bodyID {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	id := bodyID(strconv.FormatUint(m.last, 10))
	m.bodies[id] = b
	return id
}

func (*memoryBodies) take(staged bodyID, _ uint64) (bodyID, error) { return staged, nil }

// readPieces reads r to its end. The first piece grows up to the full length,
// the others have it from the start. What has been read does not change, so that the
// hash takes it where it lies.
func readPieces(r io.Reader, size int64, hash *bodyHash) (memoryBody, error) {
	b := memoryBody{piece: largePiece}
	capacity := int64(smallPiece)
	if size > 0 {
		capacity = min(size, largePiece)
	}
	p := make([]byte, 0, capacity)
	hashed := 0 // of p
	share := func(least int) {
		if hash != nil && len(p)-hashed >= least {
			hash.share(p[hashed:])
			hashed = len(p)
		}
	}
	for {
		n, err := r.Read(p[len(p):cap(p)])
		p = p[:len(p)+n]
		share(hashPiece)
		if err == nil && len(p) == cap(p) {
			// The end may be right here: one byte tells, before memory is taken.
			var more [1]byte
			if _, err = io.ReadFull(r, more[:]); err == nil {
				if cap(p) < largePiece {
					grown := make([]byte, len(p), min(4*cap(p), largePiece))
					copy(grown, p)
					p = grown
				} else {
					share(1)
					b.pieces = append(b.pieces, p)
					p, hashed = make([]byte, 0, largePiece), 0
				}
				p = append(p, more[0])
			}
		}
		switch {
		case err == io.EOF:
			share(1)
			if len(p) > 0 {
				b.pieces = append(b.pieces, shrink(p))
			}
			return b, nil
		case err != nil:
			return memoryBody{}, err
		}
	}
}

// shrink gives back memory that a body did not fill.
func shrink(p []byte) []byte {
	if cap(p)-len(p) <= len(p)/8 {
		return p
	}
	return append(make([]byte, 0, len(p)), p...)
}

func (m *memoryBodies) open(id bodyID) (body, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.bodies[id]
	if !ok {
		return nil, fmt.Errorf("body %q: %w", id, bindings.ErrUnavailable)
	}
	return b, nil
}

func (*memoryBodies) keep(bodyID, *keep.Change) {}

func (m *memoryBodies) remove(id bodyID, _ *keep.Change) { m.discard(id) }

func (m *memoryBodies) discard(id bodyID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.bodies, id)
}

func (b memoryBody) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	for n < len(p) {
		i := at / b.piece
		if i >= int64(len(b.pieces)) || at%b.piece >= int64(len(b.pieces[i])) {
			return n, io.EOF
		}
		k := copy(p[n:], b.pieces[i][at%b.piece:])
		n += k
		at += int64(k)
	}
	return n, nil
}

// bytesAt returns what follows a place in one piece.
func (b memoryBody) bytesAt(at int64) []byte {
	i := at / b.piece
	if i >= int64(len(b.pieces)) {
		return nil
	}
	p := b.pieces[i]
	return p[min(at%b.piece, int64(len(p))):]
}

func (b memoryBody) Close() error { return nil }

// StagedBody is a body that the account holds already, but that no blob has yet.
// Given as the body of Put, PutBlock or AppendBlock of the same account it is
// taken over without being read again. Its owner calls Discard in the end; a
// body that was taken over stays.
type StagedBody struct {
	store bodyStore
	id    bodyID
	size  int64
	md5   []byte // nil: not worked out, see sum
	taken bool
	read  int64
}

// StageBody reads a body to its end and keeps it aside. Reading may take as long
// as the sender does: on a virtual clock this is called outside it, and the
// operation afterwards from inside, in no time. It fails with
// RequestBodyTooLarge above limit bytes. Size, if known, is the body's length, 0
// otherwise.
func (s *Service) StageBody(r io.Reader, size, limit int64) (*StagedBody, error) {
	return s.stage(r, size, limit, true)
}

// StageBlock is StageBody for a block, or for pages, that are answered without their
// MD5: what takes most of the time of staging is left out.
func (s *Service) StageBlock(r io.Reader, size, limit int64) (*StagedBody, error) {
	return s.stage(r, size, limit, false)
}

func (s *Service) stage(r io.Reader, size, limit int64, withMD5 bool) (*StagedBody, error) {
	if r == nil {
		r = eofReader{}
	}
	if size > limit {
		return nil, blobError(storage.CodeRequestBodyTooLarge, "body of %d bytes: want at most %d", size, limit)
	}
	if sized, ok := r.(interface{ Len() int }); ok && size == 0 {
		size = int64(sized.Len())
	}
	counted := &limitedReader{r: r, left: limit}
	var hash *bodyHash
	if withMD5 {
		hash = s.hashes.new()
	}
	id, err := s.bodies.write(counted, size, hash)
	body := &StagedBody{store: s.bodies, id: id, size: limit - counted.left}
	if hash != nil {
		body.md5 = hash.sum()
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// take is stage for a body that may have been staged by the caller.
func (s *Service) take(r io.Reader, limit int64, withMD5 bool) (*StagedBody, error) {
	if staged, ok := r.(*StagedBody); ok && staged.store == s.bodies && !staged.taken && staged.read == 0 {
		if staged.size > limit {
			return nil, blobError(storage.CodeRequestBodyTooLarge, "body of %d bytes: want at most %d", staged.size, limit)
		}
		return staged, nil
	}
	return s.stage(r, 0, limit, withMD5)
}

// checkMD5 compares the body with what the sender says it is.
func (b *StagedBody) checkMD5(want []byte) error {
	switch {
	case want == nil:
		return nil
	case len(want) != md5.Size:
		return blobError(storage.CodeInvalidMD5, "")
	}
	sum, err := b.sum()
	if err == nil && string(want) != string(sum) {
		err = blobError(storage.CodeMD5Mismatch, "")
	}
	return err
}

// sum returns the MD5 of the body. One that was staged without is read again.
func (b *StagedBody) sum() ([]byte, error) {
	if b.md5 != nil {
		return b.md5, nil
	}
	open, err := b.store.open(b.id)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	h := md5.New()
	if _, err := io.Copy(h, io.NewSectionReader(open, 0, b.size)); err != nil {
		return nil, err
	}
	b.md5 = h.Sum(nil)
	return b.md5, nil
}

// Size is the body's length in bytes.
func (b *StagedBody) Size() int64 { return b.size }

// Discard frees the body unless a blob has it. It may be called again.
func (b *StagedBody) Discard() {
	if !b.taken {
		b.taken = true
		b.store.discard(b.id)
	}
}

// Read reads the body: for accounts other than its own.
func (b *StagedBody) Read(p []byte) (int, error) {
	open, err := b.store.open(b.id)
	if err != nil {
		return 0, err
	}
	n, err := open.ReadAt(p, b.read)
	b.read += int64(n)
	if n > 0 && err == io.EOF {
		err = nil // for the read that finds nothing more
	}
	if closeErr := open.Close(); err == nil {
		err = closeErr
	}
	return n, err
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }

// limitedReader fails once more than a number of bytes have come.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, blobError(storage.CodeRequestBodyTooLarge, "")
	}
	return n, err
}
