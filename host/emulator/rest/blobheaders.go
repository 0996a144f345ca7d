package rest

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// conditions reads the conditional headers and the lease. A prefix such as
// "X-Ms-Source-" reads those on the source of a copy.
func (c *call) conditions(prefix string) (*blob.Conditions, *Error) {
	h := c.r.Header
	cond := &blob.Conditions{IfMatch: h.Get(prefix + "If-Match"), IfNoneMatch: h.Get(prefix + "If-None-Match")}
	own := prefix
	if own == "" {
		own = "X-Ms-"
	}
	cond.LeaseID, cond.IfTags = h.Get(own+"Lease-Id"), h.Get(own+"If-Tags")
	if cond.IfTags != "" && !c.allows("t") {
		return nil, errNotAuthorized("Permission", "permission")
	}
	for _, f := range []struct {
		name string
		to   *time.Time
	}{{"If-Modified-Since", &cond.IfModifiedSince}, {"If-Unmodified-Since", &cond.IfUnmodifiedSince}} {
		var refused *Error
		if *f.to, refused = c.headerTime(prefix + f.name); refused != nil {
			return nil, refused
		}
	}
	return cond, nil
}

// headerTime reads a header that is a date; the zero time if there is none.
func (c *call) headerTime(name string) (time.Time, *Error) {
	text := c.r.Header.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return time.Time{}, errInvalidHeader(name, text)
	}
	return at, nil
}

// allows reports whether a signature allows what one of the letters stands for;
// who signs with the key may do everything.
func (c *call) allows(letters string) bool {
	return c.allowed == nil || strings.ContainsAny(*c.allowed, letters)
}

// guardOverwrite holds a write of a whole blob to what its signature allows: one
// that may create but not write finds nothing there. It returns the error of
// the write as it is to be answered.
//
// Source: docs, Create a service SAS ("Permissions": c, "Write a new blob").
func (c *call) guardOverwrite(cond *blob.Conditions) (answer func(error) error) {
	if c.allows("w") {
		return func(err error) error { return err }
	}
	own := cond.IfNoneMatch != "*"
	if own {
		*cond = blob.Conditions{IfNoneMatch: "*", LeaseID: cond.LeaseID}
	}
	return func(err error) error {
		if own && storage.CodeOf(err) == storage.CodeBlobAlreadyExists {
			return newError(http.StatusForbidden, "UnauthorizedBlobOverwrite", "This request is not authorized to perform blob overwrites.")
		}
		return err
	}
}

// md5Header reads a header that holds an MD5 in base64; nil if there is none.
func (c *call) md5Header(name string) ([]byte, *Error) {
	text := c.r.Header.Get(name)
	if text == "" {
		return nil, nil
	}
	sum, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sum) != 16 {
		return nil, blobError(storage.NewError(storage.CodeInvalidMD5))
	}
	return sum, nil
}

// blobHeaders reads the headers that are to be stored with a blob. Where the
// body of the request is the blob's, plain headers will do as well.
func (c *call) blobHeaders(plain bool) (blob.Headers, *Error) {
	get := func(name string) string {
		v := c.r.Header.Get("X-Ms-Blob-" + name)
		if v == "" && plain {
			v = c.r.Header.Get(name)
		}
		return v
	}
	out := blob.Headers{
		ContentType: get("Content-Type"), ContentEncoding: get("Content-Encoding"), ContentLanguage: get("Content-Language"),
		ContentDisposition: c.r.Header.Get("X-Ms-Blob-Content-Disposition"), CacheControl: get("Cache-Control"),
	}
	if text := c.r.Header.Get("X-Ms-Blob-Content-Md5"); text != "" {
		sum, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return out, blobError(storage.NewError(storage.CodeInvalidMD5))
		}
		out.ContentMD5 = sum
	}
	return out, nil
}

