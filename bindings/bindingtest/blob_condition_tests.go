package bindingtest

import (
	"context"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// writes are the calls that conditions guard, each made on a blob that may or
// may not exist. creates: the blob may be missing; copies: what it is guarded by
// besides.
var writes = []struct {
	name    string
	creates bool
	call    func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error
}{
	{"Put", true, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.Put(ctx, strings.NewReader("b"), &bindings.PutBlobOptions{Conditions: cond})
		return err
	}},
	{"PutBlockList", true, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.PutBlockList(ctx, nil, &bindings.PutBlobOptions{Conditions: cond})
		return err
	}},
	{"CopyFrom", true, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.CopyFrom(ctx, bindings.BlobSource{Container: containerName, Name: "source"}, &bindings.CopyOptions{Conditions: cond})
		return err
	}},
	{"SetMetadata", false, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.SetMetadata(ctx, nil, cond)
		return err
	}},
	{"SetHeaders", false, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.SetHeaders(ctx, bindings.BlobHeaders{}, cond)
		return err
	}},
	{"Delete", false, func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		return a.Delete(ctx, &bindings.DeleteBlobOptions{Conditions: cond})
	}},
}

// reads are the calls that conditions may spare.
var reads = []struct {
	name string
	call func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error
}{
	{"Get", func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		d, err := a.Get(ctx, &bindings.GetBlobOptions{Conditions: cond})
		if err == nil {
			err = d.Body.Close()
		}
		return err
	}},
	{"Properties", func(ctx context.Context, a bindings.Blob, cond *bindings.BlobConditions) error {
		_, err := a.Properties(ctx, cond)
		return err
	}},
}

const otherETag = `"0x1"`

