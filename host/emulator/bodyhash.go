package emulator

import (
	"crypto/md5"
	"hash"
	"io"
	"sync"
)

const (
	// hashPiece is how much of a body is hashed at once, beside its reading.
	hashPiece = 64 << 10
	// hashAhead is how many pieces the reading may be ahead.
	hashAhead = 4
)

// hashPieces are for reuse.
var hashPieces = sync.Pool{New: func() any { return new([hashPiece]byte) }}

// bodyHash computes the MD5 of a body while it is read and written. MD5 takes
// longer than both together, some 1.5 ms for 1 MiB, and one body cannot be split.
// So what comes after the first piece is hashed by a goroutine of its own. Call
// sum once, also when the body fails.
type bodyHash struct {
	md5  hash.Hash
	fill *[hashPiece]byte // nil: nothing waits
	n    int              // of it

	full chan *[hashPiece]byte //clock:outside to a goroutine that only computes; nil: there is none
	done chan struct{}         //clock:outside that it has ended
}

func newBodyHash() *bodyHash { return &bodyHash{md5: md5.New()} }

// Write copies p. It waits when the hashing is far behind.
func (h *bodyHash) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if h.fill == nil {
			h.fill, h.n = hashPieces.Get().(*[hashPiece]byte), 0
		}
		n := copy(h.fill[h.n:], p)
		h.n += n
		p = p[n:]
		if h.n < hashPiece {
			break
		}
		if h.full == nil {
			h.full = make(chan *[hashPiece]byte, hashAhead) //clock:outside to a goroutine that only computes
			h.done = make(chan struct{})                    //clock:outside to a goroutine that only computes
			go h.work()                                     //clock:outside waited for in sum
		}
		h.full <- h.fill //clock:outside waits for computation only
		h.fill = nil
	}
	return written, nil
}

func (h *bodyHash) work() {
	defer close(h.done)     //clock:outside waited for in sum
	for p := range h.full { //clock:outside whoever writes ends it
		_, _ = h.md5.Write(p[:])
		hashPieces.Put(p)
	}
}

// sum ends the hashing and returns the MD5 of what was written.
func (h *bodyHash) sum() []byte {
	if h.full != nil {
		close(h.full) //clock:outside to a goroutine that only computes
		<-h.done      //clock:outside waits for computation only
	}
	if h.fill != nil {
		_, _ = h.md5.Write(h.fill[:h.n])
		hashPieces.Put(h.fill)
		h.fill = nil
	}
	return h.md5.Sum(nil)
}

var _ io.Writer = (*bodyHash)(nil)
