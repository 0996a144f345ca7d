package rest

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
)

// putBlob serves Put Blob, and Copy Blob, which has the same address.
func putBlob(c *call) error {
	kind := c.r.Header.Get("X-Ms-Blob-Type")
	if c.r.Header.Get("X-Ms-Copy-Source") != "" {
		if kind != "" { // Put Blob From URL
			return bindings.NewBlobError(bindings.CodeNotImplemented)
		}
		return copyBlob(c)
	}
	if kind == "" {
		return errMissingHeader("x-ms-blob-type")
	}
	opts, refused := c.putOptions(true)
	if refused != nil {
		return refused
	}
	switch opts.Type = bindings.BlobType(kind); opts.Type {
	case bindings.BlockBlob, bindings.AppendBlob:
	case bindings.PageBlob:
		return bindings.NewBlobError(bindings.CodeNotImplemented)
	default:
		return errInvalidHeader("x-ms-blob-type", kind)
	}
	tier, refused := c.tier(false)
	if refused == nil && tier != "" && opts.Type != bindings.BlockBlob {
		refused = blobError(bindings.NewBlobError(bindings.CodeInvalidBlobType))
	}
	if refused != nil {
		return refused
	}
	sums, refused := c.checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	opts.BodyMD5 = sums.md5
	body, discard, err := c.stage(bindings.MaxPutBlob, sums)
	if err != nil {
		return err
	}
	defer discard()
	answer := c.guardOverwrite(opts.Conditions)
	return answer(c.writeContent(http.StatusCreated, func(ctx context.Context) (*bindings.Written, error) {
		w, err := c.blob().Put(ctx, body, opts)
		return w, c.putInTier(ctx, err, tier, opts.Conditions)
	}))
}

func setBlobProperties(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	headers, refused := c.blobHeaders(false)
	if refused != nil {
		return refused
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*bindings.Written, error) {
		return c.blob().SetHeaders(ctx, headers, cond)
	})
}

func setBlobMetadata(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	metadata, refused := c.metadata()
	if refused != nil {
		return refused
	}
	return c.writeContent(http.StatusOK, func(ctx context.Context) (*bindings.Written, error) {
		return c.blob().SetMetadata(ctx, metadata, cond)
	})
}

func deleteBlob(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	opts := &bindings.DeleteBlobOptions{Snapshots: bindings.DeleteSnapshots(c.r.Header.Get("X-Ms-Delete-Snapshots")), Conditions: cond}
	if err := c.inside(func(ctx context.Context) error { return c.blob().Delete(ctx, opts) }); err != nil {
		return err
	}
	if opts.Snapshots != bindings.OnlySnapshots && !c.query.Has("snapshot") {
		c.door.pins.Release(c.pinOfLease())
	}
	c.w.Header().Set("X-Ms-Delete-Type-Permanent", "true")
	return c.answer(http.StatusAccepted, nil)
}

func base64MD5(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }
