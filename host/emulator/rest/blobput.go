package rest

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// putBlob serves Put Blob, and Copy Blob, which has the same address.
func putBlob(c *Call) error {
	kind := c.R.Header.Get("X-Ms-Blob-Type")
	if c.R.Header.Get("X-Ms-Copy-Source") != "" {
		if kind != "" {
			return putBlobFromURL(c, blob.Type(kind))
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
	switch opts.Type = blob.Type(kind); opts.Type {
	case blob.BlockBlob, blob.AppendBlob:
	case blob.PageBlob:
		if refused := c.asked().pageBlob(opts); refused != nil {
			return refused
		}
	default:
		return errInvalidHeader("x-ms-blob-type", kind)
	}
	tier, refused := c.asked().tier(false)
	if refused == nil && tier != "" && opts.Type != blob.BlockBlob {
		refused = blobError(storage.NewError(storage.CodeInvalidBlobType))
	}
	if refused != nil {
		return refused
	}
	sums, refused := c.asked().checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	opts.BodyMD5 = sums.md5
	sums.answerCRC = opts.Type == blob.BlockBlob && (sums.md5 == nil || c.asked().bothChecksums())
	body, discard, err := c.stage(blob.MaxPutBlob, sums)
	if err != nil {
		return err
	}
	defer discard()
	answer := c.guardOverwrite(opts.Conditions)
	return answer(c.writeContent(http.StatusCreated, func(ctx context.Context) (*blob.Written, error) {
		w, err := c.blob().Put(ctx, body, opts)
		return w, c.putInTier(ctx, err, tier, opts.Conditions)
	}))
}

// putBlobFromURL serves Put Blob From URL. The headers of a blob of this server come
// with its content, except for headers that the request has itself.
//
// Source: docs, Put Blob From URL, "x-ms-copy-source-blob-properties".
func putBlobFromURL(c *Call, kind blob.Type) error {
	if kind != blob.BlockBlob {
		return errInvalidHeader("x-ms-blob-type", string(kind))
	}
	opts, refused := c.putOptions(false)
	if refused != nil {
		return refused
	}
	tier, refused := c.asked().tier(false)
	if refused != nil {
		return refused
	}
	from, refused := c.source(c.R.Header.Get("X-Ms-Copy-Source"), false)
	if refused != nil {
		return refused
	}
	content, err := from.take(c, nil, blob.MaxPutBlob)
	if err != nil {
		return err
	}
	defer content.discard()
	if copies, refused := c.asked().copiesTags(opts.Tags); refused != nil {
		return refused
	} else if copies && content.about != nil {
		opts.Tags = content.about.Tags
	}
	if content.about != nil && !strings.EqualFold(c.R.Header.Get("X-Ms-Copy-Source-Blob-Properties"), "false") {
		h, theirs := &opts.Headers, content.about.Headers
		for _, f := range []struct {
			ours  *string
			their string
		}{
			{&h.ContentType, theirs.ContentType}, {&h.ContentEncoding, theirs.ContentEncoding}, {&h.ContentLanguage, theirs.ContentLanguage},
			{&h.ContentDisposition, theirs.ContentDisposition}, {&h.CacheControl, theirs.CacheControl},
		} {
			if *f.ours == "" {
				*f.ours = f.their
			}
		}
	}
	answer := c.guardOverwrite(opts.Conditions)
	return answer(c.writeContent(http.StatusCreated, func(ctx context.Context) (*blob.Written, error) {
		w, err := c.blob().Put(ctx, content.body, opts)
		return w, c.putInTier(ctx, err, tier, opts.Conditions)
	}))
}

func setBlobProperties(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	headers, refused := c.asked().headers(false)
	if refused != nil {
		return refused
	}
	pages, refused := c.asked().pageProperties(headers)
	if refused != nil {
		return refused
	}
	if pages != nil {
		return setPageProperties(c, *pages, cond)
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.blob().SetHeaders(ctx, headers, cond)
	})
}

func setBlobMetadata(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	metadata, refused := c.Metadata()
	if refused != nil {
		return refused
	}
	return c.writeContent(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.blob().SetMetadata(ctx, metadata, cond)
	})
}

func deleteBlob(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	opts := &blob.DeleteOptions{Snapshots: blob.DeleteSnapshots(c.R.Header.Get("X-Ms-Delete-Snapshots")), Conditions: cond}
	if opts.TierSetAfter, refused = c.asked().time("X-Ms-Access-Tier-If-Modified-Since"); refused != nil {
		return refused
	}
	if opts.TierNotSetAfter, refused = c.asked().time("X-Ms-Access-Tier-If-Unmodified-Since"); refused != nil {
		return refused
	}
	if err := c.Inside(func(ctx context.Context) error { return c.blob().Delete(ctx, opts) }); err != nil {
		return err
	}
	if opts.Snapshots != blob.OnlySnapshots && !c.Query.Has("snapshot") {
		c.front.pins.Release(c.pinOfLease())
	}
	c.W.Header().Set("X-Ms-Delete-Type-Permanent", "true")
	return c.Answer(http.StatusAccepted, nil)
}

func base64MD5(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }
