package blobs

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

func newService(t *testing.T, opts *account.Options) (*Service, blobapi.Container) {
	t.Helper()
	s := New(clock.System(), opts)
	c := s.Container("inbox")
	if _, err := c.Create(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// restore makes a copy the state.
func restore(t *testing.T, s *Service, saved account.State) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	replace, err := s.Replacing(saved, false)
	if err != nil {
		t.Fatal(err)
	}
	c := s.kept.Change()
	replace(&c)
}

// held returns how many bodies the account holds, and how many it knows of.
func held(s *Service) (kept, known int) {
	return len(s.bodies.(*memoryBodies).bodies), len(s.bodyRefs)
}

func TestMemoryBodiesKeepEveryByte(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, smallPiece - 1, smallPiece, smallPiece + 1, 5 * smallPiece, largePiece - 1, largePiece, largePiece + 1, 2*largePiece + 77} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		plain := func() io.Reader { return bytes.NewReader(data) }
		for what, open := range map[string]func() io.Reader{
			"plain":             plain,
			"halves":            func() io.Reader { return iotest.HalfReader(plain()) },
			"data with its end": func() io.Reader { return iotest.DataErrReader(plain()) },
		} {
			for _, size := range []int64{0, 1, int64(n), int64(n) + 1} {
				if size == 1 && n > largePiece {
					continue // as 0, and slow
				}
				m := newMemoryBodies()
				r := open()
				b := must(m.open(must(m.write(r, size, nil))))
				got := make([]byte, n+1)
				k, err := b.ReadAt(got, 0)
				if k != n || err != io.EOF || !bytes.Equal(got[:n], data) {
					t.Fatalf("%s, %d bytes, size %d: ReadAt = %d, %v", what, n, size, k, err)
				}
				if n > 10 {
					part := make([]byte, n/2)
					if k, err := b.ReadAt(part, int64(n/3)); k != len(part) || err != nil || !bytes.Equal(part, data[n/3:n/3+n/2]) {
						t.Fatalf("%s, %d bytes: ReadAt in the middle = %d, %v", what, n, k, err)
					}
				}
				if _, err := r.Read(make([]byte, 1)); err != io.EOF {
					t.Fatalf("%s: not read to its end", what)
				}
			}
		}
	}
	m := newMemoryBodies()
	broken := errors.New("broken")
	if _, err := m.write(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), 0, nil); !errors.Is(err, broken) || len(m.bodies) != 0 {
		t.Errorf("write of a broken body = %v, %d bodies kept", err, len(m.bodies))
	}
}

