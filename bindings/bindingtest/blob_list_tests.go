package bindingtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// list returns the names of a page: blobs, snapshots as name@, then prefixes in
// angle brackets.
func (b *blobBench) list(ctx context.Context, c blob.Container, opts *blob.ListOptions) ([]string, *blob.Page) {
	b.Helper()
	page, err := c.Blobs(ctx, opts)
	b.ok("Blobs", err)
	var names []string
	for _, item := range page.Blobs {
		name := item.Name
		if item.Snapshot != "" {
			name += "@"
		}
		names = append(names, name)
	}
	for _, p := range page.Prefixes {
		names = append(names, "<"+p+">")
	}
	return names, page
}

// pages lists everything in pages of a size.
func (b *blobBench) pages(ctx context.Context, c blob.Container, size int, opts blob.ListOptions) []string {
	b.Helper()
	var names []string
	opts.MaxResults = size
	for {
		some, page := b.list(ctx, c, &opts)
		if len(some) > size || len(some) < size && page.NextMarker != "" {
			b.Fatalf("page of %d items where %d were asked for, marker %q", len(some), size, page.NextMarker)
		}
		names = append(names, some...)
		if page.NextMarker == "" {
			return names
		}
		opts.Marker = page.NextMarker
	}
}

func (b *blobBench) listed(what string, got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s = %q, want %q", what, got, want)
	}
}

