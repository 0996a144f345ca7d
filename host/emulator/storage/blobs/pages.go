package blobs

import (
	"context"
	"io"
	"math"
	"slices"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Page blobs: a fixed length, of which pages are written anywhere, and zeros
// elsewhere. Snapshots, copies and readers share a content: then a write makes a new
// one, out of the same bodies. A content that is one blob's alone is patched.
//
// Reference: Blob Service REST API, "Put Page", "Get Page Ranges", "Set Blob
// Properties".

const (
	pageSize512  = 512
	maxPageBlob  = 8 << 40
	maxPutPages  = 4 << 20
	maxPageCount = 1_000_000 // pieces of a page blob: they are in memory
)

// PageOptions are for writes of pages.
type PageOptions struct {
	BodyMD5    []byte // as in blob.PutOptions
	Sequence   SequenceConditions
	Conditions *blobapi.Conditions
}

// SequenceConditions must hold for the sequence number of a page blob; nil is no
// condition.
type SequenceConditions struct{ AtMost, Below, Equal *int64 }

func (c SequenceConditions) check(n int64) error {
	if c.AtMost != nil && n > *c.AtMost || c.Below != nil && n >= *c.Below || c.Equal != nil && n != *c.Equal {
		return blobError(storage.CodeSequenceNumberConditionNotMet, "")
	}
	return nil
}

// PagesWritten is the answer to a write of pages.
type PagesWritten struct {
	blobapi.Written
	Sequence int64
}

// newPageBlob is the record of a page blob that is created.
func newPageBlob(record blobRecord, opts *blobapi.PutOptions) (blobRecord, error) {
	if err := checkPageSize(opts.Size); err != nil {
		return record, err
	}
	if opts.Sequence < 0 {
		return record, blobError(storage.CodeInvalidHeaderValue, "sequence number %d: must not be negative", opts.Sequence)
	}
	record.Type, record.Size, record.Sequence = blobapi.PageBlob, opts.Size, opts.Sequence
	return record, nil
}

func checkPageSize(size int64) error {
	if size < 0 || size > maxPageBlob || size%pageSize512 != 0 {
		return blobError(storage.CodeInvalidHeaderValue, "page blob of %d bytes: want a multiple of 512, at most 8 TiB", size)
	}
	return nil
}

// PutPages writes pages at a place: at most 4 MiB, whole pages of 512 bytes within
// the blob.
func (b *blob) PutPages(ctx context.Context, at int64, body io.Reader, opts *PageOptions) (*PagesWritten, error) {
	staged, err := b.s.take(body, maxPutPages, opts.BodyMD5 != nil)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	if err := staged.checkMD5(opts.BodyMD5); err != nil {
		return nil, err
	}
	out, err := b.writePages(ctx, "PutPages", blobapi.Range{Offset: at, Count: staged.size}, opts, func(tx *blobTx) ([]segment, error) {
		seg, err := tx.take(staged)
		seg.At = at
		return []segment{seg}, err
	})
	if err == nil {
		out.ContentMD5 = slices.Clone(staged.md5)
	}
	return out, err
}

// ClearPages makes pages zero.
func (b *blob) ClearPages(ctx context.Context, span blobapi.Range, opts *PageOptions) (*PagesWritten, error) {
	return b.writePages(ctx, "ClearPages", span, opts, func(*blobTx) ([]segment, error) { return nil, nil })
}

func (b *blob) writePages(ctx context.Context, op string, span blobapi.Range, opts *PageOptions, with func(tx *blobTx) ([]segment, error)) (*PagesWritten, error) {
	if span.Offset < 0 || span.Count <= 0 || span.Offset%pageSize512 != 0 || span.Count%pageSize512 != 0 {
		return nil, blobError(storage.CodeInvalidPageRange, "")
	}
	var out *PagesWritten
	err := b.operate(ctx, op, func(tx *blobTx) error {
		r, err := tx.toModifyPages(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		if err := opts.Sequence.check(r.Sequence); err != nil {
			return err
		}
		if span.Count > r.Size-span.Offset { // the sum could be more than a number holds
			return blobError(storage.CodeInvalidPageRange, "the blob has %d bytes", r.Size)
		}
		put, err := with(tx)
		if err != nil {
			return err
		}
		tx.overlayPages(&r, span, put)
		if r.Blocks > maxPageCount {
			return blobError(storage.CodeBlockCountExceedsLimit, "the blob has more than %d pieces", maxPageCount)
		}
		tx.change(putBlob{r})
		out = &PagesWritten{Written: *tx.wrote(&r), Sequence: r.Sequence}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// toModifyPages is toModify for a page blob.
func (tx *blobTx) toModifyPages(key blobKey, cond *blobapi.Conditions) (blobRecord, error) {
	r, err := tx.toModify(key, cond)
	if err != nil {
		return r, err
	}
	return r, checkType(&r, blobapi.PageBlob)
}

// overlayPages replaces a range of a record's pages: in its content if that is its alone,
// else in a new one.
func (tx *blobTx) overlayPages(r *blobRecord, span blobapi.Range, put []segment) {
	c := tx.contents[r.Content]
	if c != nil && c.refs == 1 {
		old, instead := c.asPages().overlay(span, put)
		if n := r.Blocks - len(old) + len(instead); n > 0 {
			r.Blocks = n
			tx.change(patchPages{Content: r.Content, Span: span, Put: put})
			return
		}
	}
	pages := overlay(tx.segments(r), span, put)
	r.Content, r.Blocks = tx.newContent(pages), len(pages)
}

// pages are the pages of a record.
func (s *Service) pages(r *blobRecord) *pageList {
	if c := s.contents[r.Content]; c != nil {
		return c.asPages()
	}
	return &pageList{}
}

// overlay returns pages with a range replaced.
func overlay(pages []segment, span blobapi.Range, by []segment) []segment {
	end := span.Offset + span.Count
	var before, after []segment
	for _, p := range pages {
		if p.At < span.Offset {
			left := p
			left.Size = min(p.Size, span.Offset-p.At)
			before = append(before, left)
		}
		if over := p.At + p.Size - end; over > 0 {
			right := p
			if cut := end - p.At; cut > 0 {
				right.At, right.Skip, right.Size = end, p.Skip+cut, over
			}
			after = append(after, right)
		}
	}
	return append(append(before, by...), after...)
}

// PageRanges are the pages of a blob that have been written.
type PageRanges struct {
	Ranges        []blobapi.Range // in order, none touches the next
	Cleared       []blobapi.Range // likewise; of a difference: written once, and empty now
	Version       blobapi.Written
	ContentLength int64
}

// PageRanges lists written pages, within a range if there is one; with the name of an
// earlier snapshot only the pages that were written or cleared since.
func (b *blob) PageRanges(ctx context.Context, within *blobapi.Range, since string, cond *blobapi.Conditions) (*PageRanges, error) {
	return b.PageRangesFrom(ctx, within, since, 0, math.MaxInt, cond)
}

// PageRangesFrom is PageRanges for a part of the list: ranges that begin before an offset
// may be left out, and what comes behind one range more than most.
func (b *blob) PageRangesFrom(ctx context.Context, within *blobapi.Range, since string, from int64, most int, cond *blobapi.Conditions) (*PageRanges, error) {
	var out *PageRanges
	err := b.operate(ctx, "PageRanges", func(tx *blobTx) error {
		r, err := tx.forRead(b.key, cond)
		if err != nil {
			return err
		}
		if err := checkType(r, blobapi.PageBlob); err != nil {
			return err
		}
		span := blobapi.Range{Count: r.Size}
		if within != nil {
			if span, err = cut(*within, r.Size); err != nil {
				return err
			}
			// Whole pages are listed.
			end := (span.Offset + span.Count + pageSize512 - 1) / pageSize512 * pageSize512
			span.Offset = span.Offset / pageSize512 * pageSize512
			span.Count = end - span.Offset
		}
		out = &PageRanges{Version: blobapi.Written{ETag: r.Version.ETag, LastModified: r.Version.Modified}, ContentLength: r.Size}
		if since != "" {
			earlier, err := tx.earlier(r, since)
			if err == nil {
				out.difference(tx.segments(earlier), tx.between(earlier, r), tx.segments(r), span)
			}
			return err
		}
		end := span.Offset + span.Count
		for p := range tx.pages(r).from(max(span.Offset, from)) {
			if p.At >= end || len(out.Ranges) > most {
				break
			}
			out.Ranges = appendWithin(out.Ranges, span, p.At, p.end())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// PageProperties are changes of a page blob as a whole; nil leaves a property
// as it is.
type PageProperties struct {
	Size     *int64
	Sequence func(now int64) (int64, error)
	Headers  *blobapi.Headers
}

// SetPageProperties resizes a page blob, whose pages behind the end are lost, or
// gives it a sequence number.
func (b *blob) SetPageProperties(ctx context.Context, p PageProperties, cond *blobapi.Conditions) (*PagesWritten, error) {
	if p.Size != nil {
		if err := checkPageSize(*p.Size); err != nil {
			return nil, err
		}
	}
	var out *PagesWritten
	err := b.operate(ctx, "SetHeaders", func(tx *blobTx) error {
		r, err := tx.toModifyPages(b.key, cond)
		if err != nil {
			return err
		}
		if p.Sequence != nil {
			if r.Sequence, err = p.Sequence(r.Sequence); err != nil {
				return err
			}
		}
		if p.Headers != nil {
			r.Headers = *p.Headers
		}
		if p.Size != nil {
			if *p.Size < r.Size {
				tx.overlayPages(&r, blobapi.Range{Offset: *p.Size, Count: r.Size - *p.Size}, nil)
			}
			r.Size = *p.Size
		}
		tx.change(putBlob{r})
		out = &PagesWritten{Written: *tx.wrote(&r), Sequence: r.Sequence}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// withZeros returns what a range of a page blob is made of: pieces of bodies, and
// between them zeros, which have no body.
func withZeros(pages *pageList, span blobapi.Range) (out []segment) {
	at, end := span.Offset, span.Offset+span.Count
	zeros := func(to int64) {
		if to > at {
			out = append(out, segment{Size: to - at})
			at = to
		}
	}
	for p := range pages.from(span.Offset) {
		from, to := max(p.At, span.Offset), min(p.end(), end)
		if from >= to {
			break
		}
		zeros(from)
		p.Skip += from - p.At
		p.At, p.Size = from, to-from
		out = append(out, p)
		at = to
	}
	zeros(end)
	return out
}

// zeroBody stands for pages that were never written.
type zeroBody struct{}

var zeroPiece [64 << 10]byte

func (zeroBody) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

func (zeroBody) bytesAt(int64) []byte { return zeroPiece[:] }
func (zeroBody) Close() error         { return nil }