// Deleted data frees its memory at once (storage.md E-4), shared data too.
func TestBodiesGoWithTheirLastUser(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, c := newService(t, nil)
	expect := func(when string, want int) {
		t.Helper()
		if kept, known := held(s); kept != want || known != want {
			t.Errorf("%s: %d bodies kept, %d known, want %d", when, kept, known, want)
		}
	}
	a := c.Blob("a")
	put := func(text string) { must(a.Put(ctx, strings.NewReader(text), nil)) }
	put("one")
	put("two")
	expect("overwritten", 1)
	must(a.Snapshot(ctx, nil))
	put("three")
	expect("a snapshot and its blob", 2)
	must(c.Blob("b").CopyFrom(ctx, blobapi.Source{Container: "inbox", Name: "a"}, nil))
	expect("a copy shares", 2)
	if err := a.Delete(ctx, &blobapi.DeleteOptions{Snapshots: blobapi.IncludeSnapshots}); err != nil {
		t.Fatal(err)
	}
	expect("the copy alone", 1)
	d := must(c.Blob("b").Get(ctx, nil))
	if err := c.Blob("b").Delete(ctx, nil); err != nil {
		t.Fatal(err)
	}
	expect("a download under way", 1)
	_ = d.Body.Close()
	_ = d.Body.Close()
	expect("closed", 0)

	id := func(n int) string { return fmt.Sprintf("AAA%d", n) }
	for n := range 3 {
		must(a.PutBlock(ctx, id(n), strings.NewReader("x"), nil))
	}
	must(a.PutBlock(ctx, id(0), strings.NewReader("y"), nil))
	expect("blocks wait", 3)
	must(a.PutBlockList(ctx, []blobapi.BlockRef{{ID: id(0)}, {ID: id(2)}}, nil))
	expect("blocks committed", 2)
	must(a.PutBlockList(ctx, []blobapi.BlockRef{{ID: id(2)}}, nil))
	expect("one block kept", 1)
	must(a.PutBlock(ctx, id(5), strings.NewReader("x"), nil))
	if _, err := a.PutBlockList(ctx, []blobapi.BlockRef{{ID: id(9)}}, nil); err == nil {
		t.Error("PutBlockList of a missing block succeeded")
	}
	expect("a failure keeps all", 2)
	log := c.Blob("log")
	must(log.Put(ctx, nil, &blobapi.PutOptions{Type: blobapi.AppendBlob}))
	for range 3 {
		must(log.AppendBlock(ctx, strings.NewReader("x"), nil))
	}
	must(c.Blob("log2").CopyFrom(ctx, blobapi.Source{Container: "inbox", Name: "log"}, nil))
	must(c.Blob("log2").AppendBlock(ctx, strings.NewReader("x"), nil))
	expect("an append blob and its copy", 6)
	if err := c.Delete(ctx, nil); err != nil {
		t.Fatal(err)
	}
	expect("container deleted", 0)
	if len(s.contents) != 0 {
		t.Errorf("%d contents left", len(s.contents))
	}
}

func TestFaultsAroundBlobOperations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var at account.FaultPoint
	broken := storage.NewError("ServerBusy")
	s, c := newService(t, &account.Options{Fault: func(p account.FaultPoint) error {
		if p == at {
			return broken
		}
		return nil
	}})
	a := c.Blob("a")
	at = account.FaultPoint{Op: "Put", Container: "inbox", Blob: "a"}
	if _, err := a.Put(ctx, strings.NewReader("text"), nil); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Put with a fault before = %v", err)
	}
	if _, err := a.Properties(ctx, nil); !errors.Is(err, bindings.ErrNotFound) {
		t.Errorf("Properties after a fault before Put = %v, want ErrNotFound", err)
	}
	if kept, _ := held(s); kept != 0 {
		t.Errorf("%d bodies kept of a Put that failed", kept)
	}
	at.After = true
	if _, err := a.Put(ctx, strings.NewReader("text"), nil); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Put with a fault after = %v", err)
	}
	if p := must(a.Properties(ctx, nil)); p.ContentLength != 4 {
		t.Errorf("Properties after a fault after Put = %+v", p)
	}
	at = account.FaultPoint{Op: "Get", Container: "inbox", Blob: "a", After: true}
	if _, err := a.Get(ctx, nil); !errors.Is(err, bindings.ErrUnavailable) {
		t.Errorf("Get with a fault after = %v", err)
	}
	if err := a.Delete(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if kept, _ := held(s); kept != 0 {
		t.Errorf("%d bodies kept after a Get that failed and a Delete", kept)
	}
}

