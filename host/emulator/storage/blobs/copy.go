package blobs

import (
	"context"
	"maps"
	"slices"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Snapshots and copies share the bodies of what they were made of.
//
// Reference: Blob Service REST API, "Snapshot Blob", "Copy Blob".

// snapshotLayout is the form of a snapshot's name.
const snapshotLayout = "2006-01-02T15:04:05.0000000Z"

func (b *blob) Snapshot(ctx context.Context, opts *blobapi.SnapshotOptions) (*blobapi.SnapshotTaken, error) {
	if opts == nil {
		opts = &blobapi.SnapshotOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	var out *blobapi.SnapshotTaken
	err := b.operate(ctx, "Snapshot", func(tx *blobTx) error {
		if b.key.Snapshot != "" {
			return blobError(storage.CodeInvalidQueryParameterValue, "snapshot %q: has no snapshots", b.key.Snapshot)
		}
		r := tx.find(b.key)
		if r == nil {
			if err := r.checkWrite(opts.Conditions, storage.CodeConditionNotMet); err != nil {
				return err
			}
			return notFound(b.key)
		}
		if err := r.checkWrite(opts.Conditions, storage.CodeConditionNotMet); err != nil {
			return err
		}
		if err := r.Lease.allows(tx.now, leaseID(opts.Conditions), blobLeaseCodes()); err != nil {
			return err
		}
		if r.archived(tx.now) {
			return blobError(storage.CodeBlobArchived, "")
		}
		snap := *r
		snap.Lease = lease{}
		snap.Snapshot = nextSnapshot(tx.now, tx.container.blobs[b.key.Name].snapshots)
		if opts.Metadata != nil {
			snap.Metadata = maps.Clone(opts.Metadata)
			snap.Version = tx.newVersion()
		}
		tx.change(putBlob{snap})
		out = &blobapi.SnapshotTaken{
			Written:  blobapi.Written{ETag: snap.Version.ETag, LastModified: snap.Version.Modified},
			Snapshot: snap.Snapshot,
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nextSnapshot returns the name of a snapshot taken now, behind those there are.
func nextSnapshot(now time.Time, taken []*blobRecord) string {
	const tick = 100 * time.Nanosecond
	now = now.Truncate(tick)
	if len(taken) > 0 {
		last, err := time.Parse(snapshotLayout, taken[len(taken)-1].Snapshot)
		if err == nil && !now.After(last) {
			now = last.Add(tick)
		}
	}
	return now.UTC().Format(snapshotLayout)
}

func (b *blob) CopyFrom(ctx context.Context, source blobapi.Source, opts *blobapi.CopyOptions) (*blobapi.Copied, error) {
	if opts == nil {
		opts = &blobapi.CopyOptions{}
	}
	if err := checkCopyOptions(opts); err != nil {
		return nil, err
	}
	var out *blobapi.Copied
	err := b.operate(ctx, "CopyFrom", func(tx *blobTx) error {
		old, err := tx.toReplace(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		from, err := tx.copySource(source, opts.SourceConditions)
		if err != nil {
			return err
		}
		next, err := tx.copyOf(from, old, b.key, opts)
		if err != nil {
			return err
		}
		if from.Type == blobapi.AppendBlob {
			// Both may grow from here.
			next.Content = tx.newContent(slices.Clone(tx.segments(from)))
		}
		out = tx.copied(next, old, opts)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// copySource returns the record of a copy's source.
func (tx *blobTx) copySource(source blobapi.Source, cond *blobapi.Conditions) (*blobRecord, error) {
	container := tx.containers[source.Container]
	var r *blobRecord
	if container != nil {
		in := *tx
		in.container = container
		r = in.find(blobKey{Container: source.Container, Name: source.Name, Snapshot: source.Snapshot})
	}
	if r == nil {
		return nil, blobError(storage.CodeCannotVerifyCopySource, "blob %q does not exist in container %q", source.Name, source.Container)
	}
	if err := checkWrite(cond, &r.Version, storage.CodeSourceConditionNotMet); err != nil {
		if storage.CodeOf(err) == storage.CodeConditionNotMet {
			return nil, blobError(storage.CodeSourceConditionNotMet, "")
		}
		return nil, err
	}
	if err := checkTags(cond, r); err != nil { // ConditionNotMet, and so at the service
		return nil, err
	}
	return r, r.Lease.allows(tx.now, leaseID(cond), blobLeaseCodes())
}
