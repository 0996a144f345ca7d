package bindingtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// blockID returns an identifier of a block; all have one length.
func blockID(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "block-%06d", n))
}

func (b *blobBench) putBlock(ctx context.Context, a blob.Blob, n int, text string) {
	b.Helper()
	_, err := a.PutBlock(ctx, blockID(n), strings.NewReader(text), nil)
	b.ok("PutBlock", err)
}

// refs names blocks wherever they are.
func refs(n ...int) []blob.BlockRef {
	var list []blob.BlockRef
	for _, i := range n {
		list = append(list, blob.BlockRef{ID: blockID(i)})
	}
	return list
}

// blockTests are about blocks and appends: spec storage 17.1.
var blockTests = []blobTest{
	atOnce("BlocksBecomeABlobByTheirList", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.putBlock(ctx, a, 2, "two")
		b.putBlock(ctx, a, 1, "one")
		b.putBlock(ctx, a, 3, "three")
		_, err := a.Properties(ctx, nil)
		b.code("Properties before the list", err, storage.CodeBlobNotFound)
		list, err := a.BlockList(ctx, nil)
		b.ok("BlockList", err)
		if want := []blob.Block{{ID: blockID(1), Size: 3}, {ID: blockID(2), Size: 3}, {ID: blockID(3), Size: 5}}; !slices.Equal(list.Uncommitted, want) || len(list.Committed) != 0 || list.ETag != "" && !b.differs("ETag of waiting blocks") {
			b.Errorf("BlockList = %+v, want %v waiting", list, want)
		}
		w, err := a.PutBlockList(ctx, refs(2, 1, 2), &blob.PutOptions{Metadata: map[string]string{"a": "b"}, Headers: blob.Headers{ContentType: "text/plain"}})
		b.ok("PutBlockList", err)
		b.content(ctx, a, "twoonetwo")
		p := b.properties(ctx, a)
		if p.ETag != w.ETag || p.ContentLength != 9 || p.Metadata["a"] != "b" || p.Headers.ContentType != "text/plain" || p.Type != blob.BlockBlob {
			b.Errorf("Properties = %+v", p)
		}
		list, err = a.BlockList(ctx, nil)
		b.ok("BlockList", err)
		if want := []blob.Block{{ID: blockID(2), Size: 3}, {ID: blockID(1), Size: 3}, {ID: blockID(2), Size: 3}}; !slices.Equal(list.Committed, want) || len(list.Uncommitted) != 0 || list.ETag != w.ETag || list.ContentLength != 9 {
			b.Errorf("BlockList = %+v, want %v committed", list, want)
		}
	}),
	atOnce("BlockListChoosesItsSource", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.putBlock(ctx, a, 1, "old ")
		_, err := a.PutBlockList(ctx, refs(1), nil)
		b.ok("PutBlockList", err)
		b.putBlock(ctx, a, 1, "new ")
		ref := func(from blob.BlockSource) blob.BlockRef {
			return blob.BlockRef{ID: blockID(1), From: from}
		}
		_, err = a.PutBlockList(ctx, []blob.BlockRef{ref(blob.Latest), ref(blob.Committed), ref(blob.Uncommitted)}, nil)
		b.ok("PutBlockList", err)
		b.content(ctx, a, "new old new ")
		_, err = a.PutBlockList(ctx, []blob.BlockRef{ref(blob.Uncommitted)}, nil)
		b.status("PutBlockList of a block that does not wait", err, 400, storage.CodeInvalidBlockList)
		b.putBlock(ctx, c.Blob("b"), 1, "b")
		_, err = c.Blob("b").PutBlockList(ctx, []blob.BlockRef{ref(blob.Committed)}, nil)
		b.status("PutBlockList of a block that is not committed", err, 400, storage.CodeInvalidBlockList)
	}),
	atOnce("CommittedBlocksCanBeUsedAgain", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		for i, text := range []string{"a", "b", "c"} {
			b.putBlock(ctx, a, i, text)
		}
		_, err := a.PutBlockList(ctx, refs(0, 1, 2), nil)
		b.ok("PutBlockList", err)
		b.putBlock(ctx, a, 3, "d")
		_, err = a.PutBlockList(ctx, refs(2, 3, 0), nil)
		b.ok("PutBlockList", err)
		b.content(ctx, a, "cda")
		_, err = a.PutBlockList(ctx, refs(1), nil)
		b.status("PutBlockList of a block that is gone", err, 400, storage.CodeInvalidBlockList)
		b.content(ctx, a, "cda")
		_, err = a.PutBlockList(ctx, nil, nil)
		b.ok("PutBlockList of nothing", err)
		b.content(ctx, a, "")
	}),
	atOnce("FailedBlockListKeepsWaitingBlocks", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.putBlock(ctx, a, 1, "one")
		_, err := a.PutBlockList(ctx, refs(1, 2), nil)
		b.status("PutBlockList", err, 400, storage.CodeInvalidBlockList)
		_, err = a.Properties(ctx, nil)
		b.code("Properties", err, storage.CodeBlobNotFound)
		_, err = a.PutBlockList(ctx, refs(1), nil)
		b.ok("PutBlockList", err)
		b.content(ctx, a, "one")
	}),
	atOnce("BlockOfTheSameNameReplaces", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.putBlock(ctx, a, 1, "one")
		b.putBlock(ctx, a, 1, "other")
		_, err := a.PutBlockList(ctx, refs(1), nil)
		b.ok("PutBlockList", err)
		b.content(ctx, a, "other")
	}),
	atOnce("BlocksDoNotChangeTheBlob", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		w := b.put(ctx, a, "a")
		b.putBlock(ctx, a, 1, "one")
		if p := b.properties(ctx, a); p.ETag != w.ETag {
			b.Errorf("ETag after PutBlock = %s, want %s", p.ETag, w.ETag)
		}
		b.content(ctx, a, "a")
		list, err := a.BlockList(ctx, nil)
		b.ok("BlockList", err)
		if len(list.Committed) != 0 || len(list.Uncommitted) != 1 {
			b.Errorf("BlockList of a blob made by Put = %+v", list)
		}
	}),
	atOnce("BlockIdentifiersAreChecked", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.putBlock(ctx, a, 1, "one")
		if !b.Features.StrictNames {
			b.Skip("the backend checks identifiers in its own way")
		}
		for _, id := range []string{"", "not base64!", "abc", base64.StdEncoding.EncodeToString(make([]byte, 65))} {
			_, err := c.Blob("b").PutBlock(ctx, id, strings.NewReader("x"), nil)
			b.status("PutBlock "+id, err, 400, storage.CodeInvalidBlockID)
		}
		_, err := c.Blob("b").PutBlock(ctx, base64.StdEncoding.EncodeToString(make([]byte, 64)), strings.NewReader("x"), nil)
		b.code("PutBlock with 64 bytes", err, "")
		_, err = a.PutBlock(ctx, "AAAA", strings.NewReader("x"), nil)
		b.status("PutBlock with an identifier of another length", err, 400, storage.CodeInvalidBlobOrBlock)
		_, err = a.PutBlock(ctx, blockID(2), strings.NewReader(""), nil)
		b.status("PutBlock of nothing", err, 400, storage.CodeInvalidHeaderValue)
	}),
	atOnce("DeleteDiscardsWaitingBlocks", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		b.putBlock(ctx, a, 1, "one")
		b.ok("Delete", a.Delete(ctx, nil))
		_, err := a.PutBlockList(ctx, refs(1), nil)
		b.status("PutBlockList", err, 400, storage.CodeInvalidBlockList)
	}),
	atOnce("AppendBlobGrows", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.append(ctx, a)
		b.content(ctx, a, "")
		want := ""
		etag := b.properties(ctx, a).ETag
		for i, text := range []string{"one", "two", pattern(70000)} {
			w, err := a.AppendBlock(ctx, strings.NewReader(text), nil)
			b.ok("AppendBlock", err)
			if w.Offset != int64(len(want)) || w.Blocks != i+1 || w.ETag == etag || !etagForm.MatchString(w.ETag) {
				b.Errorf("AppendBlock %d = %+v", i, w)
			}
			want, etag = want+text, w.ETag
		}
		b.content(ctx, a, want)
		if p := b.properties(ctx, a); p.Type != blob.AppendBlob || p.AppendBlocks != 3 || p.ContentLength != int64(len(want)) || p.ETag != etag {
			b.Errorf("Properties = %+v", p)
		}
		b.append(ctx, a, "again")
		b.content(ctx, a, "again")
	}),
	atOnce("AppendConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.append(ctx, a, "12345")
		five, six, nine := int64(5), int64(6), int64(9)
		try := func(opts *blob.AppendBlockOptions) error {
			_, err := a.AppendBlock(ctx, strings.NewReader("6789"), opts)
			return err
		}
		b.status("at position 6", try(&blob.AppendBlockOptions{Position: &six}), 412, storage.CodeAppendPositionConditionNotMet)
		b.status("up to 6 bytes", try(&blob.AppendBlockOptions{MaxSize: &six}), 412, storage.CodeMaxBlobSizeConditionNotMet)
		b.content(ctx, a, "12345")
		b.code("at position 5, up to 9 bytes", try(&blob.AppendBlockOptions{Position: &five, MaxSize: &nine}), "")
		b.content(ctx, a, "123456789")
		b.status("if another version", try(&blob.AppendBlockOptions{Conditions: &blob.Conditions{IfMatch: `"0x1"`}}), 412, storage.CodeConditionNotMet)
	}),
	atOnce("SnapshotsAndCopiesOfAppendBlobsStay", func(b *blobBench, ctx context.Context, c blob.Container) {
		a, copied := c.Blob("a"), c.Blob("copy")
		b.append(ctx, a, "one")
		snap, err := a.Snapshot(ctx, nil)
		b.ok("Snapshot", err)
		_, err = copied.CopyFrom(ctx, blob.Source{Container: containerName, Name: "a"}, nil)
		b.ok("CopyFrom", err)
		for _, x := range []struct {
			blob blob.Blob
			text string
		}{{a, "two"}, {copied, "three"}} {
			_, err := x.blob.AppendBlock(ctx, strings.NewReader(x.text), nil)
			b.ok("AppendBlock", err)
		}
		b.content(ctx, a, "onetwo")
		b.content(ctx, copied, "onethree")
		b.content(ctx, a.At(snap.Snapshot), "one")
	}),
	atOnce("BlobTypesDoNotMix", func(b *blobBench, ctx context.Context, c blob.Container) {
		block, appended := c.Blob("block"), c.Blob("append")
		b.put(ctx, block, "a")
		b.append(ctx, appended, "a")
		_, err := block.AppendBlock(ctx, strings.NewReader("b"), nil)
		b.status("AppendBlock to a block blob", err, 409, storage.CodeInvalidBlobType)
		_, err = appended.PutBlock(ctx, blockID(1), strings.NewReader("b"), nil)
		b.status("PutBlock to an append blob", err, 409, storage.CodeInvalidBlobType)
		_, err = appended.PutBlockList(ctx, nil, nil)
		b.status("PutBlockList to an append blob", err, 409, storage.CodeInvalidBlobType)
		_, err = appended.BlockList(ctx, nil)
		b.status("BlockList of an append blob", err, 409, storage.CodeInvalidBlobType)
	}),
	atOnce("LimitsOfBlocks", func(b *blobBench, ctx context.Context, c blob.Container) {
		if !b.Features.Limits {
			b.Skip("too many calls for this backend")
		}
		const most = blob.MaxBlocks
		a, log := c.Blob("a"), c.Blob("log")
		b.putBlock(ctx, a, 0, "x")
		list := slices.Repeat(refs(0), most+1)
		_, err := a.PutBlockList(ctx, list, nil)
		b.status("PutBlockList of 50001 blocks", err, 400, storage.CodeBlockListTooLong)
		_, err = a.PutBlockList(ctx, list[:most], nil)
		b.ok("PutBlockList of 50000 blocks", err)
		b.content(ctx, a, strings.Repeat("x", most))
		b.append(ctx, log, slices.Repeat([]string{"y"}, most)...)
		_, err = log.AppendBlock(ctx, strings.NewReader("y"), nil)
		b.status("append 50001", err, 409, storage.CodeBlockCountExceedsLimit)
		b.content(ctx, log, strings.Repeat("y", most))
	}),
}
