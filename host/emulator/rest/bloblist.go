package rest

import (
	"context"
	"encoding/base64"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
)

// included returns the things that a listing is asked to show.
func (p Parameters) included() map[string]bool {
	out := map[string]bool{}
	for _, list := range p.Values["include"] {
		for item := range strings.SplitSeq(list, ",") {
			out[strings.ToLower(strings.TrimSpace(item))] = true
		}
	}
	return out
}

func appendMetadata(b []byte, metadata map[string]string) []byte {
	b = append(b, "<Metadata>"...)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		b = AppendElement(b, key, metadata[key])
	}
	return append(b, "</Metadata>"...)
}

func appendLease(b []byte, l blob.LeaseProperties) []byte {
	b = AppendElement(b, "LeaseStatus", l.Status)
	b = AppendElement(b, "LeaseState", l.State)
	if l.Duration != "" {
		b = AppendElement(b, "LeaseDuration", l.Duration)
	}
	return b
}

// containerConstants is what a listing says of every container here.
const containerConstants = "<HasImmutabilityPolicy>false</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold>" +
	"<ImmutableStorageWithVersioningEnabled>false</ImmutableStorageWithVersioningEnabled>" +
	"<DefaultEncryptionScope>" + accountScope + "</DefaultEncryptionScope><DenyEncryptionScopeOverride>false</DenyEncryptionScopeOverride>"

func listContainers(c *Call) error {
	asked, refused := c.Query.Number("maxresults", MaxListed, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	opts := &blob.ListContainersOptions{
		Prefix: c.Query.Get("prefix"), Marker: c.Query.Get("marker"), MaxResults: int(asked), Metadata: c.Query.included()["metadata"],
	}
	var page *blob.ContainerPage
	err := c.Inside(func(ctx context.Context) (err error) {
		page, err = c.Account.Blobs.Containers(ctx, opts)
		return err
	})
	if err != nil {
		return err
	}
	b := append(c.ListHead("", asked), "<Containers>"...)
	for _, item := range page.Containers {
		p := item.Properties
		b = append(b, "<Container>"...)
		b = AppendElement(b, "Name", item.Name)
		b = append(b, "<Properties>"...)
		b = AppendElement(b, "Last-Modified", WireTime(p.LastModified))
		b = AppendElement(b, "Etag", p.ETag)
		b = appendLease(b, p.Lease)
		if p.PublicAccess != blob.NoPublicAccess {
			b = AppendElement(b, "PublicAccess", string(p.PublicAccess))
		}
		b = append(b, containerConstants...)
		b = append(b, "</Properties>"...)
		if opts.Metadata {
			b = appendMetadata(b, p.Metadata)
		}
		b = append(b, "</Container>"...)
	}
	b = append(b, "</Containers>"...)
	b = AppendElement(b, "NextMarker", page.NextMarker)
	return c.Answer(http.StatusOK, append(b, "</EnumerationResults>"...))
}

func listBlobs(c *Call) error {
	asked, refused := c.Query.Number("maxresults", MaxListed, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	include := c.Query.included()
	opts := &blob.ListOptions{
		Prefix: c.Query.Get("prefix"), Delimiter: c.Query.Get("delimiter"), Marker: c.Query.Get("marker"), MaxResults: int(asked),
		StartFrom: c.Query.Get("startfrom"), EndBefore: c.Query.Get("endbefore"),
		Include: blob.ListInclude{
			Metadata: include["metadata"], Copy: include["copy"], Snapshots: include["snapshots"], Uncommitted: include["uncommittedblobs"],
			Tags: include["tags"],
		},
	}
	var page *blob.Page
	err := c.Inside(func(ctx context.Context) (err error) {
		page, err = c.container().Blobs(ctx, opts)
		return err
	})
	if err != nil {
		return err
	}
	attribute := append([]byte(` ContainerName="`), strings.ReplaceAll(c.Path[0], `"`, "%22")...)
	b := c.ListHead(string(attribute)+`"`, asked)
	if opts.Delimiter != "" {
		b = AppendElement(b, "Delimiter", opts.Delimiter)
	}
	b = append(b, "<Blobs>"...)
	prefixes := page.Prefixes
	for _, item := range page.Blobs {
		for len(prefixes) > 0 && prefixes[0] < item.Name {
			b, prefixes = appendPrefix(b, prefixes[0]), prefixes[1:]
		}
		b = appendBlob(b, &item, opts.Include)
	}
	for _, prefix := range prefixes {
		b = appendPrefix(b, prefix)
	}
	b = append(b, "</Blobs>"...)
	b = AppendElement(b, "NextMarker", page.NextMarker)
	return c.Answer(http.StatusOK, append(b, "</EnumerationResults>"...))
}

func appendPrefix(b []byte, prefix string) []byte {
	b = append(b, "<BlobPrefix>"...)
	b = appendName(b, prefix)
	return append(b, "</BlobPrefix>"...)
}

// appendName appends a name; escaped, and marked so, if XML cannot hold it
// (docs: List Blobs, since version 2021-02-12).
func appendName(b []byte, name string) []byte {
	if strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0xFFFE || r == 0xFFFF }) >= 0 {
		b = append(b, `<Name Encoded="true">`...)
		b = AppendText(b, strings.ReplaceAll(url.QueryEscape(name), "+", "%20"))
		return append(b, "</Name>"...)
	}
	return AppendElement(b, "Name", name)
}

