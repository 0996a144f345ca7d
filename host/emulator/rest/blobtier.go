package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// tiered is a blob that can be moved to another tier, as the embedded account's
// can.
type tiered interface {
	SetTier(ctx context.Context, tier, priority string, cond *blobapi.Conditions) (onItsWay bool, err error)
}

// smartTier is the tier that chooses between others by itself; blobs stay in
// smartChoice here.
const (
	smartTier   = "Smart"
	smartChoice = "Hot"
)

// setBlobTier serves Set Blob Tier. The answer for a blob that comes out of the
// archive is 202 (docs: Set Blob Tier, "Status code").
func setBlobTier(c *Call) error {
	tier, refused := c.asked().tier(true)
	if refused != nil {
		return refused
	}
	priority, refused := c.asked().rehydratePriority()
	if refused != nil {
		return refused
	}
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	blob, ok := c.blob().(tiered)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	status := http.StatusOK
	err := c.Inside(func(ctx context.Context) error {
		onItsWay, err := blob.SetTier(ctx, tier, priority, cond)
		if onItsWay {
			status = http.StatusAccepted
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(status, nil)
}

// tier reads the tier that a request asks for, as the service spells it; empty if
// it asks for none and need not.
func (a asked) tier(must bool) (string, *Error) {
	const name = "x-ms-access-tier"
	text := a.Get("X-Ms-Access-Tier")
	if text == "" {
		if must {
			return "", errMissingHeader(name)
		}
		return "", nil
	}
	tiers := []string{"Hot", "Cool", "Cold", "Archive", smartTier}
	i := slices.IndexFunc(tiers, func(t string) bool { return strings.EqualFold(t, text) })
	if i < 0 {
		return "", errInvalidHeader(name, text)
	}
	return tiers[i], nil
}

// putInTier completes a write, whose error it is given, of a blob that asks for a
// tier. It is called in the same turn of the clock.
func (c *Call) putInTier(ctx context.Context, err error, tier string, cond *blobapi.Conditions) error {
	if err != nil || tier == "" {
		return err
	}
	blob, ok := c.blob().(tiered)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	_, err = blob.SetTier(ctx, tier, "", &blobapi.Conditions{LeaseID: cond.LeaseID})
	return err
}

// rehydratePriority reads the priority with which a blob is to come out of the
// archive, as the service spells it; empty if the request names none.
func (a asked) rehydratePriority() (string, *Error) {
	const name = "x-ms-rehydrate-priority"
	text := a.Get(name)
	for _, priority := range []string{"", "Standard", "High"} {
		if strings.EqualFold(priority, text) {
			return priority, nil
		}
	}
	return "", errInvalidHeader(name, text)
}

// tier makes headers of what a blob says of its tier.
func (h headers) tier(p *blobapi.Properties) {
	if p.AccessTier == "" {
		return
	}
	h.set("X-Ms-Access-Tier", p.AccessTier)
	if p.AccessTier == smartTier {
		h.set("X-Ms-Smart-Access-Tier", smartChoice)
	}
	if p.AccessTierInferred {
		h.set("X-Ms-Access-Tier-Inferred", "true")
	}
	if !p.AccessTierSet.IsZero() {
		h.set("X-Ms-Access-Tier-Change-Time", WireTime(p.AccessTierSet))
	}
	if p.ArchiveStatus != "" {
		h.set("X-Ms-Archive-Status", p.ArchiveStatus)
		h.set("X-Ms-Rehydrate-Priority", p.RehydratePriority)
	}
}

// appendTier appends what a blob says of its tier to a listing.
func appendTier(b []byte, p *blobapi.Properties) []byte {
	if p.AccessTier == "" {
		return b
	}
	b = AppendElement(b, "AccessTier", p.AccessTier)
	if p.AccessTier == smartTier {
		b = AppendElement(b, "SmartAccessTier", smartChoice)
	}
	if p.AccessTierInferred {
		b = AppendElement(b, "AccessTierInferred", "true")
	}
	if !p.AccessTierSet.IsZero() {
		b = AppendElement(b, "AccessTierChangeTime", WireTime(p.AccessTierSet))
	}
	if p.ArchiveStatus != "" {
		b = AppendElement(b, "ArchiveStatus", p.ArchiveStatus)
		b = AppendElement(b, "RehydratePriority", p.RehydratePriority)
	}
	return b
}