// putOptions reads what comes with a whole blob.
func (c *call) putOptions(plain bool) (*blob.PutOptions, *Error) {
	opts := &blob.PutOptions{}
	var refused *Error
	if opts.Tags, refused = c.tags(); refused != nil {
		return nil, refused
	}
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return nil, refused
	}
	if opts.Headers, refused = c.blobHeaders(plain); refused != nil {
		return nil, refused
	}
	if opts.Metadata, refused = c.metadata(); refused != nil {
		return nil, refused
	}
	return opts, nil
}

// headerNumber reads a header that is a whole number, not negative; nil if there
// is none.
func (c *call) headerNumber(name string) (*int64, *Error) {
	text := c.r.Header.Get(name)
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
func (c *call) written(status int, w *blob.Written) error {
	c.setVersion(w.ETag, w.LastModified)
	if w.ContentMD5 != nil {
		c.w.Header().Set("Content-Md5", base64.StdEncoding.EncodeToString(w.ContentMD5))
	}
	if c.crc64 != nil {
		c.setCRC(c.crc64)
	}
	return c.answer(status, nil)
}

func (c *call) setCRC(sum []byte) {
	c.w.Header().Set("X-Ms-Content-Crc64", base64.StdEncoding.EncodeToString(sum))
}

func (c *call) setVersion(etag string, modified time.Time) {
	h := c.w.Header()
	if etag != "" {
		h["ETag"] = []string{etag}
	}
	if !modified.IsZero() {
		h.Set("Last-Modified", wireTime(modified))
	}
}

// encrypted says of a write that its data is safe, as every account's is.
func (c *call) encrypted() { c.w.Header().Set("X-Ms-Request-Server-Encrypted", "true") }

func (c *call) setLease(l blob.LeaseProperties) {
	if l.State == "" { // a snapshot has no lease
		return
	}
	h := c.w.Header()
	h.Set("X-Ms-Lease-Status", l.Status)
	h.Set("X-Ms-Lease-State", l.State)
	if l.Duration != "" {
		h.Set("X-Ms-Lease-Duration", l.Duration)
	}
}

// setBlobHeaders makes headers of all properties of a blob, except its length
// and its MD5.
func (c *call) setBlobHeaders(p *blob.Properties) {
	c.setVersion(p.ETag, p.LastModified)
	c.setMetadata(p.Metadata)
	c.setLease(p.Lease)
	h := c.w.Header()
	h["Content-Type"] = nil // nothing is guessed
	for _, f := range []Detail{
		{"Content-Type", p.Headers.ContentType}, {"Content-Encoding", p.Headers.ContentEncoding}, {"Content-Language", p.Headers.ContentLanguage},
		{"Content-Disposition", p.Headers.ContentDisposition}, {"Cache-Control", p.Headers.CacheControl},
	} {
		if f.Value != "" {
			h.Set(f.Name, f.Value)
		}
	}
	h.Set("Accept-Ranges", "bytes")
	h.Set("X-Ms-Blob-Type", string(p.Type))
	h.Set("X-Ms-Creation-Time", wireTime(p.Created))
	h.Set("X-Ms-Server-Encrypted", "true")
	if p.TagCount > 0 {
		h.Set("X-Ms-Tag-Count", strconv.Itoa(p.TagCount))
	}
	if p.Type == blob.AppendBlob {
		h.Set("X-Ms-Blob-Committed-Block-Count", strconv.Itoa(p.AppendBlocks))
	}
	if p.Sealed {
		h.Set("X-Ms-Blob-Sealed", "true")
	}
	if p.Type == blob.PageBlob {
		c.setSequence(p.Sequence)
	}
	if s := p.Copy; s != nil {
		h.Set("X-Ms-Copy-Id", s.ID)
		h.Set("X-Ms-Copy-Source", s.Source)
		h.Set("X-Ms-Copy-Status", s.Status)
		h.Set("X-Ms-Copy-Progress", copyProgress(s))
		h.Set("X-Ms-Copy-Completion-Time", wireTime(s.Completed))
	}
}

func copyProgress(s *blob.CopyState) string {
	n := strconv.FormatInt(s.Bytes, 10)
	return n + "/" + n
}
