package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// paged has the calls of the embedded account for page blobs.
type paged interface {
	PutPages(ctx context.Context, at int64, body io.Reader, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
	ClearPages(ctx context.Context, span blob.Range, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
	PageRanges(ctx context.Context, within *blob.Range, since string, cond *blob.Conditions) (*blobs.PageRanges, error)
	SetPageProperties(ctx context.Context, p blobs.PageProperties, cond *blob.Conditions) (*blobs.PagesWritten, error)
}

func read(t *testing.T, b blob.Blob, span *blob.Range) []byte {
	t.Helper()
	d, err := b.Get(context.Background(), &blob.GetOptions{Range: span})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Body.Close()
	got, err := io.ReadAll(d.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const page = 512

// Writes at random, snapshots and copies of a page blob have the bytes and the page
// ranges that a plain array says they have.
func TestPagesKeepWrittenBytes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		onBlobs(t, func(ctx context.Context, _ *emulator.Storage, c blob.Container) {
			random := rand.New(rand.NewPCG(seed, 1))
			const most = 40
			size := int64(most * page)
			b := c.Blob("disk")
			if _, err := b.Put(ctx, nil, &blob.PutOptions{Type: blob.PageBlob, Size: size}); err != nil {
				t.Fatal(err)
			}
			want, written := make([]byte, size), make([]bool, size/page)
			type copied struct {
				blob blob.Blob
				want []byte
			}
			var copies []copied
			for step := range 200 {
				at := random.Int64N(size/page) * page
				n := min(1+random.Int64N(6), (size-at)/page) * page
				var err error
				switch random.IntN(10) {
				case 0:
					size = (1 + random.Int64N(most)) * page
					_, err = b.(paged).SetPageProperties(ctx, blobs.PageProperties{Size: &size}, nil)
					grown, more := make([]byte, size), make([]bool, size/page)
					copy(grown, want)
					copy(more, written)
					want, written = grown, more
				case 1, 2:
					_, err = b.(paged).ClearPages(ctx, blob.Range{Offset: at, Count: n}, &blobs.PageOptions{})
					clear(want[at : at+n])
					clear(written[at/page : (at+n)/page])
				case 3:
					var s *blob.SnapshotTaken
					if s, err = b.Snapshot(ctx, nil); err == nil {
						copies = append(copies, copied{b.At(s.Snapshot), bytes.Clone(want)})
					}
				case 4:
					to := c.Blob(fmt.Sprint("copy", step))
					_, err = to.CopyFrom(ctx, blob.Source{Container: "docs", Name: "disk"}, nil)
					copies = append(copies, copied{to, bytes.Clone(want)})
				default:
					text := bytes.Repeat([]byte{byte('a' + step%26)}, int(n))
					_, err = b.(paged).PutPages(ctx, at, bytes.NewReader(text), &blobs.PageOptions{})
					copy(want[at:], text)
					for i := at / page; i < (at+n)/page; i++ {
						written[i] = true
					}
				}
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				if got := read(t, b, nil); !bytes.Equal(got, want) {
					t.Fatalf("seed %d, step %d: the content is another", seed, step)
				}
				from := random.Int64N(size)
				span := &blob.Range{Offset: from, Count: 1 + random.Int64N(size-from)}
				if got := read(t, b, span); !bytes.Equal(got, want[from:from+span.Count]) {
					t.Fatalf("seed %d, step %d: the content of %+v is another", seed, step, *span)
				}
				ranges, err := b.(paged).PageRanges(ctx, nil, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]bool, size/page)
				for i, r := range ranges.Ranges {
					if i > 0 && ranges.Ranges[i-1].Offset+ranges.Ranges[i-1].Count >= r.Offset {
						t.Errorf("ranges touch: %+v", ranges.Ranges)
					}
					for p := r.Offset / page; p < (r.Offset+r.Count)/page; p++ {
						got[p] = true
					}
				}
				if diff := cmp.Diff(written, got); diff != "" {
					t.Fatalf("seed %d, step %d: ranges (-want +got):\n%s", seed, step, diff)
				}
			}
			for i, c := range copies {
				if got := read(t, c.blob, nil); !bytes.Equal(got, c.want) {
					t.Errorf("seed %d: copy %d has changed", seed, i)
				}
			}
		})
	}
}

// Source: docs, Put Blob, Put Page, Set Blob Properties; Blob Storage error codes.
func TestPageBlobRules(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, s *emulator.Storage, c blob.Container) {
		changed := map[string]int{}
		defer s.OnChange("docs", func(name string) { changed[name]++ })()
		var events []string
		defer s.OnBlobEvent(func(e blobs.Event) { events = append(events, e.API+" "+string(e.Type)) })()
		b := c.Blob("disk")
		create := func(size, sequence int64, body string) error {
			_, err := b.Put(ctx, strings.NewReader(body), &blob.PutOptions{Type: blob.PageBlob, Size: size, Sequence: sequence})
			return err
		}
		put := func(at int64, n int, opts blobs.PageOptions) error {
			_, err := b.(paged).PutPages(ctx, at, strings.NewReader(strings.Repeat("x", n)), &opts)
			return err
		}
		number := func(n int64) *int64 { return &n }
		code := func(what string, err error, want storage.Code) {
			t.Helper()
			if got := storage.CodeOf(err); got != want || want == "" && err != nil {
				t.Errorf("%s = %v, want code %q", what, err, want)
			}
		}
		code("create of half a page", create(700, 0, ""), storage.CodeInvalidHeaderValue)
		code("create of nine terabytes", create(9<<40, 0, ""), storage.CodeInvalidHeaderValue)
		code("create with content", create(page, 0, "x"), storage.CodeInvalidOperation)
		code("pages of nothing", put(0, page, blobs.PageOptions{}), storage.CodeBlobNotFound)
		code("create", create(4*page, 7, ""), "")
		code("half a page", put(0, 700, blobs.PageOptions{}), storage.CodeInvalidPageRange)
		code("from within a page", put(10, page, blobs.PageOptions{}), storage.CodeInvalidPageRange)
		code("behind the end", put(4*page, page, blobs.PageOptions{}), storage.CodeInvalidPageRange)
		code("over the end", put(3*page, 2*page, blobs.PageOptions{}), storage.CodeInvalidPageRange)
		code("too much", put(0, 5<<20, blobs.PageOptions{}), storage.CodeRequestBodyTooLarge)
		code("another MD5", put(0, page, blobs.PageOptions{BodyMD5: make([]byte, 16)}), storage.CodeMD5Mismatch)
		code("a condition", put(0, page, blobs.PageOptions{Conditions: &blob.Conditions{IfMatch: `"0x1"`}}), storage.CodeConditionNotMet)
		for _, row := range []struct {
			cond blobs.SequenceConditions
			met  bool
		}{
			{blobs.SequenceConditions{Equal: number(7)}, true}, {blobs.SequenceConditions{Equal: number(8)}, false},
			{blobs.SequenceConditions{AtMost: number(7)}, true}, {blobs.SequenceConditions{AtMost: number(6)}, false},
			{blobs.SequenceConditions{Below: number(8)}, true}, {blobs.SequenceConditions{Below: number(7)}, false},
		} {
			want := storage.CodeSequenceNumberConditionNotMet
			if row.met {
				want = ""
			}
			code(fmt.Sprintf("%+v", row), put(0, page, blobs.PageOptions{Sequence: row.cond}), want)
		}
		if _, err := b.AppendBlock(ctx, strings.NewReader("x"), nil); storage.CodeOf(err) != storage.CodeInvalidBlobType {
			t.Errorf("append to a page blob = %v", err)
		}
		block := c.Blob("block")
		putTagged(t, block)
		_, err := block.(paged).ClearPages(ctx, blob.Range{Count: page}, &blobs.PageOptions{})
		code("clear of a block blob", err, storage.CodeInvalidBlobType)
		_, err = block.(paged).PageRanges(ctx, nil, "", nil)
		code("ranges of a block blob", err, storage.CodeInvalidBlobType)

		lease, err := b.AcquireLease(ctx, blob.MinLease, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		code("without the lease", put(0, page, blobs.PageOptions{}), storage.CodeLeaseIDMissing)
		code("with the lease", put(0, page, blobs.PageOptions{Conditions: &blob.Conditions{LeaseID: lease.ID}}), "")
		p, err := b.Properties(ctx, nil)
		if err != nil || p.Sequence != 7 || p.ContentLength != 4*page || p.AccessTier != "" {
			t.Errorf("properties = %+v, %v", p, err)
		}
		// Each write of pages is a new version, which wakes the blob trigger; only the
		// creation is an event.
		if diff := cmp.Diff(map[string]int{"disk": 5, "block": 1}, changed); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"PutBlob PageBlob", "PutBlob BlockBlob"}, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// sealer has the calls of the embedded account for append blobs.
type sealer interface {
	Seal(ctx context.Context, position *int64, cond *blob.Conditions) (*blob.Written, error)
}

// Source: docs, Append Blob Seal; Copy Blob, "x-ms-seal-blob".
func TestSealedBlobs(t *testing.T) {
	t.Parallel()
	onBlobs(t, func(ctx context.Context, s *emulator.Storage, c blob.Container) {
		b := c.Blob("log")
		if _, err := b.(sealer).Seal(ctx, nil, nil); storage.CodeOf(err) != storage.CodeBlobNotFound {
			t.Errorf("seal of nothing = %v", err)
		}
		if _, err := b.Put(ctx, nil, &blob.PutOptions{Type: blob.AppendBlob}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.AppendBlock(ctx, strings.NewReader("line"), nil); err != nil {
			t.Fatal(err)
		}
		three := int64(3)
		if _, err := b.(sealer).Seal(ctx, &three, nil); storage.CodeOf(err) != storage.CodeAppendPositionConditionNotMet {
			t.Errorf("seal at another position = %v", err)
		}
		events := 0
		defer s.OnBlobEvent(func(blobs.Event) { events++ })()
		sealed, err := b.(sealer).Seal(ctx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := b.(sealer).Seal(ctx, nil, nil)
		if err != nil || again.ETag != sealed.ETag || events != 0 {
			t.Errorf("seal again = %+v, %v, %d events; want %+v", again, err, events, sealed)
		}
		if _, err := b.AppendBlock(ctx, strings.NewReader("more"), nil); storage.CodeOf(err) != storage.CodeBlobIsSealed {
			t.Errorf("append to a sealed blob = %v", err)
		}
		if _, err := b.SetMetadata(ctx, map[string]string{"k": "v"}, nil); err != nil {
			t.Errorf("metadata of a sealed blob = %v", err)
		}
		yes, no := true, false
		for i, seal := range []*bool{nil, &yes, &no} {
			to := c.Blob(fmt.Sprint("copy", i))
			if _, err := to.CopyFrom(ctx, blob.Source{Container: "docs", Name: "log"}, &blob.CopyOptions{Seal: seal}); err != nil {
				t.Fatal(err)
			}
			if p, err := to.Properties(ctx, nil); err != nil || p.Sealed != (seal != &no) {
				t.Errorf("copy %d: sealed = %v, %v", i, p.Sealed, err)
			}
		}
		putTagged(t, c.Blob("block"))
		if _, err := c.Blob("block").(sealer).Seal(ctx, nil, nil); storage.CodeOf(err) != storage.CodeInvalidBlobType {
			t.Errorf("seal of a block blob = %v", err)
		}
	})
}