func appendBlob(b []byte, item *blob.Item, include blob.ListInclude) []byte {
	p := &item.Properties
	b = append(b, "<Blob>"...)
	b = appendName(b, item.Name)
	if item.Snapshot != "" {
		b = AppendElement(b, "Snapshot", item.Snapshot)
	}
	b = append(b, "<Properties>"...)
	if !p.Created.IsZero() {
		b = AppendElement(b, "Creation-Time", WireTime(p.Created))
	}
	if !p.LastModified.IsZero() {
		b = AppendElement(b, "Last-Modified", WireTime(p.LastModified))
	}
	if p.ETag != "" {
		b = AppendElement(b, "Etag", strings.Trim(p.ETag, `"`))
	}
	b = AppendElement(b, "Content-Length", strconv.FormatInt(p.ContentLength, 10))
	for _, f := range []Detail{
		{"Content-Type", p.Headers.ContentType}, {"Content-Encoding", p.Headers.ContentEncoding}, {"Content-Language", p.Headers.ContentLanguage},
		{"Content-CRC64", ""}, {"Content-MD5", base64.StdEncoding.EncodeToString(p.Headers.ContentMD5)},
		{"Cache-Control", p.Headers.CacheControl}, {"Content-Disposition", p.Headers.ContentDisposition},
	} {
		b = AppendElement(b, f.Name, f.Value)
	}
	if p.Type == blob.PageBlob {
		b = AppendElement(b, "x-ms-blob-sequence-number", strconv.FormatInt(p.Sequence, 10))
	}
	b = AppendElement(b, "BlobType", string(p.Type))
	if p.Sealed {
		b = AppendElement(b, "Sealed", "true")
	}
	b = appendTier(b, p)
	if p.Lease.State != "" && item.Snapshot == "" {
		b = appendLease(b, p.Lease)
	}
	if s := p.Copy; s != nil {
		b = AppendElement(b, "CopyId", s.ID)
		b = AppendElement(b, "CopyStatus", s.Status)
		b = AppendElement(b, "CopySource", s.Source)
		b = AppendElement(b, "CopyProgress", copyProgress(s))
		b = AppendElement(b, "CopyCompletionTime", WireTime(s.Completed))
	}
	b = AppendElement(b, "ServerEncrypted", "true")
	if p.TagCount > 0 {
		b = AppendElement(b, "TagCount", strconv.Itoa(p.TagCount))
	}
	b = append(b, "</Properties>"...)
	if include.Metadata {
		b = appendMetadata(b, p.Metadata)
	}
	if include.Tags && len(p.Tags) > 0 {
		b = appendTags(b, p.Tags)
	}
	return append(b, "</Blob>"...)
}