func TestStagedBodies(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, c := newService(t, nil)
	staged := must(s.StageBody(strings.NewReader("text"), 4, 10))
	if kept, known := held(s); kept != 1 || known != 0 || staged.Size() != 4 {
		t.Errorf("staged: %d kept, %d known, size %d", kept, known, staged.Size())
	}
	must(c.Blob("a").Put(ctx, staged, nil))
	staged.Discard()
	d := must(c.Blob("a").Get(ctx, nil))
	if got := must(io.ReadAll(d.Body)); string(got) != "text" {
		t.Errorf("content of a staged body = %q", got)
	}
	_ = d.Body.Close()

	// A body that was staged without its MD5 gets one where it is compared, or
	// kept.
	sum := md5.Sum([]byte("text"))
	block := must(s.StageBlock(strings.NewReader("text"), 4, 10))
	if w := must(c.Blob("a").PutBlock(ctx, "MQ==", block, nil)); w.ContentMD5 != nil {
		t.Errorf("a block without an MD5 is answered with %x", w.ContentMD5)
	}
	block = must(s.StageBlock(strings.NewReader("other"), 5, 10))
	if _, err := c.Blob("a").PutBlock(ctx, "MQ==", block, &blobapi.PutBlockOptions{BodyMD5: sum[:]}); storage.CodeOf(err) != storage.CodeMD5Mismatch {
		t.Errorf("a block with another MD5: %v", err)
	}
	block.Discard()
	if w := must(c.Blob("a").Put(ctx, must(s.StageBlock(strings.NewReader("text"), 4, 10)), nil)); !bytes.Equal(w.ContentMD5, sum[:]) {
		t.Errorf("Put of a body staged as a block is answered with %x, want %x", w.ContentMD5, sum)
	}

	other, _ := newService(t, nil)
	foreign := must(other.StageBody(strings.NewReader("foreign"), 0, 10))
	must(c.Blob("b").Put(ctx, foreign, nil))
	foreign.Discard()
	if kept, _ := held(other); kept != 0 {
		t.Errorf("%d bodies kept by the account that staged", kept)
	}
	if p := must(c.Blob("b").Properties(ctx, nil)); p.ContentLength != 7 {
		t.Errorf("length of a foreign body = %d", p.ContentLength)
	}

	for _, size := range []int64{0, 4} {
		_, err := s.StageBody(strings.NewReader("text"), size, 3)
		if !errors.Is(err, bindings.ErrTooLarge) {
			t.Errorf("StageBody of 4 bytes, limit 3 = %v, want ErrTooLarge", err)
		}
	}
	if err := iotest.TestReader(must(s.StageBody(strings.NewReader("read me"), 0, 10)), []byte("read me")); err != nil {
		t.Error(err)
	}
}

func TestSavedBlobsComeBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, c := newService(t, &account.Options{Seed: 7})
	a := c.Blob("a")
	must(a.Put(ctx, strings.NewReader("old"), &blobapi.PutOptions{Metadata: map[string]string{"k": "v"}}))
	must(a.Snapshot(ctx, nil))
	must(a.AcquireLease(ctx, blobapi.InfiniteLease, "", nil))
	must(c.Blob("waits").PutBlock(ctx, "AAAA", strings.NewReader("block"), nil))
	log := c.Blob("log")
	must(log.Put(ctx, nil, &blobapi.PutOptions{Type: blobapi.AppendBlob}))
	must(log.AppendBlock(ctx, strings.NewReader("1"), nil))
	saved := must(s.Copy())
	want := state(t, s)

	for range 2 { // a save can be restored more than once
		must(log.AppendBlock(ctx, strings.NewReader("2"), nil))
		must(c.Blob("new").Put(ctx, strings.NewReader("new"), nil))
		must(c.Blob("waits").PutBlockList(ctx, []blobapi.BlockRef{{ID: "AAAA"}}, nil))
		under := must(c.Blob("new").Get(ctx, nil))
		restore(t, s, saved)
		_ = under.Body.Close()
		if diff := cmp.Diff(state(t, s), want); diff != "" {
			t.Fatalf("state after restore (-got +want):\n%s", diff)
		}
		if kept, known := held(s); kept != 3 || known != 3 {
			t.Errorf("%d bodies kept, %d known, want 3", kept, known)
		}
	}
	restore(t, s, nil)
	if _, err := c.Properties(ctx, nil); !errors.Is(err, storage.ErrContainerNotFound) {
		t.Errorf("Properties after reset = %v", err)
	}
	if kept, _ := held(s); kept != 0 {
		t.Errorf("%d bodies kept after reset", kept)
	}
}

