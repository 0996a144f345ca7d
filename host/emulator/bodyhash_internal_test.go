package emulator

import (
	"bytes"
	"crypto/md5"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// The MD5 of a body is the MD5 of its bytes, in pieces of any sizes.
func TestBodyHash(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, hashPiece - 1, hashPiece, hashPiece + 1, 3 * hashPiece, 40*hashPiece + 7} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		h := newBodyHash()
		for rest := content; len(rest) > 0; {
			n := min(1+random.IntN(2*hashPiece), len(rest))
			part := bytes.Clone(rest[:n])
			if _, err := h.Write(part); err != nil {
				t.Fatal(err)
			}
			clear(part) // a writer keeps nothing
			rest = rest[n:]
		}
		if got, want := h.sum(), md5.Sum(content); !bytes.Equal(got, want[:]) {
			t.Errorf("%d bytes: MD5 %x, want %x", size, got, want)
		}
	}
}

// A body that breaks off leaves no goroutine behind (TestMain looks).
func TestBodyHashOfBrokenBody(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := &blobs{bodies: newMemoryBodies()}
	r := io.MultiReader(bytes.NewReader(make([]byte, 10*hashPiece)), iotest.ErrReader(broken))
	if _, err := s.stage(r, 0, 1<<30, true); !errors.Is(err, broken) {
		t.Errorf("stage: %v, want the reader's error", err)
	}
}
