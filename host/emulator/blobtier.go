package emulator

import (
	"context"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
)

// archiveTier is the tier whose blobs cannot be read.
const archiveTier = "Archive"

// SetTier moves a block blob to a tier: Hot, Cool, Cold or Archive. It reports
// whether the blob comes out of the archive, which takes the service hours and
// this one no time. ETag and time of change stay.
//
// It is not part of blob.Blob: triggers and bindings do not need it.
//
// Reference: Blob Service REST API, "Set Blob Tier"; that a lease guards the tier,
// Azurite: LokiBlobMetadataStore.setTier.
func (b *blob) SetTier(ctx context.Context, tier string, cond *blobapi.Conditions) (rehydrated bool, err error) {
	err = b.operate(ctx, "SetTier", func(tx *blobTx) error {
		r := tx.find(b.key)
		if r == nil {
			return notFound(b.key)
		}
		if err := checkType(r, blobapi.BlockBlob); err != nil {
			return err
		}
		if err := checkTags(cond, r); err != nil {
			return err
		}
		if err := r.Lease.guards(tx.now, leaseID(cond), blobLeaseCodes()); err != nil {
			return err
		}
		rehydrated = r.Tier == archiveTier && tier != archiveTier
		next := *r
		next.Tier = tier
		tx.change(putBlob{next})
		return nil
	})
	return rehydrated && err == nil, err
}
