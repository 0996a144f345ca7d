package bindingtest

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// writes are the calls that conditions guard, each made on a blob that may or
// may not exist. creates: the blob may be missing; copies: what it is guarded by
// besides.
var writes = []struct {
	name    string
	creates bool
	call    func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error
}{
	{"Put", true, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.Put(ctx, strings.NewReader("b"), &blob.PutOptions{Conditions: cond})
		return err
	}},
	{"PutBlockList", true, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.PutBlockList(ctx, nil, &blob.PutOptions{Conditions: cond})
		return err
	}},
	{"CopyFrom", true, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.CopyFrom(ctx, blob.Source{Container: containerName, Name: "source"}, &blob.CopyOptions{Conditions: cond})
		return err
	}},
	{"SetMetadata", false, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.SetMetadata(ctx, nil, cond)
		return err
	}},
	{"SetHeaders", false, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.SetHeaders(ctx, blob.Headers{}, cond)
		return err
	}},
	{"Delete", false, func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		return a.Delete(ctx, &blob.DeleteOptions{Conditions: cond})
	}},
}

// reads are the calls that conditions may spare.
var reads = []struct {
	name string
	call func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error
}{
	{"Get", func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		d, err := a.Get(ctx, &blob.GetOptions{Conditions: cond})
		if err == nil {
			err = d.Body.Close()
		}
		return err
	}},
	{"Properties", func(ctx context.Context, a blob.Blob, cond *blob.Conditions) error {
		_, err := a.Properties(ctx, cond)
		return err
	}},
}

const otherETag = `"0x1"`

