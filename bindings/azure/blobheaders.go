package azure

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Headers on the wire. They are written and read here, because
// the SDK's options and answers leave out some of what a call may say.

// conditionHeaders returns the headers of conditions. The prefix is empty, or the
// prefix of the source of a copy.
func conditionHeaders(prefix string, c *blobapi.Conditions) http.Header {
	h := http.Header{}
	if c == nil {
		return h
	}
	set(h, prefix+"If-Match", c.IfMatch)
	set(h, prefix+"If-None-Match", c.IfNoneMatch)
	setTime(h, prefix+"If-Modified-Since", c.IfModifiedSince)
	setTime(h, prefix+"If-Unmodified-Since", c.IfUnmodifiedSince)
	if prefix == "" {
		prefix = "X-Ms-"
	}
	set(h, prefix+"Lease-Id", c.LeaseID)
	set(h, prefix+"If-Tags", c.IfTags)
	return h
}

// leaseConditions are the conditions of a lease operation, without the lease,
// which the operation names itself.
func leaseConditions(c *blobapi.Conditions) http.Header {
	h := conditionHeaders("", c)
	h.Del("X-Ms-Lease-Id")
	return h
}

// setTags adds the index tags of a write.
func setTags(h http.Header, tags map[string]string) {
	v := url.Values{}
	for key, value := range tags {
		v.Set(key, value)
	}
	set(h, "X-Ms-Tags", v.Encode())
}

func set(h http.Header, name, text string) {
	if text != "" {
		h.Set(name, text)
	}
}

func setTime(h http.Header, name string, at time.Time) {
	if !at.IsZero() {
		h.Set(name, at.UTC().Format(http.TimeFormat))
	}
}

// setMD5 takes the header's name in the SDK's spelling: the SDK signs the value
// under "Content-MD5".
func setMD5(h http.Header, name string, sum []byte) {
	if sum != nil {
		h[name] = []string{base64.StdEncoding.EncodeToString(sum)}
	}
}

// addContentHeaders adds the headers that are to be stored with a blob.
func addContentHeaders(h http.Header, c blobapi.Headers) {
	set(h, "X-Ms-Blob-Content-Type", c.ContentType)
	set(h, "X-Ms-Blob-Content-Encoding", c.ContentEncoding)
	set(h, "X-Ms-Blob-Content-Language", c.ContentLanguage)
	set(h, "X-Ms-Blob-Content-Disposition", c.ContentDisposition)
	set(h, "X-Ms-Blob-Cache-Control", c.CacheControl)
	setMD5(h, "X-Ms-Blob-Content-Md5", c.ContentMD5)
}

func written(h http.Header) *blobapi.Written {
	return &blobapi.Written{ETag: h.Get("ETag"), LastModified: timeOf(h, "Last-Modified"), ContentMD5: md5Of(h, "Content-Md5")}
}

