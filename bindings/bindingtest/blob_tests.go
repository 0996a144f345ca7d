package bindingtest

import (
	"context"
	"crypto/md5"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// blobTests are about blobs as a whole: spec storage 17.1 and 17.3.
var blobTests = []blobTest{
	atOnce("MissingBlobFailsEveryCall", func(b *blobBench, ctx context.Context, c blob.Container) {
		for what, err := range everyBlobCall(ctx, c.Blob("a"), "11111111-2222-3333-4444-555555555555") {
			b.status(what, err, 404, storage.CodeBlobNotFound)
			if !errors.Is(err, bindings.ErrNotFound) || errors.Is(err, storage.ErrContainerNotFound) {
				b.Errorf("%s on a missing blob = %v, want ErrNotFound and not ErrContainerNotFound", what, err)
			}
		}
		_, err := c.Blob("b").CopyFrom(ctx, blob.Source{Container: containerName, Name: "a"}, nil)
		if !b.differs("copy source") {
			b.status("CopyFrom", err, 404, storage.CodeCannotVerifyCopySource)
		}
	}),
	atOnce("PutAndGet", func(b *blobBench, ctx context.Context, c blob.Container) {
		for _, text := range []string{"", "a", "grüße \x00\xff", pattern(5000), pattern(3<<20 + 17)} {
			a := c.Blob("dir/a.txt")
			w := b.put(ctx, a, text)
			sum := md5.Sum([]byte(text))
			if !etagForm.MatchString(w.ETag) || !slices.Equal(w.ContentMD5, sum[:]) {
				b.Errorf("Put of %d bytes = %+v", len(text), w)
			}
			d, err := a.Get(ctx, nil)
			b.ok("Get", err)
			p := d.Properties
			if p.ETag != w.ETag || p.ContentLength != int64(len(text)) || p.Type != blob.BlockBlob || !p.LastModified.Equal(w.LastModified) ||
				!slices.Equal(p.Headers.ContentMD5, sum[:]) || d.Range != (blob.Range{Count: int64(len(text))}) {
				b.Errorf("Get after Put of %d bytes: %+v, %+v", len(text), p, d.Range)
			}
			if got := b.readAll(d); got != text {
				b.Errorf("Get after Put of %d bytes: other content, %d bytes", len(text), len(got))
			}
		}
	}),
	atOnce("DefaultsOfANewBlob", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("a"), "a")
		p := b.properties(ctx, c.Blob("a"))
		p.Headers.ContentMD5 = nil
		if p.Headers.ContentType != "application/octet-stream" || p.Headers.ContentEncoding+p.Headers.ContentLanguage+p.Headers.ContentDisposition+p.Headers.CacheControl != "" {
			b.Errorf("Headers = %+v, want only application/octet-stream", p.Headers)
		}
		if p.Lease != (blob.LeaseProperties{State: "available", Status: "unlocked"}) || p.Copy != nil || len(p.Metadata) != 0 ||
			p.AccessTier != "Hot" || !p.AccessTierInferred || p.Created.IsZero() {
			b.Errorf("Properties = %+v", p)
		}
	}),
	atOnce("LastModifiedHasWholeSeconds", func(b *blobBench, ctx context.Context, c blob.Container) {
		w := b.put(ctx, c.Blob("a"), "a")
		if !w.LastModified.Equal(w.LastModified.Truncate(time.Second)) {
			b.Errorf("LastModified = %v", w.LastModified)
		}
		if b.Now != nil && !w.LastModified.Equal(b.Now().Truncate(time.Second)) {
			b.Errorf("LastModified = %v, want now, %v", w.LastModified, b.Now())
		}
	}),
	atOnce("EveryWriteHasANewETag", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		var etags []string
		note := func(w *blob.Written, err error) {
			b.Helper()
			b.ok("write", err)
			if got := b.properties(ctx, a).ETag; got != w.ETag {
				b.Errorf("ETag = %s after a write that returned %s", got, w.ETag)
			}
			etags = append(etags, w.ETag)
		}
		note(a.Put(ctx, strings.NewReader("a"), nil))
		note(a.Put(ctx, strings.NewReader("a"), nil))
		note(a.SetMetadata(ctx, map[string]string{"a": "b"}, nil))
		note(a.SetMetadata(ctx, map[string]string{"a": "b"}, nil))
		note(a.SetHeaders(ctx, blob.Headers{ContentType: "text/plain"}, nil))
		_, err := a.PutBlock(ctx, "AAAA", strings.NewReader("a"), nil)
		b.ok("PutBlock", err)
		note(a.PutBlockList(ctx, []blob.BlockRef{{ID: "AAAA"}}, nil))
		for i, etag := range etags {
			if !etagForm.MatchString(etag) || slices.Contains(etags[:i], etag) {
				b.Errorf("ETags of writes = %q, want different ones of the usual form", etags)
				break
			}
		}
		before := b.properties(ctx, a).ETag
		_, err = a.AcquireLease(ctx, blob.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		_, err = a.Snapshot(ctx, nil)
		b.ok("Snapshot", err)
		if after := b.properties(ctx, a).ETag; after != before {
			b.Errorf("ETag = %s after a lease and a snapshot, before %s", after, before)
		}
	}),
	atOnce("OverwriteReplacesEverythingButSnapshots", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		_, err := a.Put(ctx, strings.NewReader("old"), &blob.PutOptions{
			Headers: blob.Headers{ContentType: "text/plain", CacheControl: "no-store"}, Metadata: map[string]string{"Old": "1"},
		})
		b.ok("Put", err)
		snap, err := a.Snapshot(ctx, nil)
		b.ok("Snapshot", err)
		_, err = a.PutBlock(ctx, "AAAA", strings.NewReader("waits"), nil)
		b.ok("PutBlock", err)
		b.put(ctx, a, "new")
		b.content(ctx, a, "new")
		if p := b.properties(ctx, a); len(p.Metadata) != 0 || p.Headers.CacheControl != "" || p.Headers.ContentType != "application/octet-stream" {
			b.Errorf("Properties after overwriting = %+v", p)
		}
		list, err := a.BlockList(ctx, nil)
		b.ok("BlockList", err)
		if len(list.Uncommitted) != 0 && !b.differs("waiting blocks") {
			b.Errorf("blocks that wait after overwriting = %v", list.Uncommitted)
		}
		b.content(ctx, a.At(snap.Snapshot), "old")
		if p := b.properties(ctx, a.At(snap.Snapshot)); p.Metadata[b.name("Old")] != "1" {
			b.Errorf("Metadata of the snapshot = %v", p.Metadata)
		}
	}),
	atOnce("HeadersAndMetadata", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		headers := blob.Headers{ContentType: "text/plain", ContentEncoding: "gzip", ContentLanguage: "de", ContentDisposition: "inline", CacheControl: "no-cache"}
		_, err := a.Put(ctx, strings.NewReader("a"), &blob.PutOptions{Headers: headers, Metadata: map[string]string{"CamelCase": "Value", "_x9": ""}})
		b.ok("Put", err)
		p := b.properties(ctx, a)
		if !maps.Equal(p.Metadata, map[string]string{b.name("CamelCase"): "Value", "_x9": ""}) || p.Headers.ContentMD5 == nil {
			b.Errorf("Properties = %+v", p)
		}
		headers.ContentMD5 = p.Headers.ContentMD5
		if !equalHeaders(p.Headers, headers) {
			b.Errorf("Headers = %+v, want %+v", p.Headers, headers)
		}
		only := blob.Headers{ContentLanguage: "fr"}
		_, err = a.SetHeaders(ctx, only, nil)
		b.ok("SetHeaders", err)
		if p = b.properties(ctx, a); !equalHeaders(p.Headers, only) || len(p.Metadata) != 2 {
			b.Errorf("after SetHeaders: %+v, want only the language, and all metadata", p)
		}
		_, err = a.SetMetadata(ctx, map[string]string{"b": "c"}, nil)
		b.ok("SetMetadata", err)
		if p = b.properties(ctx, a); !maps.Equal(p.Metadata, map[string]string{"b": "c"}) || p.Headers.ContentLanguage != "fr" {
			b.Errorf("after SetMetadata: %+v", p)
		}
		b.content(ctx, a, "a")
	}),
	atOnce("MetadataIsChecked", func(b *blobBench, ctx context.Context, c blob.Container) {
		if !b.Features.StrictNames {
			b.Skip("the backend checks metadata in its own way")
		}
		b.put(ctx, c.Blob("a"), "a")
		for _, bad := range []struct {
			metadata map[string]string
			want     storage.Code
		}{
			{map[string]string{"": "a"}, storage.CodeEmptyMetadataKey},
			{map[string]string{"9a": "a"}, storage.CodeInvalidMetadata},
			{map[string]string{"a-b": "a"}, storage.CodeInvalidMetadata},
			{map[string]string{"ä": "a"}, storage.CodeInvalidMetadata},
			{map[string]string{"a": "line\nline"}, storage.CodeInvalidMetadata},
			{map[string]string{"a": "1", "A": "2"}, storage.CodeInvalidMetadata},
			{map[string]string{"a": strings.Repeat("x", 8<<10)}, storage.CodeMetadataTooLarge},
		} {
			_, err := c.Blob("a").SetMetadata(ctx, bad.metadata, nil)
			b.status("SetMetadata", err, 400, bad.want)
			_, err = c.SetMetadata(ctx, bad.metadata, nil)
			b.status("Container.SetMetadata", err, 400, bad.want)
		}
		if p := b.properties(ctx, c.Blob("a")); len(p.Metadata) != 0 {
			b.Errorf("Metadata = %v", p.Metadata)
		}
	}),
	atOnce("BlobNames", func(b *blobBench, ctx context.Context, c blob.Container) {
		for _, name := range []string{"a b", "ü/é", "a?b#c%20", "ends.", strings.Repeat("n", 1024), "a//b", `"quoted"`} {
			b.put(ctx, c.Blob(name), name)
			b.content(ctx, c.Blob(name), name)
		}
		b.put(ctx, c.Blob(`back\slash`), "x")
		b.content(ctx, c.Blob("back/slash"), "x")
		if got := c.Blob(`back\slash`).Name(); got != "back/slash" {
			b.Errorf("Name = %q, want a slash", got)
		}
		if !b.Features.StrictNames {
			return
		}
		for _, name := range []string{"", strings.Repeat("n", 1025)} {
			_, err := c.Blob(name).Put(ctx, strings.NewReader("x"), nil)
			b.status("Put", err, 400, storage.CodeOutOfRangeInput)
		}
	}),
	atOnce("BodyMD5IsChecked", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		right, wrong := md5.Sum([]byte("text")), md5.Sum([]byte("other"))
		_, err := a.Put(ctx, strings.NewReader("text"), &blob.PutOptions{BodyMD5: wrong[:]})
		b.status("Put", err, 400, storage.CodeMD5Mismatch)
		_, err = a.Properties(ctx, nil)
		b.code("Properties after a Put that failed", err, storage.CodeBlobNotFound)
		_, err = a.PutBlock(ctx, "AAAA", strings.NewReader("text"), &blob.PutBlockOptions{BodyMD5: wrong[:]})
		b.status("PutBlock", err, 400, storage.CodeMD5Mismatch)
		_, err = a.Put(ctx, strings.NewReader("text"), &blob.PutOptions{BodyMD5: right[:3]})
		b.status("Put", err, 400, storage.CodeInvalidMD5)
		_, err = a.Put(ctx, strings.NewReader("text"), &blob.PutOptions{BodyMD5: right[:], Headers: blob.Headers{ContentMD5: wrong[:]}})
		b.status("Put to store another MD5", err, 400, storage.CodeMD5Mismatch)
		_, err = a.Put(ctx, strings.NewReader("text"), &blob.PutOptions{BodyMD5: wrong[:], Headers: blob.Headers{ContentMD5: right[:]}})
		b.code("Put where the MD5 to store decides", err, "")
		if p := b.properties(ctx, a); !slices.Equal(p.Headers.ContentMD5, right[:]) {
			b.Errorf("stored MD5 = %x, want %x", p.Headers.ContentMD5, right)
		}
	}),
	atOnce("FailingBodyChangesNothing", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "old")
		broken := errors.New("connection lost")
		_, err := a.Put(ctx, io.MultiReader(strings.NewReader("new"), failingReader{broken}), nil)
		if !errors.Is(err, broken) {
			b.Errorf("Put with a broken body = %v, want its error", err)
		}
		b.content(ctx, a, "old")
	}),
	atOnce("Ranges", func(b *blobBench, ctx context.Context, c blob.Container) {
		text := pattern(1<<20 + 100)
		whole, blocks := c.Blob("whole"), c.Blob("blocks")
		b.put(ctx, whole, text)
		var list []blob.BlockRef
		for i, cut := range []string{text[:10], text[10:11], text[11:5000], text[5000:]} {
			id := "AA" + string(rune('A'+i)) + "A"
			_, err := blocks.PutBlock(ctx, id, strings.NewReader(cut), nil)
			b.ok("PutBlock", err)
			list = append(list, blob.BlockRef{ID: id})
		}
		_, err := blocks.PutBlockList(ctx, list, nil)
		b.ok("PutBlockList", err)
		size := int64(len(text))
		for _, a := range []blob.Blob{whole, blocks} {
			for _, r := range []struct{ offset, count, want int64 }{
				{0, 1, 1}, {0, 10, 10}, {0, 0, size}, {9, 3, 3}, {10, 1, 1}, {11, 4989, 4989}, {4999, 2, 2}, {size - 1, 1, 1}, {size - 1, 100, 1},
				{size - 5, 0, 5}, {0, size + 1, size}, {1<<20 - 1, 3, 3},
			} {
				d, err := a.Get(ctx, &blob.GetOptions{Range: &blob.Range{Offset: r.offset, Count: r.count}})
				b.ok("Get", err)
				if d.Range != (blob.Range{Offset: r.offset, Count: r.want}) || d.Properties.ContentLength != size {
					b.Errorf("Get %+v: range %+v, length %d", r, d.Range, d.Properties.ContentLength)
				}
				if got := b.readAll(d); got != text[r.offset:r.offset+r.want] {
					b.Errorf("Get %+v of %q: other content, %d bytes", r, a.Name(), len(got))
				}
			}
			if b.differs("from the end") {
				continue
			}
			_, err := a.Get(ctx, &blob.GetOptions{Range: &blob.Range{Offset: size}})
			b.status("Get from the end", err, 416, storage.CodeInvalidRange)
			var e *storage.Error
			if asBlobError(err, &e) && e.Size != size {
				b.Errorf("InvalidRange says %d bytes, want %d", e.Size, size)
			}
		}
		b.put(ctx, c.Blob("empty"), "")
		if !b.differs("from the end") {
			_, err = c.Blob("empty").Get(ctx, &blob.GetOptions{Range: &blob.Range{}})
			b.status("Get of an empty blob from 0", err, 416, storage.CodeInvalidRange)
		}
		b.content(ctx, c.Blob("empty"), "")
	}),
	atOnce("DownloadsSeeTheBlobAsItWas", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		text := pattern(2 << 20)
		b.put(ctx, a, text)
		overwritten, err := a.Get(ctx, nil)
		b.ok("Get", err)
		b.put(ctx, a, "new")
		deleted, err := a.Get(ctx, nil)
		b.ok("Get", err)
		b.ok("Delete", a.Delete(ctx, nil))
		if b.readAll(overwritten) != text || b.readAll(deleted) != "new" {
			b.Error("a download changed under its reader")
		}
	}),
	atOnce("DeleteMindsSnapshots", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		snap := func() string {
			s, err := a.Snapshot(ctx, nil)
			b.ok("Snapshot", err)
			return s.Snapshot
		}
		b.put(ctx, a, "a")
		one, two := snap(), snap()
		err := a.Delete(ctx, nil)
		b.status("Delete", err, 409, storage.CodeSnapshotsPresent)
		b.ok("Delete of a snapshot", a.At(one).Delete(ctx, nil))
		_, err = a.At(one).Properties(ctx, nil)
		b.code("Properties of a deleted snapshot", err, storage.CodeBlobNotFound)
		b.code("second Delete of a snapshot", a.At(one).Delete(ctx, nil), storage.CodeBlobNotFound)
		b.ok("Delete of snapshots only", a.Delete(ctx, &blob.DeleteOptions{Snapshots: blob.OnlySnapshots}))
		_, err = a.At(two).Properties(ctx, nil)
		b.code("Properties of a deleted snapshot", err, storage.CodeBlobNotFound)
		b.content(ctx, a, "a")
		three := snap()
		b.ok("Delete of everything", a.Delete(ctx, &blob.DeleteOptions{Snapshots: blob.IncludeSnapshots}))
		_, err = a.At(three).Properties(ctx, nil)
		b.code("Properties of a deleted snapshot", err, storage.CodeBlobNotFound)
		_, err = a.Properties(ctx, nil)
		b.code("Properties of a deleted blob", err, storage.CodeBlobNotFound)
		b.put(ctx, a, "again")
		b.ok("Delete", a.Delete(ctx, nil))
	}),
	atOnce("SnapshotsKeepTheBlob", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		w, err := a.Put(ctx, strings.NewReader("one"), &blob.PutOptions{Metadata: map[string]string{"v": "1"}})
		b.ok("Put", err)
		first, err := a.Snapshot(ctx, nil)
		b.ok("Snapshot", err)
		if first.ETag != w.ETag || !first.LastModified.Equal(w.LastModified) {
			b.Errorf("Snapshot = %+v of %+v, want the same version", first, w)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.0000000Z", first.Snapshot); err != nil {
			b.Errorf("name of a snapshot: %v", err)
		}
		second, err := a.Snapshot(ctx, &blob.SnapshotOptions{Metadata: map[string]string{"v": "2"}})
		b.ok("Snapshot", err)
		if second.Snapshot <= first.Snapshot {
			b.Errorf("snapshots %q and %q, want the second later", first.Snapshot, second.Snapshot)
		}
		b.put(ctx, a, "two")
		b.content(ctx, a.At(first.Snapshot), "one")
		if p := b.properties(ctx, a.At(first.Snapshot)); p.Metadata["v"] != "1" || p.ETag != w.ETag {
			b.Errorf("Properties of the first = %+v", p)
		}
		if p := b.properties(ctx, a.At(second.Snapshot)); p.Metadata["v"] != "2" {
			b.Errorf("Properties of the second = %+v", p)
		}
		_, err = a.At("2001-01-01T00:00:00.0000000Z").Get(ctx, nil)
		b.code("Get of a snapshot that is not there", err, storage.CodeBlobNotFound)
	}),
	atOnce("CopyIsWholeAndIndependent", func(b *blobBench, ctx context.Context, c blob.Container) {
		from, to := c.Blob("from"), c.Blob("to")
		_, err := from.Put(ctx, strings.NewReader("text"), &blob.PutOptions{
			Headers: blob.Headers{ContentType: "text/plain"}, Metadata: map[string]string{"a": "b"},
		})
		b.ok("Put", err)
		source := blob.Source{Container: containerName, Name: "from"}
		copied, err := to.CopyFrom(ctx, source, &blob.CopyOptions{SourceURL: "http://host/inbox/from"})
		b.ok("CopyFrom", err)
		p := b.properties(ctx, to)
		if copied.Status != "success" || copied.ID == "" || p.ETag != copied.ETag || p.Headers.ContentType != "text/plain" || p.Metadata["a"] != "b" {
			b.Errorf("CopyFrom = %+v, then %+v", copied, p)
		}
		if p.Copy == nil || p.Copy.ID != copied.ID || p.Copy.Status != "success" || p.Copy.Bytes != 4 || !b.Features.NamesCopySource && p.Copy.Source != "http://host/inbox/from" {
			b.Errorf("Copy = %+v", p.Copy)
		}
		b.put(ctx, from, "changed")
		b.content(ctx, to, "text")
		_, err = to.CopyFrom(ctx, source, &blob.CopyOptions{Metadata: map[string]string{"c": "d"}})
		b.ok("CopyFrom", err)
		b.content(ctx, to, "changed")
		if p = b.properties(ctx, to); !maps.Equal(p.Metadata, map[string]string{"c": "d"}) {
			b.Errorf("Metadata of the copy = %v", p.Metadata)
		}
		b.ok("Delete", from.Delete(ctx, nil))
		b.content(ctx, to, "changed")
		b.put(ctx, to, "written")
		if p = b.properties(ctx, to); p.Copy != nil {
			b.Errorf("Copy after Put = %+v, want none", p.Copy)
		}
		_, err = to.CopyFrom(ctx, blob.Source{Container: "nowhere", Name: "from"}, nil)
		if b.differs("no container") {
			return
		}
		b.status("CopyFrom of no container", err, 404, storage.CodeCannotVerifyCopySource)
	}),
	atOnce("CopyOfASnapshotRestoresIt", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "old")
		snap, err := a.Snapshot(ctx, nil)
		b.ok("Snapshot", err)
		b.put(ctx, a, "new")
		_, err = a.CopyFrom(ctx, blob.Source{Container: containerName, Name: "a", Snapshot: snap.Snapshot}, nil)
		b.ok("CopyFrom", err)
		b.content(ctx, a, "old")
		b.content(ctx, a.At(snap.Snapshot), "old")
	}),
	{"WakerHearsOfChanges", false, func(b *blobBench) {
		waker, ok := b.Account.(blob.Waker)
		if !ok {
			b.Skip("the account wakes nobody")
		}
		var heard []string
		b.do(func(ctx context.Context, c blob.Container) {
			stop := waker.OnChange(containerName, func(name string) { heard = append(heard, name) })
			_, err := c.Create(ctx, nil)
			b.ok("Create", err)
			expect := func(when string, want ...string) {
				b.Helper()
				if !slices.Equal(heard, want) {
					b.Errorf("%s: heard of %q, want %q", when, heard, want)
				}
				heard = nil
			}
			a := c.Blob("a")
			b.put(ctx, a, "a")
			expect("Put", "a")
			_, err = a.SetMetadata(ctx, nil, nil)
			b.ok("SetMetadata", err)
			_, err = a.SetHeaders(ctx, blob.Headers{}, nil)
			b.ok("SetHeaders", err)
			expect("metadata and headers", "a", "a")
			_, err = c.Blob("b").PutBlock(ctx, "AAAA", strings.NewReader("b"), nil)
			b.ok("PutBlock", err)
			_, err = a.Snapshot(ctx, nil)
			b.ok("Snapshot", err)
			_, err = a.AcquireLease(ctx, blob.InfiniteLease, "", nil)
			b.ok("AcquireLease", err)
			_, err = a.Put(ctx, strings.NewReader("a"), nil)
			b.code("Put", err, storage.CodeLeaseIDMissing)
			expect("a block, a snapshot, a lease and a failure")
			_, err = c.Blob("b").PutBlockList(ctx, []blob.BlockRef{{ID: "AAAA"}}, nil)
			b.ok("PutBlockList", err)
			_, err = c.Blob("c").CopyFrom(ctx, blob.Source{Container: containerName, Name: "b"}, nil)
			b.ok("CopyFrom", err)
			b.append(ctx, c.Blob("d"), "d")
			expect("block list, copy, append blob", "b", "c", "d", "d")
			b.ok("Delete", c.Blob("b").Delete(ctx, nil))
			stop()
			b.put(ctx, c.Blob("e"), "e")
			expect("a deletion and after stop")
		})
	}},
	atOnce("EndedContextDoesNothing", func(b *blobBench, ctx context.Context, c blob.Container) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := c.Blob("a").Put(ended, strings.NewReader("a"), nil); !errors.Is(err, context.Canceled) {
			b.Errorf("Put with an ended context = %v, want context.Canceled", err)
		}
		_, err := c.Blob("a").Properties(ctx, nil)
		b.code("Properties", err, storage.CodeBlobNotFound)
	}),
	atOnce("ResultsAreCopies", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		metadata := map[string]string{"a": "1"}
		_, err := a.Put(ctx, strings.NewReader("a"), &blob.PutOptions{Metadata: metadata})
		b.ok("Put", err)
		metadata["a"] = "2"
		p := b.properties(ctx, a)
		p.Metadata["a"], p.Headers.ContentMD5[0] = "3", p.Headers.ContentMD5[0]+1
		if again := b.properties(ctx, a); again.Metadata["a"] != "1" || again.Headers.ContentMD5[0] == p.Headers.ContentMD5[0] {
			b.Errorf("Properties = %+v: the service saw the caller's change", again)
		}
	}),
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func equalHeaders(a, b blob.Headers) bool {
	if !slices.Equal(a.ContentMD5, b.ContentMD5) {
		return false
	}
	return a.ContentType == b.ContentType && a.ContentEncoding == b.ContentEncoding && a.ContentLanguage == b.ContentLanguage &&
		a.ContentDisposition == b.ContentDisposition && a.CacheControl == b.CacheControl
}
