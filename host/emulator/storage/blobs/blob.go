package blobs

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// defaultContentType is the type of a blob whose writer names none.
const defaultContentType = "application/octet-stream"

// blob is a handle on one blob or snapshot. It serves the calls of blob.Blob:
// this file has the calls that write a blob as a whole, or its properties.
type blob struct {
	s     *Service
	epoch *epoch.Epoch // the epoch of the handle's holder; nil: it does not end
	key   blobKey
}

func (b *blob) Name() string { return b.key.Name }

func (b *blob) At(snapshot string) blobapi.Blob {
	at := *b
	at.key.Snapshot = snapshot
	return &at
}

func (b *blob) operate(ctx context.Context, op string, f func(tx *blobTx) error) error {
	if b.key.Container == "" {
		return blobapi.ValidateContainerName("")
	}
	if err := blobapi.ValidateName(b.key.Name); err != nil {
		return err
	}
	during := b.epoch
	if op == "Get" {
		during = nil // attempts go on after the end of their epoch, and reading changes nothing
	}
	return during.During(func() error {
		return b.s.operate(ctx, account.FaultPoint{Op: op, Container: b.key.Container, Blob: b.key.Name}, false, f)
	})
}

// find returns the record of the handle; nil if there is none.
func (tx *blobTx) find(key blobKey) *blobRecord {
	state := tx.container.blobs[key.Name]
	switch {
	case state == nil:
		return nil
	case key.Snapshot == "":
		return state.base
	}
	if i, found := state.findSnapshot(key.Snapshot); found {
		return state.snapshots[i]
	}
	return nil
}

// toReplace returns the record that a write of a whole blob replaces, nil if
// there is none, after it has checked the conditions and the lease. Who names the
// lease of a blob may replace it although the blob must not exist.
//
// Source of that: recordings of azure-storage-blob for Python 12.14.0b1 at the
// service, test_create_from_bytes_blob_with_lease_id (If-None-Match: * and
// x-ms-lease-id are answered with 201).
func (tx *blobTx) toReplace(key blobKey, cond *blobapi.Conditions) (*blobRecord, error) {
	if r := tx.find(key); r != nil && leaseID(cond) != "" && cond.IfNoneMatch == "*" && r.Lease.guards(tx.now, cond.LeaseID, blobLeaseCodes()) == nil {
		without := *cond
		without.IfNoneMatch = ""
		cond = &without
	}
	r, err := tx.forWrite(key, cond, storage.CodeBlobAlreadyExists)
	if err == nil && r == nil {
		err = lease{}.allows(tx.now, leaseID(cond), blobLeaseCodes())
	}
	return r, err
}

// toModify returns a copy of the record that a write changes, which must exist,
// with a new version.
func (tx *blobTx) toModify(key blobKey, cond *blobapi.Conditions) (blobRecord, error) {
	r, err := tx.forWrite(key, cond, storage.CodeConditionNotMet)
	switch {
	case err != nil:
		return blobRecord{}, err
	case r == nil:
		return blobRecord{}, notFound(key)
	}
	next := *r
	next.Version = tx.newVersion()
	next.Lease = r.Lease.written(tx.now, false)
	return next, nil
}

func (tx *blobTx) forWrite(key blobKey, cond *blobapi.Conditions, exists storage.Code) (*blobRecord, error) {
	if key.Snapshot != "" {
		return nil, blobError(storage.CodeInvalidQueryParameterValue, "snapshot %q: cannot be written", key.Snapshot)
	}
	r := tx.find(key)
	if err := r.checkWrite(cond, exists); err != nil || r == nil {
		return nil, err
	}
	return r, r.Lease.guards(tx.now, leaseID(cond), blobLeaseCodes())
}

func notFound(key blobKey) error {
	return blobError(storage.CodeBlobNotFound, "blob %q does not exist in container %q", key.Name, key.Container)
}

// put puts a new blob under the record's key. Old is the replaced record.
func (tx *blobTx) put(r blobRecord, old *blobRecord) *blobapi.Written {
	return tx.putLeased(r, old, true)
}

// putLeased is put that may keep a lease that has ended.
func (tx *blobTx) putLeased(r blobRecord, old *blobRecord, replaced bool) *blobapi.Written {
	r.Version = tx.newVersion()
	if r.Created.IsZero() {
		r.Created = r.Version.Modified
	}
	if old != nil {
		r.Lease = old.Lease.written(tx.now, replaced)
	}
	tx.change(putBlob{r})
	tx.dropBlocks(r.blobKey)
	return tx.wrote(&r)
}

