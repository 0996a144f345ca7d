package rest

import (
	"bytes"
	"context"
	"crypto/md5"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// source is the blob that a request wants to read from, by its address.
type source struct {
	call *call // a read of it, as if it was asked for with that address
	blob bindings.BlobSource
}

// readOperation is what a signature of a source has to allow.
var readOperation = operation{name: "GetBlob", resource: "o", accountSAS: "r", serviceSAS: "r"}

// source finds the blob of an address and lets the caller prove that it may read
// it. The blob must be of this account, whatever name this machine goes by.
func (c *call) source(text string) (*source, *Error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	query, err := parseQuery(u.RawQuery)
	if err != nil {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	read := &call{door: c.door, w: c.w, id: c.id, op: &readOperation, query: lowerNames(query)}
	read.r = (&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{}, RemoteAddr: c.r.RemoteAddr}).WithContext(c.r.Context())
	if a, secondary := c.door.accountInHost(u.Host); a != nil {
		read.account, read.secondary, read.inHost = a, secondary, true
	} else {
		name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		name, read.secondary = strings.CutSuffix(name, secondarySuffix)
		read.account = c.door.server.accounts[name]
	}
	if read.account != c.account {
		return nil, blobError(bindings.NewBlobError(bindings.CodeCannotVerifyCopySource))
	}
	if on, refused := blobResource(read); refused != nil {
		return nil, refused
	} else if on != oneBlob {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	if refused := c.admitSource(read); refused != nil {
		return nil, errSource(http.StatusForbidden, refused)
	}
	return &source{call: read, blob: bindings.BlobSource{Container: read.path[0], Name: read.path[1], Snapshot: read.query.Get("snapshot")}}, nil
}

// admitSource lets a read of a source through, or says why not: by the signature
// of its address; without one by the key with which the request itself is signed,
// or because everybody may read it.
//
// Source: docs, Copy Blob, "Authorization".
func (c *call) admitSource(read *call) *Error {
	if read.query.Has("sig") {
		return read.authorizeBySignature()
	}
	if c.allowed == nil {
		return nil
	}
	var access *bindings.ContainerAccess
	err := c.inside(func(ctx context.Context) (err error) {
		access, err = read.container().Access(ctx, nil)
		return err
	})
	if err == nil && access.PublicAccess != bindings.NoPublicAccess {
		return nil
	}
	return errAuthentication("The address of the source carries no signature.")
}

// errSource is the answer when a source cannot be read.
//
// Source: docs, Blob Storage error codes, CannotVerifyCopySource; Azurite:
// BlobHandler.validateCopySource.
func errSource(status int, why *Error) *Error {
	e := newError(status, string(bindings.CodeCannotVerifyCopySource), why.Message)
	e.Details = why.Details
	return e
}

// sourceRead is what was found out by reading a source.
type sourceRead struct {
	md5 []byte // that the request names, and the content has
}

// readSource reads a source outside the clock, as far as the request asks for a
// comparison of its content. The conditions are those of the source: they become
// such that it is still what was read.
func (c *call) readSource(from *source, cond *bindings.BlobConditions) (*sourceRead, error) {
	sums, refused := c.checksums(sourceChecksums)
	if refused != nil {
		return nil, refused
	}
	var d *bindings.BlobDownload
	err := c.inside(func(ctx context.Context) (err error) {
		d, err = from.call.blob().Get(ctx, nil)
		return err
	})
	switch {
	case bindings.BlobCodeOf(err) == bindings.CodeBlobNotFound || bindings.BlobCodeOf(err) == bindings.CodeContainerNotFound:
		return nil, errSource(http.StatusNotFound, asError(err))
	case err != nil:
		return nil, err
	}
	defer d.Body.Close()
	if sums.md5 == nil {
		return &sourceRead{}, nil
	}
	hash := md5.New()
	if _, err := io.Copy(hash, d.Body); err != nil {
		return nil, err
	}
	if !bytes.Equal(hash.Sum(nil), sums.md5) {
		return nil, bindings.NewBlobError(bindings.CodeMD5Mismatch)
	}
	if *cond == (bindings.BlobConditions{}) {
		cond.IfMatch = d.Properties.ETag
	}
	return &sourceRead{md5: sums.md5}, nil
}