func timeOf(h http.Header, name string) time.Time {
	at, err := http.ParseTime(h.Get(name))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

func md5Of(h http.Header, name string) []byte {
	sum, err := base64.StdEncoding.DecodeString(h.Get(name))
	if err != nil || len(sum) == 0 {
		return nil
	}
	return sum
}

func numberOf(h http.Header, name string) int64 {
	n, err := strconv.ParseInt(h.Get(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func leaseOf(h http.Header) blobapi.LeaseProperties {
	return blobapi.LeaseProperties{State: h.Get("X-Ms-Lease-State"), Status: h.Get("X-Ms-Lease-Status"), Duration: h.Get("X-Ms-Lease-Duration")}
}

// metadataOf returns the metadata in an answer, with names in lower case: their
// spelling is lost on the way.
func metadataOf(h http.Header) map[string]string {
	const prefix = "X-Ms-Meta-"
	var out map[string]string
	for name, values := range h {
		if len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[strings.ToLower(name[len(prefix):])] = strings.Join(values, ",")
	}
	return out
}

// propertiesOf reads the answer to a HEAD, or to a GET of a blob.
func propertiesOf(h http.Header) *blobapi.Properties {
	p := &blobapi.Properties{
		Type: blobapi.Type(h.Get("X-Ms-Blob-Type")), Created: timeOf(h, "X-Ms-Creation-Time"), LastModified: timeOf(h, "Last-Modified"),
		ETag: h.Get("ETag"), ContentLength: numberOf(h, "Content-Length"), Metadata: metadataOf(h), Lease: leaseOf(h),
		AppendBlocks: int(numberOf(h, "X-Ms-Blob-Committed-Block-Count")),
		TagCount:     int(numberOf(h, "X-Ms-Tag-Count")), Sealed: strings.EqualFold(h.Get("X-Ms-Blob-Sealed"), "true"), Sequence: numberOf(h, "X-Ms-Blob-Sequence-Number"),
		AccessTier: h.Get("X-Ms-Access-Tier"), AccessTierInferred: strings.EqualFold(h.Get("X-Ms-Access-Tier-Inferred"), "true"),
		AccessTierSet: timeOf(h, "X-Ms-Access-Tier-Change-Time"),
		ArchiveStatus: h.Get("X-Ms-Archive-Status"), RehydratePriority: h.Get("X-Ms-Rehydrate-Priority"),
		Headers: blobapi.Headers{
			ContentType: h.Get("Content-Type"), ContentEncoding: h.Get("Content-Encoding"), ContentLanguage: h.Get("Content-Language"),
			ContentDisposition: h.Get("Content-Disposition"), CacheControl: h.Get("Cache-Control"), ContentMD5: md5Of(h, "Content-Md5"),
		},
	}
	if _, total, ok := strings.Cut(h.Get("Content-Range"), "/"); ok {
		p.ContentLength, _ = strconv.ParseInt(total, 10, 64)
		p.Headers.ContentMD5 = md5Of(h, "X-Ms-Blob-Content-Md5")
	}
	if id := h.Get("X-Ms-Copy-Id"); id != "" {
		p.Copy = &blobapi.CopyState{
			ID: id, Source: h.Get("X-Ms-Copy-Source"), Status: h.Get("X-Ms-Copy-Status"),
			Completed: timeOf(h, "X-Ms-Copy-Completion-Time"), Bytes: copied(h.Get("X-Ms-Copy-Progress")),
		}
	}
	return p
}

// copied reads how much was copied, from "done/all".
func copied(progress string) int64 {
	done, _, _ := strings.Cut(progress, "/")
	n, err := strconv.ParseInt(done, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// checkMetadata refuses what cannot travel in headers. The rest of the rules are
// the service's.
func checkMetadata(metadata map[string]string) error {
	folded := make(map[string]bool, len(metadata))
	for name, v := range metadata {
		if name == "" {
			return storage.NewError(storage.CodeEmptyMetadataKey)
		}
		outside := func(r rune) bool { return r <= ' ' && r != ' ' && r != '\t' || r > '~' }
		lower := strings.ToLower(name)
		if strings.IndexFunc(name, func(r rune) bool { return r == ' ' || r == ':' || outside(r) }) >= 0 || strings.IndexFunc(v, outside) >= 0 || folded[lower] {
			return storage.NewError(storage.CodeInvalidMetadata)
		}
		folded[lower] = true
	}
	return nil
}

// sdkMetadata and plainMetadata convert to and from the SDK's form.
func sdkMetadata(m map[string]string) map[string]*string {
	if m == nil {
		return nil
	}
	out := make(map[string]*string, len(m))
	for name, v := range m {
		out[name] = &v
	}
	return out
}

func plainMetadata(m map[string]*string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for name, v := range m {
		out[strings.ToLower(name)] = value(v)
	}
	return out
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// text returns what p points to, as a plain string.
func text[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// quoted returns an ETag of a listing as headers have it.
func quoted(p *azcore.ETag) string {
	if p == nil {
		return ""
	}
	return `"` + strings.Trim(string(*p), `"`) + `"`
}

// pageSize holds a number of results to what the wire has.
func pageSize(n int) (*int32, error) {
	if n < 0 {
		return nil, storage.NewError(storage.CodeOutOfRangeQueryParameterValue)
	}
	if n == 0 {
		return nil, nil
	}
	size := int32(min(n, blobapi.MaxListResults))
	return &size, nil
}
