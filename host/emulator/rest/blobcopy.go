package rest

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

func snapshotBlob(c *call) error {
	opts := &bindings.SnapshotOptions{}
	var refused *Error
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return refused
	}
	if opts.Metadata, refused = c.metadata(); refused != nil {
		return refused
	}
	var s *bindings.SnapshotTaken
	err := c.inside(func(ctx context.Context) (err error) {
		s, err = c.blob().Snapshot(ctx, opts)
		return err
	})
	if err != nil {
		return err
	}
	c.w.Header().Set("X-Ms-Snapshot", s.Snapshot)
	return c.written(http.StatusCreated, &s.Written)
}

// copyBlob serves Copy Blob and Copy Blob From URL. A copy is complete at once;
// one from a URL reads its source, as the service does before it answers.
func copyBlob(c *call) error {
	opts := &bindings.CopyOptions{SourceURL: c.r.Header.Get("X-Ms-Copy-Source")}
	var refused *Error
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return refused
	}
	if opts.SourceConditions, refused = c.conditions("X-Ms-Source-"); refused != nil {
		return refused
	}
	if opts.Metadata, refused = c.metadata(); refused != nil {
		return refused
	}
	if refused := c.noTags(); refused != nil {
		return refused
	}
	if opts.Tier, refused = c.tier(false); refused != nil {
		return refused
	}
	from, refused := c.source(opts.SourceURL)
	if refused != nil {
		return refused
	}
	opts.SourceURL = withoutSignature(opts.SourceURL)
	var sum []byte
	if strings.EqualFold(c.r.Header.Get("X-Ms-Requires-Sync"), "true") {
		read, err := c.readSource(from, opts.SourceConditions)
		if err != nil {
			return err
		}
		sum = read.md5
	}
	answer := c.guardOverwrite(opts.Conditions)
	var copied *bindings.Copied
	err := c.inside(func(ctx context.Context) (err error) {
		copied, err = c.blob().CopyFrom(ctx, from.blob, opts)
		return err
	})
	if err != nil {
		return answer(err)
	}
	c.w.Header().Set("X-Ms-Copy-Id", copied.ID)
	c.w.Header().Set("X-Ms-Copy-Status", copied.Status)
	copied.ContentMD5 = sum
	return c.written(http.StatusAccepted, &copied.Written)
}

// withoutSignature drops the signature of an address, which is a secret.
func withoutSignature(address string) string {
	u, err := url.Parse(address)
	if err != nil || !u.Query().Has("sig") {
		return address
	}
	snapshot := u.Query().Get("snapshot")
	u.RawQuery = ""
	if snapshot != "" {
		u.RawQuery = url.Values{"snapshot": {snapshot}}.Encode()
	}
	return u.String()
}

// abortCopy finds nothing to abort: copies are complete when they are answered.
func abortCopy(c *call) error {
	if !strings.EqualFold(c.r.Header.Get("X-Ms-Copy-Action"), "abort") {
		return errInvalidHeader("x-ms-copy-action", c.r.Header.Get("X-Ms-Copy-Action"))
	}
	return newError(http.StatusConflict, "NoPendingCopyOperation", "There is currently no pending copy operation.")
}
