package blobs

import (
	"crypto/md5"
	"hash"
	"io"
	"slices"
	"sync"

	md5simd "github.com/minio/md5-simd"
)

const (
	// hashPiece is how much of a body is hashed at once, beside its reading.
	hashPiece = 64 << 10
	// hashAhead is how many pieces the reading may be ahead.
	hashAhead = 4
	// laneBodies is the number of large bodies from which the next one is hashed in a lane.
	// One alone is hashed faster without, and two as fast; but those in lanes wait for each
	// other, and so more of them come together.
	laneBodies = 2
	// laneCount is how many bodies are hashed together. With more than the library has
	// buffers for, they would wait for each other.
	laneCount = 16
)

// hashPieces are for reuse.
var hashPieces = sync.Pool{New: func() any { return new([hashPiece]byte) }}

// bodyHashes work out the MD5 of bodies while they are read and written. MD5 takes
// longer than both together, over a millisecond for 1 MiB, and one body cannot be split:
// what comes after its first piece is hashed by a goroutine of its own. When several
// large bodies come at a time, they are hashed together, a lane of a vector for each, in
// a fraction of the processor time.
type bodyHashes struct {
	mu    sync.Mutex
	large int      // bodies at work, beyond their first piece
	lanes []*lanes // none while no body is in a lane
}

// lanes are bodies that are hashed together.
type lanes struct {
	server md5simd.Server
	used   int
	idle   []md5simd.Hasher // for the next bodies: what the library keeps of each stays
}

// lane is the place of one body.
type lane struct {
	md5simd.Hasher
	in *lanes
}

// bodyHash is the hash of one body. Call sum once, also when the body fails.
type bodyHash struct {
	of   *bodyHashes
	md5  hash.Hash
	fill *[hashPiece]byte // nil: nothing waits
	n    int              // of it

	full chan hashed   //clock:outside to a goroutine that only computes; nil: there is none
	done chan struct{} //clock:outside that it has ended
	lane *lane         // instead of the goroutine
}

// hashed is what a goroutine is to hash.
type hashed struct {
	p     []byte
	piece *[hashPiece]byte // p lies in it; nil: in memory of the body, which does not change
}

func (s *bodyHashes) new() *bodyHash { return &bodyHash{of: s} }

// Write copies p. It waits when the hashing is far behind.
func (h *bodyHash) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if h.lane != nil {
			return written, h.inLane(p)
		}
		if h.fill == nil {
			h.fill, h.n = hashPieces.Get().(*[hashPiece]byte), 0
		}
		n := copy(h.fill[h.n:], p)
		h.n += n
		p = p[n:]
		if h.n == hashPiece {
			h.work(hashed{h.fill[:], h.fill})
			h.fill = nil
		}
	}
	return written, nil
}

// share is Write for bytes that nobody changes any more: they are not copied.
func (h *bodyHash) share(p []byte) {
	if h.fill != nil {
		h.rest()
	}
	switch {
	case h.lane != nil:
		_ = h.inLane(p)
	case h.full == nil && len(p) < hashPiece: // as a whole body mostly is
		h.alone(p)
	default:
		h.work(hashed{p, nil})
	}
}

// alone hashes p here and now.
func (h *bodyHash) alone(p []byte) {
	if h.md5 == nil {
		h.md5 = md5.New()
	}
	_, _ = h.md5.Write(p)
}

// work hands on what is large enough to be hashed beside the reading.
func (h *bodyHash) work(p hashed) {
	if h.full == nil && h.lane == nil {
		h.begin()
	}
	if h.lane != nil {
		_ = h.inLane(p.p)
		p.free()
		return
	}
	h.full <- p //clock:outside waits for computation only
}

// begin chooses a way to hash. A body of which something is hashed keeps to it.
func (h *bodyHash) begin() {
	if h.lane = h.of.enter(h.md5 == nil); h.lane != nil {
		return
	}
	h.full = make(chan hashed, hashAhead) //clock:outside to a goroutine that only computes
	h.done = make(chan struct{})          //clock:outside to a goroutine that only computes
	go func() {                           //clock:outside waited for in sum
		defer close(h.done)     //clock:outside waited for in sum
		for p := range h.full { //clock:outside whoever writes ends it
			h.alone(p.p)
			p.free()
		}
	}()
}

func (p hashed) free() {
	if p.piece != nil {
		hashPieces.Put(p.piece)
	}
}

func (h *bodyHash) inLane(p []byte) error {
	_, err := h.lane.Write(p) // which fails after Close only
	return err
}

// rest hashes what waits for a piece to be full.
func (h *bodyHash) rest() {
	p := h.fill
	h.fill = nil
	switch {
	case h.lane != nil:
		_ = h.inLane(p[:h.n])
	case h.full != nil:
		h.full <- hashed{p[:h.n], p} //clock:outside waits for computation only
		return
	default:
		h.alone(p[:h.n])
	}
	hashPieces.Put(p)
}

// sum ends the hashing and returns the MD5 of what was written.
func (h *bodyHash) sum() []byte {
	if h.fill != nil {
		h.rest()
	}
	switch {
	case h.lane != nil:
		out := h.lane.Sum(nil)
		h.of.leave(h.lane)
		return out
	case h.full != nil:
		close(h.full) //clock:outside to a goroutine that only computes
		<-h.done      //clock:outside waits for computation only
		h.of.leave(nil)
	}
	if h.md5 == nil {
		return emptyMD5[:]
	}
	return h.md5.Sum(nil)
}

var emptyMD5 = md5.Sum(nil) // read only

// enter counts a large body, and returns a lane for it if that is worth it.
func (s *bodyHashes) enter(fresh bool) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.large++; s.large < laneBodies || !fresh {
		return nil
	}
	i := slices.IndexFunc(s.lanes, func(l *lanes) bool { return l.used < laneCount })
	if i < 0 {
		i = len(s.lanes)
		s.lanes = append(s.lanes, &lanes{server: md5simd.NewServer()})
	}
	l := s.lanes[i]
	l.used++
	n := len(l.idle)
	if n == 0 {
		return &lane{l.server.NewHash(), l}
	}
	h := l.idle[n-1]
	l.idle = l.idle[:n-1]
	h.Reset()
	return &lane{h, l}
}

// leave is the end of a large body. The lanes end with the last one.
func (s *bodyHashes) leave(from *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from != nil {
		from.in.used--
		from.in.idle = append(from.in.idle, from.Hasher)
	}
	if s.large--; s.large > 0 {
		return
	}
	for _, l := range s.lanes {
		for _, h := range l.idle {
			h.Close()
		}
		l.server.Close()
	}
	s.lanes = nil
}

var _ io.Writer = (*bodyHash)(nil)
