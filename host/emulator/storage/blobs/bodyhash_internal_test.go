package blobs

import (
	"bytes"
	"crypto/md5"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"
)

// The MD5 of a body is the MD5 of its bytes, in pieces of any sizes, copied or shared, and
// of as many bodies at a time as there are: alone, beside the reading, in lanes.
func TestBodyHash(t *testing.T) {
	t.Parallel()
	all := make([]byte, 12*hashPiece)
	rand.NewChaCha8([32]byte{}).Read(all)
	sizes := []int{0, 1, hashPiece - 1, hashPiece, hashPiece + 1, 3 * hashPiece, 11*hashPiece + 7}
	for _, bodies := range []int{1, laneBodies, 3 * laneCount} {
		hashes := &bodyHashes{}
		var group sync.WaitGroup //clock:outside goroutines that only compute
		for n := range bodies {
			group.Go(func() { //clock:outside waited for below
				random := rand.New(rand.NewPCG(1, uint64(n)))
				for i := range len(sizes) {
					content := all[n : n+sizes[(i+n)%len(sizes)]]
					h := hashes.new()
					for rest := content; len(rest) > 0; {
						k := min(1+random.IntN(2*hashPiece), len(rest))
						if i%3 == 0 || i%3 == 1 && random.IntN(2) == 0 {
							h.share(rest[:k])
						} else {
							part := bytes.Clone(rest[:k])
							if _, err := h.Write(part); err != nil {
								t.Error(err)
							}
							clear(part) // a writer keeps nothing
						}
						rest = rest[k:]
					}
					if got, want := h.sum(), md5.Sum(content); !bytes.Equal(got, want[:]) {
						t.Errorf("%d bytes of %d bodies: MD5 %x, want %x", len(content), bodies, got, want)
					}
				}
			})
		}
		group.Wait()
		if hashes.large != 0 || hashes.lanes != nil {
			t.Errorf("%d bodies: %d are left, with %d sets of lanes", bodies, hashes.large, len(hashes.lanes))
		}
	}
}

// Large bodies share lanes from the second on, and each set has a lane for sixteen.
func TestBodiesInLanes(t *testing.T) {
	t.Parallel()
	hashes := &bodyHashes{}
	piece := make([]byte, hashPiece)
	var list []*bodyHash
	in := map[*lanes]int{}
	for range laneBodies - 1 + laneCount + 1 {
		h := hashes.new()
		h.share(piece)
		list = append(list, h)
		if h.lane != nil {
			in[h.lane.in]++
		}
	}
	if len(in) != 2 || in[hashes.lanes[0]] != laneCount || in[hashes.lanes[1]] != 1 {
		t.Errorf("lanes %v, want %d and 1", in, laneCount)
	}
	want := md5.Sum(piece)
	for _, h := range list {
		if got := h.sum(); !bytes.Equal(got, want[:]) {
			t.Errorf("MD5 %x, want %x", got, want)
		}
	}
}

// A body that breaks off leaves no goroutine behind (TestMain looks).
func TestBodyHashOfBrokenBody(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := &Service{bodies: newMemoryBodies()}
	r := io.MultiReader(bytes.NewReader(make([]byte, 10*hashPiece)), iotest.ErrReader(broken))
	if _, err := s.stage(r, 0, 1<<30, true); !errors.Is(err, broken) {
		t.Errorf("stage: %v, want the reader's error", err)
	}
}
