package rest

import (
	"context"
	"encoding/xml"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// Blobs and accounts that keep index tags: the embedded ones.
type (
	tagged interface {
		SetTags(ctx context.Context, tags map[string]string, cond *blob.Conditions) error
		Tags(ctx context.Context, cond *blob.Conditions) (map[string]string, error)
	}
	tagIndex interface {
		FindBlobs(ctx context.Context, container, where, marker string, most int) (*blobs.TaggedPage, error)
	}
)

// tags reads the tags that a write gives a blob, in the form of a query. A signature
// has to allow that.
//
// Source: docs, Put Blob, "x-ms-tags".
func (c *Call) tags() (map[string]string, *Error) {
	text := c.R.Header.Get("X-Ms-Tags")
	if text == "" {
		return nil, nil
	}
	if !c.access.allows("t") {
		return nil, ErrNotAuthorized("Permission", "permission")
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, errInvalidHeader("x-ms-tags", text)
	}
	tags := map[string]string{}
	for key, value := range values {
		if len(value) > 1 {
			return nil, errInvalidHeader("x-ms-tags", text)
		}
		tags[key] = value[0]
	}
	return tags, nil
}

// copiesTags says whether a copy that was asked for by URL takes over the tags of
// its source (docs: Copy Blob From URL, "x-ms-copy-source-tag-option").
func (a asked) copiesTags(own map[string]string) (bool, *Error) {
	const name = "x-ms-copy-source-tag-option"
	switch text := a.Get(name); strings.ToUpper(text) {
	case "", "REPLACE":
		return false, nil
	case "COPY":
		if own != nil {
			return false, NewError(http.StatusBadRequest, "BothUserTagsAndSourceTagsCopyPresent", "x-ms-tags and the tags of the source cannot be had both.")
		}
		return true, nil
	default:
		return false, errInvalidHeader(name, text)
	}
}

// tagsXML is the document of tags.
type tagsXML struct {
	XMLName xml.Name                      `xml:"Tags"`
	Tags    []struct{ Key, Value string } `xml:"TagSet>Tag"`
}

// tagConditions reads the conditions of a request for tags, which have names of
// their own beside the usual ones.
//
// Source: docs, Set Blob Tags, Get Blob Tags, "x-ms-blob-if-match".
func (c *Call) tagConditions() (*blob.Conditions, *Error) {
	h := c.R.Header
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if v := h.Get("X-Ms-Blob-" + name); v != "" {
			h.Set(name, v)
		}
	}
	return c.conditions("")
}

func setBlobTags(c *Call) error {
	cond, refused := c.tagConditions()
	if refused != nil {
		return refused
	}
	sums, refused := c.asked().checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	b, err := c.Body(MaxDocument)
	if err != nil {
		return err
	}
	if refused := sums.check(b); refused != nil {
		return refused
	}
	var x tagsXML
	if refused := decodeXML(b, &x); refused != nil {
		return refused
	}
	tags := map[string]string{}
	for _, tag := range x.Tags {
		if _, twice := tags[tag.Key]; twice {
			return ErrInvalidXML("a tag stands there twice")
		}
		tags[tag.Key] = tag.Value
	}
	blob, ok := c.blob().(tagged)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	if err := c.Inside(func(ctx context.Context) error { return blob.SetTags(ctx, tags, cond) }); err != nil {
		return err
	}
	return c.Answer(http.StatusNoContent, nil)
}

func getBlobTags(c *Call) error {
	cond, refused := c.tagConditions()
	if refused != nil {
		return refused
	}
	blob, ok := c.blob().(tagged)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	var tags map[string]string
	err := c.Inside(func(ctx context.Context) (err error) {
		tags, err = blob.Tags(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, appendTags([]byte(XMLHeader), tags))
}

func appendTags(b []byte, tags map[string]string) []byte {
	b = append(b, "<Tags><TagSet>"...)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		b = append(b, "<Tag>"...)
		b = AppendElement(b, "Key", key)
		b = AppendElement(b, "Value", tags[key])
		b = append(b, "</Tag>"...)
	}
	return append(b, "</TagSet></Tags>"...)
}

// findBlobs serves Find Blobs by Tags, of an account or a container. The answer has
// the tags of the query, and the value again if there is one.
func findBlobs(c *Call) error {
	asked, refused := c.Query.Number("maxresults", MaxListed, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	where := c.Query.Get("where")
	if where == "" {
		return ErrMissingParameter("where")
	}
	index, ok := c.Account.Blobs.(tagIndex)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	container := ""
	if len(c.Path) > 0 {
		container = c.Path[0]
	}
	var page *blobs.TaggedPage
	err := c.Inside(func(ctx context.Context) (err error) {
		page, err = index.FindBlobs(ctx, container, where, c.Query.Get("marker"), int(asked))
		return err
	})
	if blobs.IsTagQueryError(err) {
		refused := ErrInvalidParameter("where", where, "")
		refused.Message = err.Error()
		return refused
	}
	if err != nil {
		return err
	}
	b := append([]byte(XMLHeader), `<EnumerationResults ServiceEndpoint="`...)
	b = append(AppendText(b, strings.ReplaceAll(c.endpoint(), `"`, "%22")), `">`...)
	b = append(AppendElement(b, "Where", where), "<Blobs>"...)
	for _, found := range page.Blobs {
		b = append(b, "<Blob>"...)
		b = appendName(b, found.Name)
		b = AppendElement(b, "ContainerName", found.Container)
		b = appendTags(b, found.Tags)
		value := ""
		if len(found.Tags) == 1 {
			for _, value = range found.Tags {
			}
		}
		b = AppendElement(b, "TagValue", value)
		b = append(b, "</Blob>"...)
	}
	b = append(b, "</Blobs>"...)
	b = AppendElement(b, "NextMarker", page.NextMarker)
	return c.Answer(http.StatusOK, append(b, "</EnumerationResults>"...))
}
