package blobs

import (
	"context"
	"errors"
	"io"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// forRead returns the record of a read, after its conditions and its lease, if
// it names one, have had their say.
func (tx *blobTx) forRead(key blobKey, cond *blobapi.Conditions) (*blobRecord, error) {
	r := tx.find(key)
	if r == nil {
		return nil, notFound(key)
	}
	if err := r.checkRead(cond); err != nil {
		return r, err
	}
	return r, r.Lease.allows(tx.now, leaseID(cond), blobLeaseCodes())
}

func (b *blob) Properties(ctx context.Context, cond *blobapi.Conditions) (*blobapi.Properties, error) {
	var p *blobapi.Properties
	err := b.operate(ctx, "Properties", func(tx *blobTx) error {
		r, err := tx.forRead(b.key, cond)
		if err == nil {
			p = r.properties(tx.now)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (b *blob) Get(ctx context.Context, opts *blobapi.GetOptions) (*blobapi.Download, error) {
	if opts == nil {
		opts = &blobapi.GetOptions{}
	}
	var out *blobapi.Download
	err := b.operate(ctx, "Get", func(tx *blobTx) error {
		r, err := tx.forRead(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		if r.archived(tx.now) {
			return blobError(storage.CodeBlobArchived, "")
		}
		span := blobapi.Range{Count: r.Size}
		if opts.Range != nil {
			if span, err = cut(*opts.Range, r.Size); err != nil {
				return err
			}
		}
		out = &blobapi.Download{Properties: r.properties(tx.now), Range: span, Body: b.s.download(r, span)}
		return nil
	})
	if err != nil {
		if out != nil { // the fault came after the effect
			_ = out.Body.Close()
		}
		return nil, err
	}
	return out, nil
}

// cut holds a range to the length of a blob.
func cut(asked blobapi.Range, size int64) (blobapi.Range, error) {
	if asked.Offset < 0 || asked.Count < 0 || asked.Offset >= size {
		err := blobError(storage.CodeInvalidRange, "range from %d: the blob has %d bytes", asked.Offset, size)
		err.Size = size
		return blobapi.Range{}, err
	}
	if rest := size - asked.Offset; asked.Count == 0 || asked.Count > rest {
		asked.Count = rest
	}
	return asked, nil
}

// download reads a range of the content that a record had when it was opened. It
// keeps the content from being removed until it is closed.
type download struct {
	s        *Service
	opening  uint64   // of the store, whose state the content belongs to
	content  *content // nil: closed, or there is none
	closed   bool
	segments []segment
	skip     int64 // of the first segment
	left     int64
	open     body // the first segment; nil: not yet
}

// download is called with the mutex held.
func (s *Service) download(r *blobRecord, span blobapi.Range) *download {
	d := &download{s: s, opening: s.kept.Opening(), content: s.contents[r.Content], left: span.Count}
	s.retainContent(r.Content)
	switch {
	case r.Type == blobapi.PageBlob:
		d.segments = withZeros(s.pages(r), span)
	case d.content != nil:
		d.segments, d.skip = d.content.before(span.Offset, r.Blocks)
	}
	return d
}

func (d *download) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	if d.closed {
		return 0, io.ErrClosedPipe
	}
	if d.open == nil {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	rest := d.segments[0].Size - d.skip
	if most := min(rest, d.left); int64(len(p)) > most {
		p = p[:most]
	}
	n, err := d.open.ReadAt(p, d.segments[0].Skip+d.skip)
	if n == len(p) {
		err = nil
	} else if err == io.EOF {
		err = io.ErrUnexpectedEOF // the store has lost something
	}
	if closeErr := d.advance(n); err == nil {
		err = closeErr
	}
	return n, err
}

// advance goes on by n bytes of the open segment.
func (d *download) advance(n int) error {
	d.skip += int64(n)
	d.left -= int64(n)
	if d.skip < d.segments[0].Size {
		return nil
	}
	err := d.open.Close()
	d.open, d.skip, d.segments = nil, 0, d.segments[1:]
	return err
}

// Next is Read without a copy, for content that is in memory: it returns the next
// bytes, at most so many, or none where they are not in memory or there is nothing
// left; Read tells which. The bytes stay as they are; the caller may not
// change them either.
func (d *download) Next(most int) ([]byte, error) {
	if d.left == 0 || d.closed {
		return nil, nil
	}
	if d.open == nil {
		if err := d.next(); err != nil {
			return nil, err
		}
	}
	held, ok := d.open.(interface{ bytesAt(at int64) []byte })
	if !ok {
		return nil, nil
	}
	p := held.bytesAt(d.segments[0].Skip + d.skip)
	p = p[:min(int64(len(p)), int64(most), d.segments[0].Size-d.skip, d.left)]
	if len(p) == 0 {
		return nil, nil
	}
	return p, d.advance(len(p))
}

// next opens the body of the first segment. An identifier may mean another body
// once the state was replaced.
func (d *download) next() error {
	open, err := d.body(d.segments[0])
	if err != nil {
		return err
	}
	d.open = open
	return nil
}

func (d *download) body(of segment) (body, error) {
	if of.Body == "" {
		return zeroBody{}, nil
	}
	open, err := d.s.bodies.open(of.Body)
	if err != nil {
		return nil, err
	}
	if !d.s.kept.IsOpening(d.opening) {
		return nil, errors.Join(keep.Unavailable(keep.ErrReplaced), open.Close())
	}
	return open, nil
}

// Close frees the content if nothing else needs it. It may be called again. The
// content of a blob that was deleted meanwhile goes with it; where that cannot be
// written, the next start does it.
func (d *download) Close() error {
	var err error
	if d.open != nil {
		err = d.open.Close()
		d.open = nil
	}
	d.closed = true
	_ = d.release().WaitOwn()
	return err
}

func (d *download) release() (commit keep.Awaited) {
	s := d.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := d.content
	d.content = nil
	if c == nil || s.contents[c.ID] != c || s.kept.Opening() != d.opening { // not if the state was replaced
		return keep.Awaited{}
	}
	change := s.kept.Change()
	s.writing = &change
	s.releaseContent(c.ID)
	commit, _ = s.beginLocked(s.writing)
	s.writing = nil
	return commit
}