// blobConditionTests are the table of spec storage 17.3.
var blobConditionTests = []blobTest{
	atOnce("WriteConditions", func(b *blobBench, ctx context.Context, c bindings.Container) {
		b.put(ctx, c.Blob("source"), "source")
		for _, w := range writes {
			a := c.Blob("a")
			v := b.put(ctx, a, "a")
			at, second := v.LastModified, time.Second
			star := bindings.CodeConditionNotMet
			starStatus := 412
			if w.creates {
				star, starStatus = bindings.CodeBlobAlreadyExists, 409
			}
			for _, tt := range []struct {
				name   string
				cond   bindings.BlobConditions
				status int
				want   bindings.BlobCode
			}{
				{"IfMatch of another", bindings.BlobConditions{IfMatch: otherETag}, 412, bindings.CodeConditionNotMet},
				{"IfNoneMatch of this", bindings.BlobConditions{IfNoneMatch: v.ETag}, 412, bindings.CodeConditionNotMet},
				{"IfNoneMatch *", bindings.BlobConditions{IfNoneMatch: "*"}, starStatus, star},
				{"IfModifiedSince now", bindings.BlobConditions{IfModifiedSince: at}, 412, bindings.CodeConditionNotMet},
				{"IfModifiedSince later", bindings.BlobConditions{IfModifiedSince: at.Add(second)}, 412, bindings.CodeConditionNotMet},
				{"IfUnmodifiedSince before", bindings.BlobConditions{IfUnmodifiedSince: at.Add(-second)}, 412, bindings.CodeConditionNotMet},
				{"two ETags", bindings.BlobConditions{IfMatch: v.ETag + "," + otherETag}, 400, bindings.CodeMultipleConditionHeadersNotSupported},
				{"two other ETags", bindings.BlobConditions{IfNoneMatch: otherETag + ", " + otherETag}, 400, bindings.CodeMultipleConditionHeadersNotSupported},
				{"IfMatch and IfNoneMatch", bindings.BlobConditions{IfMatch: v.ETag, IfNoneMatch: otherETag}, 400, bindings.CodeMultipleConditionHeadersNotSupported},
				{"both dates", bindings.BlobConditions{IfModifiedSince: at.Add(-second), IfUnmodifiedSince: at}, 400, bindings.CodeMultipleConditionHeadersNotSupported},
				{"IfNoneMatch decides", bindings.BlobConditions{IfNoneMatch: v.ETag, IfModifiedSince: at.Add(-second)}, 412, bindings.CodeConditionNotMet},
				{"IfMatch decides", bindings.BlobConditions{IfMatch: otherETag, IfUnmodifiedSince: at}, 412, bindings.CodeConditionNotMet},
			} {
				if tt.cond.IfNoneMatch == "*" && !w.creates && !b.Features.ChecksEveryWrite {
					continue
				}
				b.status(w.name+": "+tt.name, w.call(ctx, a, &tt.cond), tt.status, tt.want)
			}
			if p := b.properties(ctx, a); p.ETag != v.ETag {
				b.Fatalf("%s has changed the blob, although its conditions were not met", w.name)
			}
			for name, cond := range map[string]func(etag string) bindings.BlobConditions{
				"IfMatch of this":        func(etag string) bindings.BlobConditions { return bindings.BlobConditions{IfMatch: etag} },
				"IfMatch *":              func(string) bindings.BlobConditions { return bindings.BlobConditions{IfMatch: "*"} },
				"IfNoneMatch of another": func(string) bindings.BlobConditions { return bindings.BlobConditions{IfNoneMatch: otherETag} },
				"IfModifiedSince before": func(string) bindings.BlobConditions {
					return bindings.BlobConditions{IfModifiedSince: at.Add(-second)}
				},
				"IfUnmodifiedSince now": func(string) bindings.BlobConditions {
					return bindings.BlobConditions{IfUnmodifiedSince: at.Add(time.Minute)}
				},
				"IfMatch and IfUnmodifiedSince": func(etag string) bindings.BlobConditions {
					return bindings.BlobConditions{IfMatch: etag, IfUnmodifiedSince: at.Add(-second)}
				},
			} {
				v := b.put(ctx, a, "a")
				met := cond(v.ETag)
				b.code(w.name+": "+name, w.call(ctx, a, &met), "")
			}
		}
	}),
	atOnce("WriteConditionsOnAMissingBlob", func(b *blobBench, ctx context.Context, c bindings.Container) {
		b.put(ctx, c.Blob("source"), "source")
		for _, w := range writes {
			a := c.Blob("missing-" + w.name)
			b.status(w.name+": IfMatch", w.call(ctx, a, &bindings.BlobConditions{IfMatch: otherETag}), 412, bindings.CodeConditionNotMet)
			want := bindings.CodeBlobNotFound
			if w.creates {
				want = ""
			}
			b.code(w.name+": IfNoneMatch *", w.call(ctx, a, &bindings.BlobConditions{IfNoneMatch: "*"}), want)
		}
	}),
	atOnce("PutIfMissingOfALeasedBlob", func(b *blobBench, ctx context.Context, c bindings.Container) {
		a := c.Blob("a")
		b.put(ctx, a, "a")
		_, err := a.AcquireLease(ctx, bindings.InfiniteLease, "", nil)
		b.ok("AcquireLease", err)
		_, err = a.Put(ctx, strings.NewReader("b"), &bindings.PutBlobOptions{Conditions: &bindings.BlobConditions{IfNoneMatch: "*"}})
		b.status("Put", err, 409, bindings.CodeBlobAlreadyExists)
	}),
	atOnce("ReadConditions", func(b *blobBench, ctx context.Context, c bindings.Container) {
		a := c.Blob("a")
		v := b.put(ctx, a, "a")
		at, second := v.LastModified, time.Second
		for _, r := range reads {
			for _, tt := range []struct {
				name   string
				cond   bindings.BlobConditions
				status int
				want   bindings.BlobCode
			}{
				{"IfMatch of this", bindings.BlobConditions{IfMatch: v.ETag}, 200, ""},
				{"IfMatch of another", bindings.BlobConditions{IfMatch: otherETag}, 412, bindings.CodeConditionNotMet},
				{"IfNoneMatch of this", bindings.BlobConditions{IfNoneMatch: v.ETag}, 304, bindings.CodeConditionNotMet},
				{"IfNoneMatch of another", bindings.BlobConditions{IfNoneMatch: otherETag}, 200, ""},
				{"IfNoneMatch *", bindings.BlobConditions{IfNoneMatch: "*"}, 400, bindings.CodeUnsatisfiableCondition},
				{"IfModifiedSince before", bindings.BlobConditions{IfModifiedSince: at.Add(-second)}, 200, ""},
				{"IfModifiedSince now", bindings.BlobConditions{IfModifiedSince: at}, 304, bindings.CodeConditionNotMet},
				{"IfUnmodifiedSince now", bindings.BlobConditions{IfUnmodifiedSince: at}, 200, ""},
				{"IfUnmodifiedSince before", bindings.BlobConditions{IfUnmodifiedSince: at.Add(-second)}, 412, bindings.CodeConditionNotMet},
				{"one of IfNoneMatch and IfModifiedSince", bindings.BlobConditions{IfNoneMatch: v.ETag, IfModifiedSince: at.Add(-second)}, 200, ""},
				{"none of IfNoneMatch and IfModifiedSince", bindings.BlobConditions{IfNoneMatch: v.ETag, IfModifiedSince: at}, 304, bindings.CodeConditionNotMet},
				{"IfMatch and IfNoneMatch", bindings.BlobConditions{IfMatch: v.ETag, IfNoneMatch: otherETag}, 200, ""},
				{"IfMatch and not IfUnmodifiedSince", bindings.BlobConditions{IfMatch: v.ETag, IfUnmodifiedSince: at.Add(-second)}, 412, bindings.CodeConditionNotMet},
			} {
				b.status(r.name+": "+tt.name, r.call(ctx, a, &tt.cond), tt.status, tt.want)
			}
			b.status(r.name+": IfNoneMatch of a missing blob", r.call(ctx, c.Blob("missing"), &bindings.BlobConditions{IfNoneMatch: otherETag}), 404, bindings.CodeBlobNotFound)
		}
	}),
	atOnce("CopySourceConditions", func(b *blobBench, ctx context.Context, c bindings.Container) {
		v := b.put(ctx, c.Blob("source"), "source")
		try := func(cond bindings.BlobConditions) error {
			_, err := c.Blob("a").CopyFrom(ctx, bindings.BlobSource{Container: containerName, Name: "source"}, &bindings.CopyOptions{SourceConditions: &cond})
			return err
		}
		want := bindings.CodeSourceConditionNotMet
		if b.differs("code") {
			want = bindings.CodeConditionNotMet
		}
		b.code("IfMatch of another", try(bindings.BlobConditions{IfMatch: otherETag}), want)
		b.code("IfNoneMatch of this", try(bindings.BlobConditions{IfNoneMatch: v.ETag}), want)
		b.code("IfMatch of this", try(bindings.BlobConditions{IfMatch: v.ETag}), "")
	}),
	inTime("DatesAreComparedBySeconds", func(b *blobBench) {
		var v *bindings.Written
		b.do(func(ctx context.Context, c bindings.Container) { v = b.put(ctx, c.Blob("a"), "a") })
		b.Advance(1500 * time.Millisecond)
		b.do(func(ctx context.Context, c bindings.Container) {
			a := c.Blob("a")
			_, err := a.SetMetadata(ctx, nil, &bindings.BlobConditions{IfModifiedSince: v.LastModified.Add(999 * time.Millisecond)})
			b.code("SetMetadata if modified later in its second", err, bindings.CodeConditionNotMet)
			w, err := a.SetMetadata(ctx, nil, &bindings.BlobConditions{IfUnmodifiedSince: v.LastModified})
			b.code("SetMetadata if unmodified since", err, "")
			if w != nil && !w.LastModified.After(v.LastModified) {
				b.Errorf("LastModified = %v after %v", w.LastModified, v.LastModified)
			}
			if p := b.properties(ctx, a); p.Created.After(v.LastModified) {
				b.Errorf("Created = %v, want the time of the first write, %v", p.Created, v.LastModified)
			}
			_, err = a.SetMetadata(ctx, nil, &bindings.BlobConditions{IfUnmodifiedSince: v.LastModified})
			b.code("SetMetadata if unmodified since, once more", err, bindings.CodeConditionNotMet)
			_, err = a.PutBlockList(ctx, nil, nil)
			b.ok("PutBlockList", err)
			if p := b.properties(ctx, a); !p.Created.Equal(v.LastModified) {
				b.Errorf("Created after PutBlockList = %v, want %v still", p.Created, v.LastModified)
			}
		})
	}),
}