// A snapshot has the bodies of blobs, and not the body of a deleted blob that only an
// open download still holds.
func TestSnapshotLeavesOutDeletedBlobs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := New(clock.System(), nil)
	c := s.Container("docs")
	must(c.Create(ctx, nil))
	must(c.Blob("stays").Put(ctx, strings.NewReader("stays"), nil))
	must(c.Blob("gone").Put(ctx, strings.NewReader("gone"), nil))
	under := must(c.Blob("gone").Get(ctx, nil))
	if err := c.Blob("gone").Delete(ctx, nil); err != nil {
		t.Fatal(err)
	}
	saved := must(s.Copy())
	if text := must(io.ReadAll(under.Body)); string(text) != "gone" {
		t.Errorf("the download reads %q", text)
	}
	_ = under.Body.Close()
	other := New(clock.System(), nil)
	restore(t, other, saved)
	if kept, known := held(other); kept != 1 || known != 1 {
		t.Errorf("%d bodies kept, %d known, want 1", kept, known)
	}
}

// state returns everything the account knows, as a store would write it: the
// records survive a way through JSON. Bodies stand for their identifiers.
func state(t *testing.T, s *Service) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	records := s.records()
	_ = eachSegment(records, func(seg *segment) error {
		content := must(readAll(s.bodies, seg.Body, seg.Size))
		seg.Body = bodyID(must(io.ReadAll(&pieceReader{b: content})))
		return nil
	})
	for _, c := range records {
		raw, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%T %s", c, raw))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestBlobsOfOneSeedAreAlike(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	run := func(seed uint64) (out []string) {
		clk := clock.NewVirtual(at, nil)
		clk.Do("test", func() {
			ctx := context.Background()
			c := New(clk, &account.Options{Seed: seed}).Container("inbox")
			out = append(out, must(c.Create(ctx, nil)).ETag)
			for range 3 {
				out = append(out, must(c.Blob("a").Put(ctx, strings.NewReader("a"), nil)).ETag)
			}
			for range 2 {
				out = append(out, must(c.Blob("a").Snapshot(ctx, nil)).Snapshot)
			}
			out = append(out, must(c.Blob("a").AcquireLease(ctx, blobapi.InfiniteLease, "", nil)).ID)
		})
		return out
	}
	one := run(1)
	// The tag is the time in ticks; each write in one instant adds one.
	want := []string{`"0x8DC0B3F7B275808"`, `"0x8DC0B3F7B275809"`, `"0x8DC0B3F7B27580A"`, `"0x8DC0B3F7B27580B"`,
		"2024-01-02T03:04:05.6789000Z", "2024-01-02T03:04:05.6789001Z"}
	if diff := cmp.Diff(one[:6], want); diff != "" {
		t.Errorf("tags and snapshots (-got +want):\n%s", diff)
	}
	if again := run(1); !slices.Equal(one, again) {
		t.Errorf("two runs of one seed: %q and %q", one, again)
	}
	if other := run(2); other[6] == one[6] {
		t.Errorf("two seeds give one lease identifier %q", one[6])
	}
}

func TestETagsGrowWhenTimeGoesBack(t *testing.T) {
	t.Parallel()
	s := New(clock.System(), nil)
	s.account.LastETag = 1 << 62
	tx := &blobTx{Service: s, now: time.Unix(0, 0).UTC(), account: s.account}
	first, second := tx.newVersion().ETag, tx.newVersion().ETag
	if first != `"0x4000000000000001"` || second != `"0x4000000000000002"` {
		t.Errorf("ETags %s and %s, want the next numbers", first, second)
	}
}

func TestGUIDForms(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"aaaaaaaa-0000-4000-8000-00000000000A": true, "{aaaaaaaa-0000-4000-8000-00000000000a}": true,
		"(aaaaaaaa-0000-4000-8000-00000000000a)": true, "aaaaaaaa000040008000000000000000": true,
		"": false, "{}": false, "aaaaaaaa-0000-4000-8000-00000000000": false, "gaaaaaaa-0000-4000-8000-00000000000a": false,
		"aaaaaaaa0-000-4000-8000-00000000000a": false,
	} {
		if got := isGUID(s); got != want {
			t.Errorf("isGUID(%q) = %v", s, got)
		}
	}
}
