package emulator

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
)

// Snapshots and copies share the bodies of what they were made of.
//
// Reference: Blob Service REST API, "Snapshot Blob", "Copy Blob".

// snapshotLayout is the form of a snapshot's name.
const snapshotLayout = "2006-01-02T15:04:05.0000000Z"

func (b *blob) Snapshot(ctx context.Context, opts *bindings.SnapshotOptions) (*bindings.SnapshotTaken, error) {
	if opts == nil {
		opts = &bindings.SnapshotOptions{}
	}
	if err := checkMetadata(opts.Metadata); err != nil {
		return nil, err
	}
	var out *bindings.SnapshotTaken
	err := b.operate(ctx, "Snapshot", func(tx *blobTx) error {
		if b.key.Snapshot != "" {
			return blobError(bindings.CodeInvalidQueryParameterValue, "snapshot %q: has no snapshots", b.key.Snapshot)
		}
		r := tx.find(b.key)
		if r == nil {
			if err := r.checkWrite(opts.Conditions, bindings.CodeConditionNotMet); err != nil {
				return err
			}
			return notFound(b.key)
		}
		if err := r.checkWrite(opts.Conditions, bindings.CodeConditionNotMet); err != nil {
			return err
		}
		if err := r.Lease.allows(tx.now, leaseID(opts.Conditions), blobLeaseCodes()); err != nil {
			return err
		}
		snap := *r
		snap.Lease = lease{}
		snap.Snapshot = nextSnapshot(tx.now, tx.container.blobs[b.key.Name].snapshots)
		if opts.Metadata != nil {
			snap.Metadata = maps.Clone(opts.Metadata)
			snap.Version = tx.newVersion()
		}
		tx.change(putBlob{snap})
		out = &bindings.SnapshotTaken{
			Written:  bindings.Written{ETag: snap.Version.ETag, LastModified: snap.Version.Modified},
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

func (b *blob) CopyFrom(ctx context.Context, source bindings.BlobSource, opts *bindings.CopyOptions) (*bindings.Copied, error) {
	if opts == nil {
		opts = &bindings.CopyOptions{}
	}
	if err := checkCopyOptions(opts); err != nil {
		return nil, err
	}
	var out *bindings.Copied
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
		if from.Type == bindings.AppendBlob {
			// Both may grow from here.
			next.Content = tx.newContent(slices.Clone(tx.segments(from)))
		}
		out = tx.copied(next, old)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// copySource returns the record of a copy's source.
func (tx *blobTx) copySource(source bindings.BlobSource, cond *bindings.BlobConditions) (*blobRecord, error) {
	container := tx.containers[source.Container]
	var r *blobRecord
	if container != nil {
		in := *tx
		in.container = container
		r = in.find(blobKey{Container: source.Container, Name: source.Name, Snapshot: source.Snapshot})
	}
	if r == nil {
		return nil, blobError(bindings.CodeCannotVerifyCopySource, "blob %q does not exist in container %q", source.Name, source.Container)
	}
	if err := r.checkWrite(cond, bindings.CodeSourceConditionNotMet); err != nil {
		if bindings.BlobCodeOf(err) == bindings.CodeConditionNotMet {
			return nil, blobError(bindings.CodeSourceConditionNotMet, "")
		}
		return nil, err
	}
	return r, r.Lease.allows(tx.now, leaseID(cond), blobLeaseCodes())
}