// blobConditionTests are the table of spec storage 17.3.
var blobConditionTests = []blobTest{
	atOnce("WriteConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("source"), "source")
		for _, w := range writes {
			a := c.Blob("a")
			v := b.put(ctx, a, "a")
			at, second := v.LastModified, time.Second
			star := storage.CodeConditionNotMet
			starStatus := 412
			if w.creates {
				star, starStatus = storage.CodeBlobAlreadyExists, 409
			}
			for _, tt := range []struct {
				name   string
				cond   blob.Conditions
				status int
				want   storage.Code
			}{
				{"IfMatch of another", blob.Conditions{IfMatch: otherETag}, 412, storage.CodeConditionNotMet},
				{"IfNoneMatch of this", blob.Conditions{IfNoneMatch: v.ETag}, 412, storage.CodeConditionNotMet},
				{"IfNoneMatch *", blob.Conditions{IfNoneMatch: "*"}, starStatus, star},
				{"IfModifiedSince now", blob.Conditions{IfModifiedSince: at}, 412, storage.CodeConditionNotMet},
				{"IfModifiedSince later", blob.Conditions{IfModifiedSince: at.Add(second)}, 412, storage.CodeConditionNotMet},
				{"IfUnmodifiedSince before", blob.Conditions{IfUnmodifiedSince: at.Add(-second)}, 412, storage.CodeConditionNotMet},
				{"two ETags", blob.Conditions{IfMatch: v.ETag + "," + otherETag}, 400, storage.CodeMultipleConditionHeadersNotSupported},
				{"two other ETags", blob.Conditions{IfNoneMatch: otherETag + ", " + otherETag}, 400, storage.CodeMultipleConditionHeadersNotSupported},
				{"IfMatch and IfNoneMatch", blob.Conditions{IfMatch: v.ETag, IfNoneMatch: otherETag}, 400, storage.CodeMultipleConditionHeadersNotSupported},
				{"both dates", blob.Conditions{IfModifiedSince: at.Add(-second), IfUnmodifiedSince: at}, 400, storage.CodeMultipleConditionHeadersNotSupported},
				{"IfNoneMatch decides", blob.Conditions{IfNoneMatch: v.ETag, IfModifiedSince: at.Add(-second)}, 412, storage.CodeConditionNotMet},
				{"IfMatch decides", blob.Conditions{IfMatch: otherETag, IfUnmodifiedSince: at}, 412, storage.CodeConditionNotMet},
			} {
				if tt.cond.IfNoneMatch == "*" && !w.creates && !b.Features.ChecksEveryWrite {
					continue
				}
				b.status(w.name+": "+tt.name, w.call(ctx, a, &tt.cond), tt.status, tt.want)
			}
			if p := b.properties(ctx, a); p.ETag != v.ETag {
				b.Fatalf("%s has changed the blob, although its conditions were not met", w.name)
			}
			for name, cond := range map[string]func(etag string) blob.Conditions{
				"IfMatch of this":        func(etag string) blob.Conditions { return blob.Conditions{IfMatch: etag} },
				"IfMatch *":              func(string) blob.Conditions { return blob.Conditions{IfMatch: "*"} },
				"IfNoneMatch of another": func(string) blob.Conditions { return blob.Conditions{IfNoneMatch: otherETag} },
				"IfModifiedSince before": func(string) blob.Conditions {
					return blob.Conditions{IfModifiedSince: at.Add(-second)}
				},
				"IfUnmodifiedSince now": func(string) blob.Conditions {
					return blob.Conditions{IfUnmodifiedSince: at.Add(time.Minute)}
				},
				"IfMatch and IfUnmodifiedSince": func(etag string) blob.Conditions {
					return blob.Conditions{IfMatch: etag, IfUnmodifiedSince: at.Add(-second)}
				},
			} {
				v := b.put(ctx, a, "a")
				met := cond(v.ETag)
				b.code(w.name+": "+name, w.call(ctx, a, &met), "")
			}
		}
	}),
	atOnce("WriteConditionsOnAMissingBlob", func(b *blobBench, ctx context.Context, c blob.Container) {
		b.put(ctx, c.Blob("source"), "source")
		for _, w := range writes {
			a := c.Blob("missing-" + w.name)
			b.status(w.name+": IfMatch", w.call(ctx, a, &blob.Conditions{IfMatch: otherETag}), 412, storage.CodeConditionNotMet)
			want := storage.CodeBlobNotFound
			if w.creates {
				want = ""
			}
			b.code(w.name+": IfNoneMatch *", w.call(ctx, a, &blob.Conditions{IfNoneMatch: "*"}), want)
		}
	}),
	atOnce("PutIfMissingOfALeasedBlob", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		_, err := a.AcquireLease(ctx, blob.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		_, err = a.Put(ctx, strings.NewReader("b"), &blob.PutOptions{Conditions: &blob.Conditions{IfNoneMatch: "*"}})
		b.status("Put", err, 409, storage.CodeBlobAlreadyExists)
	}),
	atOnce("ReadConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		a := c.Blob("a")
		v := b.put(ctx, a, "a")
		at, second := v.LastModified, time.Second
		for _, r := range reads {
			for _, tt := range []struct {
				name   string
				cond   blob.Conditions
				status int
				want   storage.Code
			}{
				{"IfMatch of this", blob.Conditions{IfMatch: v.ETag}, 200, ""},
				{"IfMatch of another", blob.Conditions{IfMatch: otherETag}, 412, storage.CodeConditionNotMet},
				{"IfNoneMatch of this", blob.Conditions{IfNoneMatch: v.ETag}, 304, storage.CodeConditionNotMet},
				{"IfNoneMatch of another", blob.Conditions{IfNoneMatch: otherETag}, 200, ""},
				{"IfNoneMatch *", blob.Conditions{IfNoneMatch: "*"}, 400, storage.CodeUnsatisfiableCondition},
				{"IfModifiedSince before", blob.Conditions{IfModifiedSince: at.Add(-second)}, 200, ""},
				{"IfModifiedSince now", blob.Conditions{IfModifiedSince: at}, 304, storage.CodeConditionNotMet},
				{"IfUnmodifiedSince now", blob.Conditions{IfUnmodifiedSince: at}, 200, ""},
				{"IfUnmodifiedSince before", blob.Conditions{IfUnmodifiedSince: at.Add(-second)}, 412, storage.CodeConditionNotMet},
				{"one of IfNoneMatch and IfModifiedSince", blob.Conditions{IfNoneMatch: v.ETag, IfModifiedSince: at.Add(-second)}, 200, ""},
				{"none of IfNoneMatch and IfModifiedSince", blob.Conditions{IfNoneMatch: v.ETag, IfModifiedSince: at}, 304, storage.CodeConditionNotMet},
				{"IfMatch and IfNoneMatch", blob.Conditions{IfMatch: v.ETag, IfNoneMatch: otherETag}, 200, ""},
				{"IfMatch and not IfUnmodifiedSince", blob.Conditions{IfMatch: v.ETag, IfUnmodifiedSince: at.Add(-second)}, 412, storage.CodeConditionNotMet},
			} {
				b.status(r.name+": "+tt.name, r.call(ctx, a, &tt.cond), tt.status, tt.want)
			}
			b.status(r.name+": IfNoneMatch of a missing blob", r.call(ctx, c.Blob("missing"), &blob.Conditions{IfNoneMatch: otherETag}), 404, storage.CodeBlobNotFound)
		}
	}),
	atOnce("CopySourceConditions", func(b *blobBench, ctx context.Context, c blob.Container) {
		v := b.put(ctx, c.Blob("source"), "source")
		try := func(cond blob.Conditions) error {
			_, err := c.Blob("a").CopyFrom(ctx, blob.Source{Container: containerName, Name: "source"}, &blob.CopyOptions{SourceConditions: &cond})
			return err
		}
		want := storage.CodeSourceConditionNotMet
		if b.differs("code") {
			want = storage.CodeConditionNotMet
		}
		b.code("IfMatch of another", try(blob.Conditions{IfMatch: otherETag}), want)
		b.code("IfNoneMatch of this", try(blob.Conditions{IfNoneMatch: v.ETag}), want)
		b.code("IfMatch of this", try(blob.Conditions{IfMatch: v.ETag}), "")
	}),
	inTime("DatesAreComparedBySeconds", func(b *blobBench) {
		var v *blob.Written
		b.do(func(ctx context.Context, c blob.Container) { v = b.put(ctx, c.Blob("a"), "a") })
		b.Advance(1500 * time.Millisecond)
		b.do(func(ctx context.Context, c blob.Container) {
			a := c.Blob("a")
			_, err := a.SetMetadata(ctx, nil, &blob.Conditions{IfModifiedSince: v.LastModified.Add(999 * time.Millisecond)})
			b.code("SetMetadata if modified later in its second", err, storage.CodeConditionNotMet)
			w, err := a.SetMetadata(ctx, nil, &blob.Conditions{IfUnmodifiedSince: v.LastModified})
			b.code("SetMetadata if unmodified since", err, "")
			if w != nil && !w.LastModified.After(v.LastModified) {
				b.Errorf("LastModified = %v after %v", w.LastModified, v.LastModified)
			}
			if p := b.properties(ctx, a); p.Created.After(v.LastModified) {
				b.Errorf("Created = %v, want the time of the first write, %v", p.Created, v.LastModified)
			}
			_, err = a.SetMetadata(ctx, nil, &blob.Conditions{IfUnmodifiedSince: v.LastModified})
			b.code("SetMetadata if unmodified since, once more", err, storage.CodeConditionNotMet)
			_, err = a.PutBlockList(ctx, nil, nil)
			b.ok("PutBlockList", err)
			if p := b.properties(ctx, a); !p.Created.Equal(v.LastModified) {
				b.Errorf("Created after PutBlockList = %v, want %v still", p.Created, v.LastModified)
			}
		})
	}),
}
