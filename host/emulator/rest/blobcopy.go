package rest

import (
	"bytes"
	"context"
	"crypto/md5"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/crc64nvme"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

func snapshotBlob(c *Call) error {
	opts := &blobapi.SnapshotOptions{}
	var refused *Error
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return refused
	}
	if opts.Metadata, refused = c.Metadata(); refused != nil {
		return refused
	}
	var s *blobapi.SnapshotTaken
	err := c.Inside(func(ctx context.Context) (err error) {
		s, err = c.blob().Snapshot(ctx, opts)
		return err
	})
	if err != nil {
		return err
	}
	c.W.Header().Set("X-Ms-Snapshot", s.Snapshot)
	return c.written(http.StatusCreated, &s.Written)
}

// copyOptions reads what a copy is asked to be.
func copyOptions(c *Call) (*blobapi.CopyOptions, *Error) {
	opts := &blobapi.CopyOptions{SourceURL: c.R.Header.Get("X-Ms-Copy-Source")}
	var refused *Error
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return nil, refused
	}
	if opts.SourceConditions, refused = c.conditions("X-Ms-Source-"); refused != nil {
		return nil, refused
	}
	if opts.Metadata, refused = c.Metadata(); refused != nil {
		return nil, refused
	}
	if opts.Tags, refused = c.tags(); refused != nil {
		return nil, refused
	}
	if opts.CopyTags, refused = c.asked().copiesTags(opts.Tags); refused != nil {
		return nil, refused
	}
	if opts.Tier, refused = c.asked().tier(false); refused != nil {
		return nil, refused
	}
	if opts.RehydratePriority, refused = c.asked().rehydratePriority(); refused != nil {
		return nil, refused
	}
	if text := c.R.Header.Get("X-Ms-Seal-Blob"); text != "" {
		seal := strings.EqualFold(text, "true")
		opts.Seal = &seal
	}
	opts.Sync = strings.EqualFold(c.R.Header.Get("X-Ms-Requires-Sync"), "true")
	return opts, nil
}

// copyBlob serves Copy Blob and Copy Blob From URL. A copy is complete at once;
// one from a URL reads its source, as the service does before it answers, and not by
// the key of the request.
//
// Source of the latter: docs, Copy Blob From URL, "x-ms-copy-source"; azure-storage-blob
// for Python 12.31.1, test_start_copy_from_url_with_oauth.
func copyBlob(c *Call) error {
	opts, refused := copyOptions(c)
	if refused != nil {
		return refused
	}
	from, refused := c.source(opts.SourceURL, !opts.Sync)
	if refused == nil && from.call == nil { // a copy is of blobs
		refused = errNoSource()
	}
	if refused != nil {
		return refused
	}
	opts.SourceURL = withoutSignature(opts.SourceURL)
	var sum []byte
	if opts.Sync {
		var err error
		if sum, err = from.compare(c, opts.SourceConditions); err != nil {
			return err
		}
	}
	answer := c.guardOverwrite(opts.Conditions)
	var copied *blobapi.Copied
	var err error
	if from.call.Account == c.Account {
		err = c.Inside(func(ctx context.Context) (err error) {
			copied, err = c.blob().CopyFrom(ctx, from.blob, opts)
			return err
		})
	} else {
		copied, err = from.copyTo(c, opts)
	}
	if err != nil {
		return answer(err)
	}
	c.W.Header().Set("X-Ms-Copy-Id", copied.ID)
	c.W.Header().Set("X-Ms-Copy-Status", copied.Status)
	copied.ContentMD5 = sum
	return c.written(http.StatusAccepted, &copied.Written)
}

// compare reads a source outside the clock, as far as the request asks for a
// comparison of its content, and returns the MD5 that it names. Conditions on the
// source then make sure that it is still what was read.
func (from *source) compare(c *Call, cond *blobapi.Conditions) ([]byte, error) {
	sums, refused := c.asked().checksums(sourceChecksums)
	if refused != nil {
		return nil, refused
	}
	content, err := from.open(c, nil, nil)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if sums.md5 == nil && sums.crc64 == nil {
		return nil, nil
	}
	hash, crc := md5.New(), crc64nvme.New()
	if _, err := io.Copy(io.MultiWriter(hash, crc), content); err != nil {
		return nil, err
	}
	if sums.md5 != nil && !bytes.Equal(hash.Sum(nil), sums.md5) {
		return nil, storage.NewError(storage.CodeMD5Mismatch)
	}
	if refused := sums.checkCRC(crcBytes(crc.Sum64())); refused != nil {
		return nil, refused
	}
	if *cond == (blobapi.Conditions{}) {
		cond.IfMatch = content.about.ETag
	}
	return sums.md5, nil
}

// Accounts whose blobs can be copied to another one, and that take copies of
// another's: the embedded ones.
type (
	exporter interface {
		Export(ctx context.Context, source blobapi.Source, cond *blobapi.Conditions) (*blobs.Exported, error)
	}
	importer interface {
		Import(*blobs.Exported) (*blobs.Imported, error)
	}
	copiedInto interface {
		CopyIn(ctx context.Context, from *blobs.Imported, opts *blobapi.CopyOptions) (*blobapi.Copied, error)
	}
)

// copyTo copies a blob of another account of this server to where a call asks for it.
func (from *source) copyTo(c *Call, opts *blobapi.CopyOptions) (*blobapi.Copied, error) {
	source, ok := from.call.Account.Blobs.(exporter)
	to, ok2 := c.Account.Blobs.(importer)
	blob, ok3 := c.blob().(copiedInto)
	if !ok || !ok2 || !ok3 {
		return nil, storage.NewError(storage.CodeNotImplemented)
	}
	var exported *blobs.Exported
	err := c.Inside(func(ctx context.Context) (err error) {
		exported, err = source.Export(ctx, from.blob, opts.SourceConditions)
		return err
	})
	if storage.CodeOf(err) == storage.CodeBlobArchived {
		return nil, errSource(http.StatusConflict, asError(err))
	}
	if err != nil {
		return nil, err
	}
	defer exported.Close()
	imported, err := to.Import(exported)
	if err != nil {
		return nil, err
	}
	defer imported.Discard()
	var copied *blobapi.Copied
	err = c.Inside(func(ctx context.Context) (err error) {
		copied, err = blob.CopyIn(ctx, imported, opts)
		return err
	})
	return copied, err
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
func abortCopy(c *Call) error {
	if !strings.EqualFold(c.R.Header.Get("X-Ms-Copy-Action"), "abort") {
		return errInvalidHeader("x-ms-copy-action", c.R.Header.Get("X-Ms-Copy-Action"))
	}
	return NewError(http.StatusConflict, "NoPendingCopyOperation", "There is currently no pending copy operation.")
}
