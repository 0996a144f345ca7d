package storage_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// Pages that are written in place are there after a restart, whatever runs of them the
// writes have rewritten; snapshots keep theirs.
func TestPatchedPagesAreDurable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := openStore(t, "", nil)
	random := rand.New(rand.NewPCG(7, 7))
	const pages = 300
	want := make([]byte, pages*page)
	type kept struct {
		name string
		want []byte
	}
	var snapshots []kept
	open := func() (paged, blob.Blob, blob.Container) {
		c := openAccount(t, clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil), db, nil).Container("box")
		return c.Blob("disk").(paged), c.Blob("disk"), c
	}
	p, b, c := open()
	if _, err := c.Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: pages * page}); err != nil {
		t.Fatal(err)
	}
	for i := range 1500 {
		at := random.Int64N(pages) * page
		if random.IntN(5) == 0 {
			n := min(1+random.Int64N(4), pages-at/page) * page
			if _, err := p.ClearPages(ctx, blob.Range{Offset: at, Count: n}, &blobs.PageOptions{}); err != nil {
				t.Fatal(err)
			}
			clear(want[at : at+n])
		} else {
			text := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, page/2)
			if _, err := p.PutPages(ctx, at, bytes.NewReader(text), &blobs.PageOptions{}); err != nil {
				t.Fatal(err)
			}
			copy(want[at:], text)
		}
		switch {
		case i%333 == 50:
			snap, err := b.Snapshot(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			snapshots = append(snapshots, kept{snap.Snapshot, bytes.Clone(want)})
		case i%100 == 99:
			p, b, _ = open()
			if got := read(t, b, nil); !bytes.Equal(got, want) {
				t.Fatalf("after %d writes and a restart the bytes are others", i+1)
			}
		}
	}
	ranges, err := p.PageRanges(ctx, nil, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := int64(0)
	for _, r := range ranges.Ranges {
		listed += r.Count
	}
	filled := int64(0)
	for at := 0; at < len(want); at += page {
		if !bytes.Equal(want[at:at+page], make([]byte, page)) {
			filled += page
		}
	}
	if listed < filled { // pages of zeros may be written ones
		t.Errorf("%d bytes are listed, and %d are not zero", listed, filled)
	}
	for _, s := range snapshots {
		if got := read(t, b.At(s.name), nil); !bytes.Equal(got, s.want) {
			t.Errorf("snapshot %s has other bytes", s.name)
		}
	}
}
