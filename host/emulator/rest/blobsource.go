package rest

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/crc64nvme"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/listen"
)

// sourcePatience is how long another server of this machine may take to send what
// a write asks it for.
const sourcePatience = 2 * time.Minute

// source is the source that a request names by its address: a blob of this
// server, or, for a client on this machine, the answer of another server on it.
type source struct {
	url  *url.URL
	call *Call // a read of the blob, as if it was asked for with that address; nil: another server's
	blob blob.Source
}

// readOperation is the operation that a signature of a source has to allow.
var readOperation = Operation{Name: "GetBlob", Resource: "o", AccountSAS: "r", ServiceSAS: "r", public: blob.PublicBlobs}

// source finds what the address of a source names, and lets the caller prove that
// it may read it. A key that signs the request reads its own account's blobs, if
// keyed says so.
func (c *Call) source(text string, keyed bool) (*source, *Error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	query, err := parseQuery(u.RawQuery)
	if err != nil {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	read := &Call{front: c.front, W: c.W, id: c.id, op: &readOperation, Query: Parameters{lowerNames(query)}}
	read.R = (&http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{}, RemoteAddr: c.R.RemoteAddr}).WithContext(c.R.Context())
	if credential := c.R.Header.Get("X-Ms-Copy-Source-Authorization"); credential != "" {
		read.R.Header.Set("Authorization", credential)
	}
	if a, secondary := c.front.accountInHost(u.Host); a != nil {
		read.Account, read.secondary, read.inHost = a, secondary, true
	} else if c.here(read.R) {
		name, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
		name, read.secondary = strings.CutSuffix(name, secondarySuffix)
		read.Account = c.front.server.accounts[name]
	}
	if read.Account == nil {
		// Clients on another machine are not led into this one.
		client, _, err := net.SplitHostPort(c.R.RemoteAddr)
		if err == nil && listen.Loopback(client) && listen.Loopback(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https") {
			return &source{url: u}, nil
		}
		return nil, errNoSource()
	}
	if on, refused := blobResource(read); refused != nil {
		return nil, refused
	} else if on != oneBlob {
		return nil, errInvalidHeader("x-ms-copy-source", text)
	}
	if refused := checkOffered(read); refused != nil {
		return nil, refused
	}
	if refused := c.admitSource(read, keyed); refused != nil {
		return nil, errSource(refused.Status, refused)
	}
	return &source{url: u, call: read, blob: blob.Source{Container: read.Path[0], Name: read.Path[1], Snapshot: read.Query.Get("snapshot")}}, nil
}

func errNoSource() *Error {
	return blobError(storage.NewError(storage.CodeCannotVerifyCopySource))
}

// here reports whether the address of a read is this server's, by any name
// of the machine. Another port of this machine is another server, unless
// the request came that way too.
func (c *Call) here(read *http.Request) bool {
	if strings.EqualFold(read.Host, c.R.Host) {
		return true
	}
	at, ok := c.R.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok { // not by a socket
		return false
	}
	_, own, err := net.SplitHostPort(at.String())
	return err == nil && read.URL.Port() == own && c.guard().CheckHost(read) == nil
}

// admitSource lets a read of a source through, or says why not: by the signature
// of its address or the token that comes with it; without either by the key with
// which the request itself is signed, or because everybody may read it.
//
// Source: docs, Copy Blob, "Authorization"; Put Block From URL, "x-ms-copy-source".
func (c *Call) admitSource(read *Call, keyed bool) *Error {
	switch {
	case read.Query.Has("sig") || read.R.Header.Get("Authorization") != "":
		_, refused := authorize(read)
		return refused
	case keyed && c.access.letters == nil && read.Account == c.Account:
		return nil
	}
	if _, ok := byNobody(read); ok {
		return nil
	}
	return errNoAuthentication("The address of the source carries no signature.")
}

// errSource is the answer when a source cannot be read. Headers say what the source
// itself has answered.
//
// Source: docs, Put Block From URL, "x-ms-copy-source-status-code"; docs, Blob Storage error codes, CannotVerifyCopySource; Azurite:
// BlobHandler.validateCopySource.
func errSource(status int, why *Error) *Error {
	e := NewError(status, string(storage.CodeCannotVerifyCopySource), why.Message)
	e.Details = why.Details
	if why.Code != "" {
		e.Header = http.Header{"X-Ms-Copy-Source-Status-Code": {strconv.Itoa(why.Status)}, "X-Ms-Copy-Source-Error-Code": {why.Code}}
	}
	return e
}

// asSourceError is the answer for the failure to read a blob of this server.
//
// Source of the answer to conditions that do not hold: recordings of
// azure-storage-blob for Python 12.13.0 at the service,
// test_append_block_from_url_with_source_if_match and ..._if_none_match.
func asSourceError(err error) error {
	switch code := storage.CodeOf(err); code {
	case storage.CodeBlobNotFound, storage.CodeContainerNotFound:
		return errSource(http.StatusNotFound, asError(err))
	case storage.CodeConditionNotMet:
		refused := asError(err) // 412, or 304 for content that has not changed
		refused.Message = "Could not verify the copy source within the specified time."
		return errSource(refused.Status, refused)
	}
	return err
}

