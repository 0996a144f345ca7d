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
	SetTier(ctx context.Context, tier string, cond *blobapi.Conditions) (rehydrated bool, err error)
}

// setBlobTier serves Set Blob Tier. The answer to a blob that comes out of the
// archive is 202, as if it took its time (docs: Set Blob Tier, "Status code").
func setBlobTier(c *call) error {
	tier, refused := c.tier(true)
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
	err := c.inside(func(ctx context.Context) error {
		rehydrated, err := blob.SetTier(ctx, tier, cond)
		if rehydrated {
			status = http.StatusAccepted
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(status, nil)
}

// tier reads the tier that a request asks for, as the service spells it; empty if
// it asks for none and need not.
func (c *call) tier(must bool) (string, *Error) {
	const name = "x-ms-access-tier"
	text := c.r.Header.Get("X-Ms-Access-Tier")
	if text == "" {
		if must {
			return "", errMissingHeader(name)
		}
		return "", nil
	}
	tiers := []string{"Hot", "Cool", "Cold", "Archive"}
	i := slices.IndexFunc(tiers, func(t string) bool { return strings.EqualFold(t, text) })
	if i < 0 {
		return "", errInvalidHeader(name, text)
	}
	return tiers[i], nil
}

// putInTier completes a write, whose error it is given, of a blob that asks for a
// tier. It is called in the same turn of the clock.
func (c *call) putInTier(ctx context.Context, err error, tier string, cond *blobapi.Conditions) error {
	if err != nil || tier == "" {
		return err
	}
	blob, ok := c.blob().(tiered)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	_, err = blob.SetTier(ctx, tier, &blobapi.Conditions{LeaseID: cond.LeaseID})
	return err
}
