package blobs

import (
	"cmp"
	"context"
	"strings"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// archiveTier is the tier whose blobs cannot be read.
const archiveTier = "Archive"

// The priorities with which a blob comes out of the archive, and the time that
// takes (docs: "Blob rehydration from the archive tier": up to 15 hours, under one
// hour).
const (
	standardPriority = "Standard"
	highPriority     = "High"

	standardThaw = 15 * time.Hour
	highThaw     = time.Hour
)

// rehydration is the way of a blob out of the archive. Nothing has to be done at
// its end: readers compare the time.
type rehydration struct {
	Tier     string // the blob goes there; "": it is not on its way
	Priority string
	Done     time.Time
}

// SetTier moves a block blob to a tier: Hot, Cool, Cold, Smart or Archive. A blob that
// comes out of the archive is there at once and cannot be read until it has
// arrived; the priority, Standard or High, is for that and Standard if it is empty.
// SetTier reports whether the blob is on its way. ETag and time of change stay.
//
// It is not part of blob.Blob: triggers and bindings do not need it.
//
// Reference: Blob Service REST API, "Set Blob Tier"; docs, "Rehydrate an archived
// blob to an online tier": the priority can be raised, and the way cannot be
// called off; that a lease guards the tier, Azurite: LokiBlobMetadataStore.setTier.
func (b *blob) SetTier(ctx context.Context, tier, priority string, cond *blobapi.Conditions) (onItsWay bool, err error) {
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
		next := *r
		if next.thawing(tx.now) && next.Thaw.Tier != tier {
			return blobError(storage.CodeBlobBeingRehydrated, "")
		}
		next.moveTo(tier, priority, tx.now)
		onItsWay = next.thawing(tx.now)
		tx.change(putBlob{next})
		return nil
	})
	return onItsWay && err == nil, err
}

// moveTo moves a blob to a tier, out of the archive with a priority.
func (r *blobRecord) moveTo(tier, priority string, now time.Time) {
	if !r.archived(now) || tier == archiveTier {
		r.Tier, r.TierSet, r.Thaw = tier, now, rehydration{}
		return
	}
	if r.thawing(now) && (r.Thaw.Priority == highPriority || priority != highPriority) {
		return
	}
	r.Thaw = rehydration{Tier: tier, Priority: cmp.Or(priority, standardPriority), Done: now.Add(standardThaw)}
	if priority == highPriority {
		r.Thaw.Done = now.Add(highThaw)
	}
}

// thawing reports whether a blob is on its way out of the archive.
func (r *blobRecord) thawing(now time.Time) bool {
	return r.Thaw.Tier != "" && now.Before(r.Thaw.Done)
}

// archived reports whether a blob cannot be read.
func (r *blobRecord) archived(now time.Time) bool {
	return r.Tier == archiveTier && (r.Thaw.Tier == "" || r.thawing(now))
}

// tierProperties fills in what a block blob says of its tier.
func (r *blobRecord) tierProperties(now time.Time, p *blobapi.Properties) {
	switch {
	case r.thawing(now):
		p.AccessTier, p.AccessTierSet = r.Tier, r.TierSet
		p.ArchiveStatus, p.RehydratePriority = "rehydrate-pending-to-"+strings.ToLower(r.Thaw.Tier), r.Thaw.Priority
	case r.Thaw.Tier != "":
		p.AccessTier, p.AccessTierSet = r.Thaw.Tier, r.Thaw.Done
	case r.Tier != "":
		p.AccessTier, p.AccessTierSet = r.Tier, r.TierSet
	default:
		p.AccessTier, p.AccessTierInferred = "Hot", true
	}
}

// checkTierSet fails if conditions on the time at which a tier was set do not hold.
//
// Reference: Blob Service REST API, "Delete Blob", x-ms-access-tier-if-modified-since.
func (r *blobRecord) checkTierSet(now, after, notAfter time.Time) error {
	var p blobapi.Properties
	r.tierProperties(now, &p)
	set := p.AccessTierSet.Truncate(time.Second)
	if !after.IsZero() && !set.After(after) || !notAfter.IsZero() && set.After(notAfter) {
		return blobError(storage.CodeConditionNotMet, "")
	}
	return nil
}
