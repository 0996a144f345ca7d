package blobs

import (
	"context"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Seal closes an append blob for good: nothing is appended any more, what stands
// beside its content can be changed. Sealing a blob again changes nothing. Position,
// if not nil, must be the blob's length.
//
// It is not part of blob.Blob: triggers and bindings do not need it.
//
// Reference: Blob Service REST API, "Append Blob Seal".
func (b *blob) Seal(ctx context.Context, position *int64, cond *blobapi.Conditions) (*blobapi.Written, error) {
	var out *blobapi.Written
	err := b.operate(ctx, "Seal", func(tx *blobTx) error {
		r, err := tx.toModify(b.key, cond)
		if err != nil {
			return err
		}
		if err := checkType(&r, blobapi.AppendBlob); err != nil {
			return err
		}
		if position != nil && *position != r.Size {
			return blobError(storage.CodeAppendPositionConditionNotMet, "")
		}
		if old := tx.find(b.key); old.Sealed {
			out = &blobapi.Written{ETag: old.Version.ETag, LastModified: old.Version.Modified}
			return nil
		}
		r.Sealed = true
		tx.change(putBlob{r})
		out = tx.wrote(&r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