// blobListTests are spec storage 17.2.
var blobListTests = []blobTest{
	atOnce("ListIsOrdinal", func(b *blobBench, ctx context.Context, c blob.Container) {
		names, page := b.list(ctx, c, nil)
		if len(names) != 0 || page.NextMarker != "" {
			b.Errorf("list of an empty container = %q, %q", names, page.NextMarker)
		}
		for _, name := range []string{"b", "a/2", "ä", "B", "a", "a-", "a/1", "_", "10", "9"} {
			b.put(ctx, c.Blob(name), name)
		}
		names, page = b.list(ctx, c, nil)
		b.listed("list", names, "10", "9", "B", "_", "a", "a-", "a/1", "a/2", "b", "ä")
		if page.NextMarker != "" {
			b.Errorf("NextMarker = %q", page.NextMarker)
		}
		names, _ = b.list(ctx, c, &blob.ListOptions{Prefix: "a"})
		b.listed("list with prefix", names, "a", "a-", "a/1", "a/2")
		names, _ = b.list(ctx, c, &blob.ListOptions{Prefix: "zz"})
		b.listed("list with a prefix that nothing has", names)
		b.ok("Delete", c.Blob("a-").Delete(ctx, nil))
		names, _ = b.list(ctx, c, &blob.ListOptions{Prefix: "a"})
		b.listed("list after Delete", names, "a", "a/1", "a/2")
	}),
	atOnce("ListShowsProperties", func(b *blobBench, ctx context.Context, c blob.Container) {
		w, err := c.Blob("a").Put(ctx, strings.NewReader("text"), &blob.PutOptions{
			Headers: blob.Headers{ContentType: "text/plain", ContentLanguage: "de"}, Metadata: map[string]string{"CamelCase": "b"},
		})
		b.ok("Put", err)
		_, err = c.Blob("b").CopyFrom(ctx, blob.Source{Container: containerName, Name: "a"}, nil)
		b.ok("CopyFrom", err)
		_, err = c.Blob("b").AcquireLease(ctx, blob.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		_, page := b.list(ctx, c, nil)
		p := page.Blobs[0].Properties
		if p.ETag != w.ETag || !p.LastModified.Equal(w.LastModified) || p.ContentLength != 4 || p.Headers.ContentType != "text/plain" || p.Headers.ContentLanguage != "de" ||
			p.Headers.ContentMD5 == nil || p.Type != blob.BlockBlob || p.Created.IsZero() || p.Metadata != nil || p.Lease.State != "available" || p.Lease.Status != "unlocked" {
			b.Errorf("Properties in the list = %+v", p)
		}
		p = page.Blobs[1].Properties
		if p.Copy != nil || p.Lease != (blob.LeaseProperties{State: "leased", Status: "locked", Duration: "infinite"}) {
			b.Errorf("Properties in the list = %+v", p)
		}
		_, page = b.list(ctx, c, &blob.ListOptions{Include: blob.ListInclude{Metadata: true, Copy: true}})
		if p = page.Blobs[1].Properties; p.Metadata[b.name("CamelCase")] != "b" || p.Copy == nil || p.Copy.Status != "success" {
			b.Errorf("Properties in the full list = %+v", p)
		}
	}),
	atOnce("ListInPages", func(b *blobBench, ctx context.Context, c blob.Container) {
		var all []string
		for i := range 23 {
			all = append(all, fmt.Sprintf("n%02d", i))
			b.put(ctx, c.Blob(all[i]), "x")
		}
		for _, size := range []int{1, 5, 22, 23, 24} {
			b.listed(fmt.Sprintf("pages of %d", size), b.pages(ctx, c, size, blob.ListOptions{}), all...)
		}
		b.listed("pages with prefix", b.pages(ctx, c, 4, blob.ListOptions{Prefix: "n1"}), all[10:20]...)
		_, page := b.list(ctx, c, &blob.ListOptions{MaxResults: 5})
		b.ok("Delete", c.Blob("n05").Delete(ctx, nil))
		b.put(ctx, c.Blob("n04-new"), "x")
		b.put(ctx, c.Blob("n06-new"), "x")
		names, _ := b.list(ctx, c, &blob.ListOptions{MaxResults: 2, Marker: page.NextMarker})
		if !b.differs("page after changes") {
			b.listed("page after changes", names, "n06", "n06-new")
		}
		_, err := c.Blobs(ctx, &blob.ListOptions{MaxResults: -1})
		b.status("list of -1 results", err, 400, storage.CodeOutOfRangeQueryParameterValue)
	}),
	atOnce("ListPagesHaveAtMost5000", func(b *blobBench, ctx context.Context, c blob.Container) {
		if !b.Features.Limits {
			b.Skip("too many calls for this backend")
		}
		const n = 5003
		for i := range n {
			b.put(ctx, c.Blob(fmt.Sprintf("%05d", (i*7919)%n)), "")
		}
		for _, most := range []int{0, 5000, 6000} {
			names, page := b.list(ctx, c, &blob.ListOptions{MaxResults: most})
			rest, last := b.list(ctx, c, &blob.ListOptions{MaxResults: most, Marker: page.NextMarker})
			if len(names) != 5000 || len(rest) != 3 || last.NextMarker != "" || !slices.IsSorted(append(names, rest...)) {
				b.Errorf("list of %d results: %d, then %d", most, len(names), len(rest))
			}
		}
	}),
	atOnce("DelimiterFolds", func(b *blobBench, ctx context.Context, c blob.Container) {
		for _, name := range []string{"a", "a/1", "a/2/x", "a/2/y", "a/3", "b/1", "c", "d//x", "a/2/z"} {
			b.put(ctx, c.Blob(name), name)
		}
		names, _ := b.list(ctx, c, &blob.ListOptions{Delimiter: "/"})
		b.listed("list by /", names, "a", "c", "<a/>", "<b/>", "<d/>")
		names, _ = b.list(ctx, c, &blob.ListOptions{Delimiter: "/", Prefix: "a/"})
		b.listed("list of a/ by /", names, "a/1", "a/3", "<a/2/>")
		names, _ = b.list(ctx, c, &blob.ListOptions{Delimiter: "/", Prefix: "a"})
		b.listed("list of a by /", names, "a", "<a/>")
		names, _ = b.list(ctx, c, &blob.ListOptions{Delimiter: "/", Prefix: "d/"})
		b.listed("list of d/ by /", names, "<d//>")
		if !b.differs("long delimiter") {
			names, _ = b.list(ctx, c, &blob.ListOptions{Delimiter: "/2/"})
			b.listed("list by /2/", names, "a", "a/1", "a/3", "b/1", "c", "d//x", "<a/2/>")
		}
		for _, size := range []int{1, 2, 3} {
			got := b.pages(ctx, c, size, blob.ListOptions{Delimiter: "/"})
			slices.Sort(got)
			b.listed(fmt.Sprintf("pages of %d by /", size), got, "<a/>", "<b/>", "<d/>", "a", "c")
		}
		if b.Features.RefusesSnapshotsWithDelimiter {
			_, err := c.Blobs(ctx, &blob.ListOptions{Delimiter: "/", Include: blob.ListInclude{Snapshots: true}})
			b.status("list of snapshots by /", err, 400, storage.CodeInvalidQueryParameterValue)
		}
	}),
	atOnce("ListOfSnapshots", func(b *blobBench, ctx context.Context, c blob.Container) {
		for _, name := range []string{"a", "b", "c"} {
			b.put(ctx, c.Blob(name), "old")
			for range 2 {
				_, err := c.Blob(name).Snapshot(ctx, nil)
				b.ok("Snapshot", err)
			}
			b.put(ctx, c.Blob(name), "newer")
		}
		b.ok("Delete", c.Blob("c").Delete(ctx, &blob.DeleteOptions{Snapshots: blob.IncludeSnapshots}))
		names, _ := b.list(ctx, c, nil)
		b.listed("list", names, "a", "b")
		with := blob.ListOptions{Include: blob.ListInclude{Snapshots: true}}
		names, page := b.list(ctx, c, &with)
		b.listed("list with snapshots", names, "a@", "a@", "a", "b@", "b@", "b")
		if s := page.Blobs; s[0].Snapshot >= s[1].Snapshot || s[0].Properties.ContentLength != 3 || s[2].Properties.ContentLength != 5 {
			b.Errorf("list with snapshots = %+v, want the oldest first", s)
		}
		for _, size := range []int{1, 2, 3, 4, 5} {
			if b.differs("pages") {
				break
			}
			b.listed(fmt.Sprintf("pages of %d with snapshots", size), b.pages(ctx, c, size, with), names...)
		}
	}),
	atOnce("ListOfUncommittedBlobs", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("a"), "a")
		b.putBlock(ctx, c.Blob("a"), 1, "waits")
		b.putBlock(ctx, c.Blob("b"), 1, "waits")
		names, _ := b.list(ctx, c, nil)
		b.listed("list", names, "a")
		names, page := b.list(ctx, c, &blob.ListOptions{Include: blob.ListInclude{Uncommitted: true}})
		b.listed("list with uncommitted", names, "a", "b")
		if n := page.Blobs[1].Properties.ContentLength; n != 0 {
			b.Errorf("length of an uncommitted blob = %d, want 0", n)
		}
		_, err := c.Blob("b").PutBlockList(ctx, refs(1), nil)
		b.ok("PutBlockList", err)
		names, _ = b.list(ctx, c, nil)
		b.listed("list after committing", names, "a", "b")
	}),
}