// sourceContent is content that is being read from a source.
type sourceContent struct {
	io.ReadCloser
	size  int64            // 0: not known
	about *blob.Properties // of a blob of this server
}

// open begins to read a source, or a range of it. Conditions hold for blobs of this
// server.
func (from *source) open(c *Call, span *blob.Range, cond *blob.Conditions) (*sourceContent, error) {
	if from.call == nil {
		return from.fetch(c.R.Context(), span)
	}
	var d *blob.Download
	err := c.Inside(func(ctx context.Context) (err error) {
		d, err = from.call.blob().Get(ctx, &blob.GetOptions{Range: span, Conditions: cond})
		return err
	})
	if err != nil {
		return nil, asSourceError(err)
	}
	return &sourceContent{d.Body, d.Range.Count, d.Properties}, nil
}

// fetch asks another server of this machine. It follows no redirection, which could
// lead elsewhere.
func (from *source) fetch(ctx context.Context, span *blob.Range) (*sourceContent, error) {
	ctx, cancel := context.WithTimeout(ctx, sourcePatience) //clock:outside another server's real time
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from.url.String(), nil)
	if err != nil {
		cancel()
		return nil, errNoSource()
	}
	if span != nil {
		r.Header.Set("Range", rangeHeader(*span))
	}
	r.Header.Set("Accept-Encoding", "identity") // bytes are taken as they are
	client := http.Client{
		Transport:     &http.Transport{DialContext: dialLoopback, DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		cancel()
		return nil, errSource(http.StatusNotFound, NewError(0, "", "The copy source could not be reached."))
	}
	body := fetched{resp.Body, cancel}
	switch {
	case span == nil && resp.StatusCode == http.StatusOK, span != nil && resp.StatusCode == http.StatusPartialContent:
		return &sourceContent{body, max(resp.ContentLength, 0), nil}, nil
	case span != nil && resp.StatusCode == http.StatusOK: // it knows no ranges
		if _, err := io.CopyN(io.Discard, body, span.Offset); err != nil {
			body.Close()
			return nil, blobError(storage.NewError(storage.CodeInvalidRange))
		}
		if span.Count > 0 {
			return &sourceContent{limited{io.LimitReader(body, span.Count), body}, 0, nil}, nil
		}
		return &sourceContent{body, 0, nil}, nil
	}
	body.Close()
	status := resp.StatusCode
	if status < 400 {
		status = http.StatusNotFound
	}
	return nil, errSource(status, NewError(0, "", "The copy source answers "+resp.Status+"."))
}

type fetched struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (f fetched) Close() error {
	defer f.cancel()
	return f.ReadCloser.Close()
}

type limited struct {
	io.Reader
	io.Closer
}

// dialLoopback connects to this machine only, for any name.
func dialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if host, _, err := net.SplitHostPort(conn.RemoteAddr().String()); err != nil || !listen.Loopback(host) {
		conn.Close()
		return nil, errors.New("the source is not on this machine")
	}
	return conn, nil
}

// taken is content that was read from a source and kept aside, as a body is.
type taken struct {
	body    io.Reader
	discard func()
	md5     []byte
	about   *blob.Properties // of a blob of this server
}

// take reads a source to its end, outside the clock, and compares it with
// the checksums that the request names for it. Its caller calls discard once the
// operation is over.
func (from *source) take(c *Call, span *blob.Range, limit int64) (*taken, error) {
	sums, refused := c.asked().checksums(sourceChecksums)
	if refused != nil {
		return nil, refused
	}
	if c.R.ContentLength > 0 {
		return nil, errInvalidHeader("Content-Length", c.R.Header.Get("Content-Length"))
	}
	cond, refused := c.conditions("X-Ms-Source-")
	if refused != nil {
		return nil, refused
	}
	content, err := from.open(c, span, cond)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if content.size > limit {
		return nil, ErrBodyTooLarge(limit)
	}
	hash, crc := md5.New(), crc64nvme.New()
	in := &sender{r: io.TeeReader(content, io.MultiWriter(hash, crc))}
	body, discard, err := c.stageFrom(in, content.size, limit, true)
	if in.err != nil {
		return nil, errSource(http.StatusInternalServerError, NewError(0, "", "The copy source ended early."))
	}
	if err != nil {
		return nil, err
	}
	t := &taken{body: body, discard: discard, md5: hash.Sum(nil), about: content.about}
	if sums.md5 != nil && !bytes.Equal(t.md5, sums.md5) {
		discard()
		return nil, storage.NewError(storage.CodeMD5Mismatch)
	}
	if refused := sums.checkCRC(crcBytes(crc.Sum64())); refused != nil {
		discard()
		return nil, refused
	}
	if sums.md5 == nil || c.asked().bothChecksums() {
		c.crc64 = crcBytes(crc.Sum64())
	}
	return t, nil
}

// sender remembers the error of a reader, to tell it from its user's errors.
type sender struct {
	r   io.Reader
	err error
}

func (s *sender) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// sourceRange reads the range of the source that a block is made of; nil is all of
// it.
func (a asked) sourceRange() (*blob.Range, *Error) {
	const name = "X-Ms-Source-Range"
	text := a.Get(name)
	if text == "" {
		return nil, nil
	}
	span, ok := parseRange(text)
	if !ok {
		return nil, errInvalidHeader("x-ms-source-range", text)
	}
	return span, nil
}
