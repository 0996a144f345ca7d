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

// copyBlob serves Copy Blob and Copy Blob From URL, which are one here: a copy
// is complete at once.
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
	tier, refused := c.tier(false)
	if refused != nil {
		return refused
	}
	source, refused := c.copySource(opts.SourceURL)
	if refused != nil {
		return refused
	}
	opts.SourceURL = withoutSignature(opts.SourceURL)
	answer := c.guardOverwrite(opts.Conditions)
	var copied *bindings.Copied
	err := c.inside(func(ctx context.Context) (err error) {
		copied, err = c.blob().CopyFrom(ctx, source, opts)
		return c.putInTier(ctx, err, tier, opts.Conditions)
	})
	if err != nil {
		return answer(err)
	}
	c.w.Header().Set("X-Ms-Copy-Id", copied.ID)
	c.w.Header().Set("X-Ms-Copy-Status", copied.Status)
	copied.ContentMD5 = nil
	return c.written(http.StatusAccepted, &copied.Written)
}

// copySource finds the blob that an address names. It must be of this account,
// whatever name this machine goes by.
func (c *call) copySource(text string) (bindings.BlobSource, *Error) {
	var none bindings.BlobSource
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return none, errInvalidHeader("x-ms-copy-source", text)
	}
	elsewhere := func() *Error { return blobError(bindings.NewBlobError(bindings.CodeCannotVerifyCopySource)) }
	account, _ := c.door.accountInHost(u.Host)
	inHost := account != nil
	if !inHost {
		name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		account = c.door.server.accounts[strings.TrimSuffix(name, secondarySuffix)]
	}
	if account != c.account {
		return none, elsewhere()
	}
	container, name, refused := splitBlobPath(u, inHost)
	if refused != nil {
		return none, refused
	}
	if container != "" && name == "" {
		container, name = rootContainer, container
	}
	if name == "" {
		return none, errInvalidHeader("x-ms-copy-source", text)
	}
	return bindings.BlobSource{Container: container, Name: name, Snapshot: u.Query().Get("snapshot")}, nil
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