// dropBlocks drops the blocks that wait under a name, if any do.
func (tx *blobTx) dropBlocks(key blobKey) {
	if state := tx.container.blobs[key.Name]; state != nil && len(state.blocks) > 0 {
		tx.change(dropBlocks{key})
	}
}

// wrote announces a record that has been put, and is the answer to its writer.
func (tx *blobTx) wrote(r *blobRecord) *blobapi.Written {
	tx.changed = r.Name
	return &blobapi.Written{ETag: r.Version.ETag, LastModified: r.Version.Modified}
}

func (b *blob) Put(ctx context.Context, body io.Reader, opts *blobapi.PutOptions) (*blobapi.Written, error) {
	if opts == nil {
		opts = &blobapi.PutOptions{}
	}
	staged, err := b.s.take(body, blobapi.MaxPutBlob, true)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	record, err := b.recordOf(staged, opts)
	if err != nil {
		return nil, err
	}
	out := &blobapi.Written{} // stays where a fault loses it
	err = b.operate(ctx, "Put", func(tx *blobTx) error {
		old, err := tx.toReplace(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		record := record
		if staged.size > 0 {
			seg, err := tx.take(staged)
			if err != nil {
				return err
			}
			record.Content = tx.newContent([]segment{seg})
			record.Blocks, record.Size = 1, staged.size
		}
		out = tx.put(record, old)
		if record.Type == blobapi.BlockBlob {
			out.ContentMD5 = slices.Clone(staged.md5)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// recordOf returns the record of a blob of a body, which is checked.
func (b *blob) recordOf(body *StagedBody, opts *blobapi.PutOptions) (blobRecord, error) {
	record, err := b.newRecord(opts)
	if err != nil {
		return record, err
	}
	want := opts.BodyMD5
	if blocks := opts.Type == blobapi.BlockBlob || opts.Type == ""; blocks && opts.Headers.ContentMD5 != nil {
		want = opts.Headers.ContentMD5
	}
	if err := body.checkMD5(want); err != nil {
		return record, err
	}
	switch opts.Type {
	case blobapi.BlockBlob, "":
		record.Type = blobapi.BlockBlob
		sum, err := body.sum()
		record.Headers.ContentMD5 = slices.Clone(sum)
		return record, err
	case blobapi.AppendBlob:
		record.Type = blobapi.AppendBlob
		if body.size > 0 {
			return record, blobError(storage.CodeInvalidOperation, "an append blob is created empty")
		}
		return record, nil
	case blobapi.PageBlob:
		if body.size > 0 {
			return record, blobError(storage.CodeInvalidOperation, "a page blob is created without content")
		}
		return newPageBlob(record, opts)
	}
	return record, blobError(storage.CodeInvalidHeaderValue, "blob type %q: want BlockBlob, AppendBlob or PageBlob", opts.Type)
}

// newRecord returns the record of a blob that is made or replaced.
func (b *blob) newRecord(opts *blobapi.PutOptions) (blobRecord, error) {
	if err := checkMetadata(opts.Metadata); err != nil {
		return blobRecord{}, err
	}
	if err := checkTagSet(opts.Tags); err != nil {
		return blobRecord{}, err
	}
	r := blobRecord{blobKey: b.key, Headers: opts.Headers, Metadata: maps.Clone(opts.Metadata), Tags: tagSet(opts.Tags)}
	r.Headers.ContentMD5 = slices.Clone(opts.Headers.ContentMD5)
	if r.Headers.ContentType == "" {
		r.Headers.ContentType = defaultContentType
	}
	return r, nil
}

// modify puts the record that f has changed, with a new version.
func (b *blob) modify(ctx context.Context, op string, cond *blobapi.Conditions, f func(r *blobRecord)) (*blobapi.Written, error) {
	out := &blobapi.Written{} // stays where a fault loses it
	err := b.operate(ctx, op, func(tx *blobTx) error {
		r, err := tx.toModify(b.key, cond)
		if err != nil {
			return err
		}
		if r.archived(tx.now) {
			return blobError(storage.CodeBlobArchived, "")
		}
		f(&r)
		tx.change(putBlob{r})
		out = tx.wrote(&r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (b *blob) SetHeaders(ctx context.Context, h blobapi.Headers, cond *blobapi.Conditions) (*blobapi.Written, error) {
	h.ContentMD5 = slices.Clone(h.ContentMD5)
	return b.modify(ctx, "SetHeaders", cond, func(r *blobRecord) { r.Headers, r.Copy = h, nil })
}

func (b *blob) SetMetadata(ctx context.Context, metadata map[string]string, cond *blobapi.Conditions) (*blobapi.Written, error) {
	if err := checkMetadata(metadata); err != nil {
		return nil, err
	}
	metadata = maps.Clone(metadata)
	return b.modify(ctx, "SetMetadata", cond, func(r *blobRecord) { r.Metadata = metadata })
}

func (b *blob) Delete(ctx context.Context, opts *blobapi.DeleteOptions) error {
	if opts == nil {
		opts = &blobapi.DeleteOptions{}
	}
	switch opts.Snapshots {
	case blobapi.RefuseIfSnapshots:
	case blobapi.IncludeSnapshots, blobapi.OnlySnapshots:
		if b.key.Snapshot != "" {
			return blobError(storage.CodeInvalidQueryParameterValue, "snapshot %q: has no snapshots to delete", b.key.Snapshot)
		}
	default:
		return blobError(storage.CodeInvalidHeaderValue, "delete snapshots %q: want include or only", opts.Snapshots)
	}
	return b.operate(ctx, "Delete", func(tx *blobTx) error {
		if b.key.Snapshot != "" {
			return b.deleteSnapshot(tx, opts.Conditions)
		}
		r, err := tx.toModify(b.key, opts.Conditions)
		if err != nil {
			return err
		}
		if err := r.checkTierSet(tx.now, opts.TierSetAfter, opts.TierNotSetAfter); err != nil {
			return err
		}
		state := tx.container.blobs[b.key.Name]
		if len(state.snapshots) > 0 && opts.Snapshots == blobapi.RefuseIfSnapshots {
			return blobError(storage.CodeSnapshotsPresent, "")
		}
		for _, snap := range state.snapshots {
			tx.change(dropBlob{snap.blobKey})
		}
		if opts.Snapshots != blobapi.OnlySnapshots {
			tx.dropBlocks(b.key)
			tx.change(dropBlob{b.key})
		}
		return nil
	})
}

func (b *blob) deleteSnapshot(tx *blobTx, cond *blobapi.Conditions) error {
	r := tx.find(b.key)
	if r == nil {
		return notFound(b.key)
	}
	if err := r.checkWrite(cond, storage.CodeConditionNotMet); err != nil {
		return err
	}
	tx.change(dropBlob{b.key})
	return nil
}

// Lease operations on a blob.

func (b *blob) lease(ctx context.Context, op string, cond *blobapi.Conditions, f func(tx *blobTx, l lease) (lease, error)) (*blobapi.Lease, error) {
	var out *blobapi.Lease
	err := b.operate(ctx, op, func(tx *blobTx) error {
		if b.key.Snapshot != "" {
			return blobError(storage.CodeInvalidQueryParameterValue, "snapshot %q: cannot be leased", b.key.Snapshot)
		}
		r := tx.find(b.key)
		if r == nil {
			return notFound(b.key)
		}
		if err := r.checkWrite(cond, storage.CodeConditionNotMet); err != nil {
			return err
		}
		l, err := f(tx, r.Lease)
		if err != nil {
			return err
		}
		next := *r
		next.Lease = l
		tx.change(putBlob{next})
		out = &blobapi.Lease{ID: l.ID, ETag: r.Version.ETag, LastModified: r.Version.Modified}
		return nil
	})
	return out, err
}

func (b *blob) AcquireLease(ctx context.Context, d time.Duration, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return acquireLease(ctx, b, d, proposed, cond)
}

func (b *blob) RenewLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return renewLease(ctx, b, id, cond)
}

func (b *blob) ChangeLease(ctx context.Context, id, proposed string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return changeLease(ctx, b, id, proposed, cond)
}

func (b *blob) ReleaseLease(ctx context.Context, id string, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return releaseLease(ctx, b, id, cond)
}

func (b *blob) BreakLease(ctx context.Context, period *time.Duration, cond *blobapi.Conditions) (*blobapi.Lease, error) {
	return breakLease(ctx, b, period, cond)
}
