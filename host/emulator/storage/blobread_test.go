package storage_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// The servers take content without a copy where it is in memory. Every way of
// reading gives the same bytes.
func TestContentWithoutCopy(t *testing.T) {
	t.Parallel()
	for mode, s := range map[string]*storage.Storage{
		"memory":  storage.New(clock.System(), nil),
		"durable": openAccount(t, clock.System(), openStore(t, t.TempDir(), nil), nil),
	} {
		t.Run(mode, func(t *testing.T) {
			ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))
			c := s.Container("inbox")
			if _, err := c.Create(ctx, nil); err != nil {
				t.Fatal(err)
			}
			b := c.Blob("parts")
			if _, err := b.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for _, size := range []int{1, 4096, 2<<20 + 5, 33 << 10, 700} { // values, files, several pieces
				part := make([]byte, size)
				for i := range part {
					part[i] = byte(rng.Uint32())
				}
				if _, err := b.AppendBlock(ctx, bytes.NewReader(part), nil); err != nil {
					t.Fatal(err)
				}
				want = append(want, part...)
			}
			lent := 0
			for i := range 30 {
				from, to := 0, len(want)
				if i > 0 {
					from = rng.IntN(len(want))
					to = from + 1 + rng.IntN(len(want)-from)
				}
				d, err := b.Get(ctx, &blob.GetOptions{Range: &blob.Range{Offset: int64(from), Count: int64(to - from)}})
				if err != nil {
					t.Fatal(err)
				}
				var got []byte
				buffer := make([]byte, 50_000)
				for err == nil {
					var part []byte
					part, err = d.Body.(interface{ Next(int) ([]byte, error) }).Next(1 + rng.IntN(100_000))
					lent += len(part)
					if len(part) == 0 && err == nil {
						var n int
						n, err = d.Body.Read(buffer[:1+rng.IntN(len(buffer))])
						part = buffer[:n]
					}
					got = append(got, part...)
				}
				if err != io.EOF || !bytes.Equal(got, want[from:to]) {
					t.Fatalf("bytes %d to %d: got %d bytes and %v, want %d", from, to, len(got), err, to-from)
				}
				if err := d.Body.Close(); err != nil {
					t.Error(err)
				}
				if part, err := d.Body.(interface{ Next(int) ([]byte, error) }).Next(1); len(part) > 0 || err != nil {
					t.Errorf("Next after Close: %q, %v", part, err)
				}
			}
			if lent == 0 {
				t.Error("nothing came without a copy")
			}
		})
	}
}
