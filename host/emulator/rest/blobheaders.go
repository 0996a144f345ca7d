package rest

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// conditions reads the conditional headers and the lease. A prefix such as
// "X-Ms-Source-" reads those on the source of a copy.
func (c *Call) conditions(prefix string) (*blob.Conditions, *Error) {
	h := c.R.Header
	cond := &blob.Conditions{IfMatch: h.Get(prefix + "If-Match"), IfNoneMatch: h.Get(prefix + "If-None-Match")}
	own := prefix
	if own == "" {
		own = "X-Ms-"
	}
	cond.LeaseID, cond.IfTags = h.Get(own+"Lease-Id"), h.Get(own+"If-Tags")
	if cond.IfTags != "" && !c.access.allows("t") {
		return nil, ErrNotAuthorized("Permission", "permission")
	}
	for _, f := range []struct {
		name string
		to   *time.Time
	}{{"If-Modified-Since", &cond.IfModifiedSince}, {"If-Unmodified-Since", &cond.IfUnmodifiedSince}} {
		var refused *Error
		if *f.to, refused = c.asked().time(prefix + f.name); refused != nil {
			return nil, refused
		}
	}
	return cond, nil
}

// time reads a header that is a date; the zero time if there is none.
func (a asked) time(name string) (time.Time, *Error) {
	text := a.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}, errInvalidHeader(name, text)
	}
	return at, nil
}

// guardOverwrite holds a write of a whole blob to what its signature allows: one
// that may create but not write finds nothing there. It returns the error of
// the write as it is to be answered.
//
// Source: docs, Create a service SAS ("Permissions": c, "Write a new blob").
func (c *Call) guardOverwrite(cond *blob.Conditions) (answer func(error) error) {
	if c.access.allows("w") {
		return func(err error) error { return err }
	}
	own := cond.IfNoneMatch != "*"
	if own {
		*cond = blob.Conditions{IfNoneMatch: "*", LeaseID: cond.LeaseID}
	}
	return func(err error) error {
		if own && storage.CodeOf(err) == storage.CodeBlobAlreadyExists {
			return NewError(http.StatusForbidden, "UnauthorizedBlobOverwrite", "This request is not authorized to perform blob overwrites.")
		}
		return err
	}
}

// md5 reads a header that holds an MD5 in base64; nil if there is none.
func (a asked) md5(name string) ([]byte, *Error) {
	text := a.Get(name)
	if text == "" {
		return nil, nil
	}
	sum, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sum) != 16 {
		return nil, blobError(storage.NewError(storage.CodeInvalidMD5))
	}
	return sum, nil
}

// headers reads the headers that are to be stored with a blob. Where the
// body of the request is the blob's, plain headers will do as well.
func (a asked) headers(plain bool) (blob.Headers, *Error) {
	get := func(name string) string {
		v := a.Get("X-Ms-Blob-" + name)
		if v == "" && plain {
			v = a.Get(name)
		}
		return v
	}
	out := blob.Headers{
		ContentType: get("Content-Type"), ContentEncoding: get("Content-Encoding"), ContentLanguage: get("Content-Language"),
		ContentDisposition: a.Get("X-Ms-Blob-Content-Disposition"), CacheControl: get("Cache-Control"),
	}
	if text := a.Get("X-Ms-Blob-Content-Md5"); text != "" {
		sum, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return out, blobError(storage.NewError(storage.CodeInvalidMD5))
		}
		out.ContentMD5 = sum
	}
	return out, nil
}

// putOptions reads what comes with a whole blob.
func (c *Call) putOptions(plain bool) (*blob.PutOptions, *Error) {
	opts := &blob.PutOptions{}
	var refused *Error
	if opts.Tags, refused = c.tags(); refused != nil {
		return nil, refused
	}
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return nil, refused
	}
	if opts.Headers, refused = c.asked().headers(plain); refused != nil {
		return nil, refused
	}
	if opts.Metadata, refused = c.Metadata(); refused != nil {
		return nil, refused
	}
	return opts, nil
}

// number reads a header that is a whole number, not negative; nil if there
// is none.
func (a asked) number(name string) (*int64, *Error) {
	text := a.Get(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, errInvalidHeader(name, text)
	}
	return &n, nil
}

// written answers a write.
func (c *Call) written(status int, w *blob.Written) error {
	c.Headers().version(w.ETag, w.LastModified)
	if w.ContentMD5 != nil {
		c.W.Header().Set("Content-Md5", base64.StdEncoding.EncodeToString(w.ContentMD5))
	}
	if c.crc64 != nil {
		c.Headers().crc(c.crc64)
	}
	return c.Answer(status, nil)
}

func (h headers) crc(sum []byte) {
	h.set("X-Ms-Content-Crc64", base64.StdEncoding.EncodeToString(sum))
}

func (h headers) version(etag string, modified time.Time) {
	if etag != "" {
		h["ETag"] = []string{etag}
	}
	if !modified.IsZero() {
		h.set("Last-Modified", WireTime(modified))
	}
}

// encrypted says of a write that its data is safe, as every account's is.
func (h headers) encrypted() { h.set("X-Ms-Request-Server-Encrypted", "true") }

func (h headers) lease(l blob.LeaseProperties) {
	if l.State == "" { // a snapshot has no lease
		return
	}
	h.set("X-Ms-Lease-Status", l.Status)
	h.set("X-Ms-Lease-State", l.State)
	if l.Duration != "" {
		h.set("X-Ms-Lease-Duration", l.Duration)
	}
}

// blob makes headers of all properties of a blob, except its length
// and its MD5.
func (h headers) blob(p *blob.Properties) {
	h.version(p.ETag, p.LastModified)
	h.Metadata(p.Metadata)
	h.lease(p.Lease)
	h["Content-Type"] = nil // nothing is guessed
	for _, f := range []Detail{
		{"Content-Type", p.Headers.ContentType}, {"Content-Encoding", p.Headers.ContentEncoding}, {"Content-Language", p.Headers.ContentLanguage},
		{"Content-Disposition", p.Headers.ContentDisposition}, {"Cache-Control", p.Headers.CacheControl},
	} {
		if f.Value != "" {
			h.set(f.Name, f.Value)
		}
	}
	h.set("Accept-Ranges", "bytes")
	h.set("X-Ms-Blob-Type", string(p.Type))
	h.set("X-Ms-Creation-Time", WireTime(p.Created))
	h.set("X-Ms-Server-Encrypted", "true")
	if p.TagCount > 0 {
		h.set("X-Ms-Tag-Count", strconv.Itoa(p.TagCount))
	}
	if p.Type == blob.AppendBlob {
		h.set("X-Ms-Blob-Committed-Block-Count", strconv.Itoa(p.AppendBlocks))
	}
	if p.Sealed {
		h.set("X-Ms-Blob-Sealed", "true")
	}
	if p.Type == blob.PageBlob {
		h.sequence(p.Sequence)
	}
	if s := p.Copy; s != nil {
		h.set("X-Ms-Copy-Id", s.ID)
		h.set("X-Ms-Copy-Source", s.Source)
		h.set("X-Ms-Copy-Status", s.Status)
		h.set("X-Ms-Copy-Progress", copyProgress(s))
		h.set("X-Ms-Copy-Completion-Time", WireTime(s.Completed))
	}
}

func copyProgress(s *blob.CopyState) string {
	n := strconv.FormatInt(s.Bytes, 10)
	return n + "/" + n
}
