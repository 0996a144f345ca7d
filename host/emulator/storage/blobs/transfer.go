package blobs

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// A copy from one account to another goes in three steps, because reading may take
// long: Export, in the clock, holds on to what there is; Import, outside it, makes
// bodies of the other account of that; CopyIn, in the clock again, makes a blob of
// them.

// Exported is a blob as it was at one moment. The caller of the export closes it.
type Exported struct {
	record   blobRecord
	download *download
}

// Export holds on to a blob. It fails as the read of a copy's source does.
func (s *Service) Export(ctx context.Context, source blobapi.Source, cond *blobapi.Conditions) (*Exported, error) {
	var out *Exported
	b := &blob{s: s, key: blobKey{Container: source.Container, Name: source.Name, Snapshot: source.Snapshot}}
	err := b.operate(ctx, "Get", func(tx *blobTx) error {
		r, err := tx.copySource(source, cond)
		if err != nil {
			return err
		}
		if r.archived(tx.now) {
			return blobError(storage.CodeBlobArchived, "")
		}
		out = &Exported{record: *r, download: b.s.download(r, blobapi.Range{})}
		out.download.segments = b.s.segments(r)
		return nil
	})
	if err != nil && out != nil { // the fault came after the effect
		out.Close()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Close lets go of the blob. It may be called again.
func (e *Exported) Close() { _ = e.download.Close() }

// Imported are bodies of an account that no blob has yet. The caller of the import
// calls Discard in the end; bodies that were taken over stay.
type Imported struct {
	record   blobRecord
	bodies   bodyStore
	segments []segment // of staged bodies
	taken    bool
}

// Import stages the content of another account's blob.
func (s *Service) Import(e *Exported) (*Imported, error) {
	i := &Imported{record: e.record, bodies: s.bodies}
	for _, seg := range e.download.segments {
		staged, err := e.stage(seg, i.bodies)
		if err != nil {
			i.Discard()
			return nil, err
		}
		seg.Body, seg.Skip = staged, 0
		i.segments = append(i.segments, seg)
	}
	return i, nil
}

func (e *Exported) stage(seg segment, to bodyStore) (bodyID, error) {
	open, err := e.download.body(seg)
	if err != nil {
		return "", err
	}
	defer open.Close()
	return to.write(io.NewSectionReader(open, seg.Skip, seg.Size), seg.Size, nil)
}

// Discard frees the bodies unless a blob has them. It may be called again.
func (i *Imported) Discard() {
	if !i.taken {
		i.taken = true
		for _, seg := range i.segments {
			i.bodies.discard(seg.Body)
		}
	}
}

// CopyIn makes what was imported the blob, as CopyFrom would; conditions on the
// source had their say.
func (b *blob) CopyIn(ctx context.Context, i *Imported, opts *blobapi.CopyOptions) (*blobapi.Copied, error) {
	if err := checkCopyOptions(opts); err != nil {
		return nil, err
	}
	var out *blobapi.Copied
	err := b.operate(ctx, "CopyFrom", func(tx *blobTx) error {
		old, err := tx.toReplace(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		next, err := tx.copyOf(&i.record, old, b.key, opts)
		if err != nil {
			return err
		}
		segments := slices.Clone(i.segments)
		for n := range segments {
			if segments[n].Body, err = tx.bodies.take(segments[n].Body, tx.kept.Opening()); err != nil {
				return err
			}
		}
		i.taken = true
		next.Content = tx.newContent(segments)
		out = tx.copied(next, old, opts)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func checkCopyOptions(opts *blobapi.CopyOptions) error {
	if err := checkMetadata(opts.Metadata); err != nil {
		return err
	}
	return checkTagSet(opts.Tags)
}

// copyOf is the record of a copy, without its content if that is another. A blob
// that it replaces is of the same type.
//
// Source: docs, Copy Blob, "Remarks".
func (tx *blobTx) copyOf(from, old *blobRecord, to blobKey, opts *blobapi.CopyOptions) (blobRecord, error) {
	if err := checkType(old, from.Type); err != nil {
		return blobRecord{}, err
	}
	archived := from.archived(tx.now)
	if archived && opts.Tier == "" {
		return blobRecord{}, blobError(storage.CodeBlobArchived, "")
	}
	if opts.Tier != "" {
		if err := checkType(from, blobapi.BlockBlob); err != nil {
			return blobRecord{}, err
		}
	}
	next := *from
	next.blobKey, next.Created, next.Lease = to, time.Time{}, lease{}
	next.Tier, next.TierSet, next.Thaw = "", time.Time{}, rehydration{}
	if archived {
		next.Tier, next.TierSet = archiveTier, from.TierSet
	}
	if opts.Tier != "" {
		next.moveTo(opts.Tier, opts.RehydratePriority, tx.now)
	}
	if opts.Seal != nil {
		next.Sealed = *opts.Seal && from.Type == blobapi.AppendBlob
	}
	next.Tags = tagSet(opts.Tags)
	if opts.CopyTags {
		next.Tags = from.Tags
	}
	if opts.Metadata != nil {
		next.Metadata = maps.Clone(opts.Metadata)
	}
	next.Copy = &blobapi.CopyState{ID: tx.newGUID(), Source: opts.SourceURL, Status: "success", Completed: tx.now.Truncate(time.Second), Bytes: from.Size}
	return next, nil
}

// copied puts a copy.
func (tx *blobTx) copied(next blobRecord, old *blobRecord, opts *blobapi.CopyOptions) *blobapi.Copied {
	return &blobapi.Copied{ID: next.Copy.ID, Status: next.Copy.Status, Written: *tx.putLeased(next, old, opts.Sync)}
}
