package rest

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"strconv"
	"strings"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// maxBlockListBody is enough for the longest list of blocks.
const maxBlockListBody = 16 << 20

func putBlock(c *Call) error {
	if !c.Query.Has("blockid") {
		return ErrMissingParameter("blockid")
	}
	id := strings.ReplaceAll(c.Query.Get("blockid"), " ", "+") // base64 has no blanks
	sums, refused := c.asked().checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	opts := &blobapi.PutBlockOptions{LeaseID: c.R.Header.Get("X-Ms-Lease-Id"), BodyMD5: sums.md5}
	body, discard, err := c.block(blobapi.MaxPutBlock, sums)
	if err != nil {
		return err
	}
	defer discard()
	return c.writeContent(http.StatusCreated, func(ctx context.Context) (*blobapi.Written, error) {
		return c.blob().PutBlock(ctx, id, body, opts)
	})
}

// block keeps aside what a block is made of: the body of the request, or a range of
// the source that it names (docs: Put Block From URL, Append Block From URL).
func (c *Call) block(limit int64, sums checksums) (body io.Reader, discard func(), err error) {
	address := c.R.Header.Get("X-Ms-Copy-Source")
	if address == "" {
		return c.stage(limit, c.asked().ofBlock(sums))
	}
	span, refused := c.asked().sourceRange()
	if refused != nil {
		return nil, nil, refused
	}
	from, refused := c.source(address, false)
	if refused != nil {
		return nil, nil, refused
	}
	content, err := from.take(c, span, limit)
	if err != nil {
		return nil, nil, err
	}
	return content.body, content.discard, nil
}

func putBlockList(c *Call) error {
	opts, refused := c.putOptions(false)
	if refused != nil {
		return refused
	}
	sums, refused := c.asked().checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	tier, refused := c.asked().tier(false)
	if refused != nil {
		return refused
	}
	b, err := c.Body(maxBlockListBody)
	if err != nil {
		return err
	}
	if refused := sums.check(b); refused != nil {
		return refused
	}
	blocks, refused := parseBlockList(b)
	if refused != nil {
		return refused
	}
	answer := c.guardOverwrite(opts.Conditions)
	return answer(c.writeContent(http.StatusCreated, func(ctx context.Context) (*blobapi.Written, error) {
		w, err := c.blob().PutBlockList(ctx, blocks, opts)
		return w, c.putInTier(ctx, err, tier, opts.Conditions)
	}))
}

// parseBlockList reads the body of Put Block List, in which the order of the
// elements counts.
func parseBlockList(b []byte) ([]blobapi.BlockRef, *Error) {
	var list struct {
		XMLName xml.Name `xml:"BlockList"`
		Blocks  []struct {
			XMLName xml.Name
			ID      string `xml:",chardata"`
		} `xml:",any"`
	}
	if err := decodeXML(b, &list); err != nil {
		return nil, err
	}
	sources := map[string]blobapi.BlockSource{"Latest": blobapi.Latest, "Committed": blobapi.Committed, "Uncommitted": blobapi.Uncommitted}
	var refs []blobapi.BlockRef
	for _, block := range list.Blocks {
		from, ok := sources[block.XMLName.Local]
		if !ok {
			return nil, ErrInvalidXML("want Latest, Committed or Uncommitted, got " + strconv.Quote(block.XMLName.Local))
		}
		refs = append(refs, blobapi.BlockRef{ID: strings.TrimSpace(block.ID), From: from})
	}
	return refs, nil
}

func getBlockList(c *Call) error {
	which := strings.ToLower(c.Query.Get("blocklisttype"))
	switch which {
	case "":
		which = "committed"
	case "committed", "uncommitted", "all":
	default:
		return ErrInvalidParameter("blocklisttype", c.Query.Get("blocklisttype"), "Want committed, uncommitted or all.")
	}
	if c.access.anonymous && which != "committed" { // as is written where public access is explained
		return ErrNotAuthorized("Permission", "permission")
	}
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	var list *blobapi.BlockList
	err := c.Inside(func(ctx context.Context) (err error) {
		list, err = c.blob().BlockList(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().version(list.ETag, list.LastModified)
	c.W.Header().Set("X-Ms-Blob-Content-Length", strconv.FormatInt(list.ContentLength, 10))
	b := []byte(XMLHeader + "<BlockList>")
	if which != "uncommitted" {
		b = appendBlocks(b, "CommittedBlocks", list.Committed)
	}
	if which != "committed" {
		b = appendBlocks(b, "UncommittedBlocks", list.Uncommitted)
	}
	return c.Answer(http.StatusOK, append(b, "</BlockList>"...))
}

func appendBlocks(b []byte, name string, blocks []blobapi.Block) []byte {
	b = append(b, "<"+name+">"...)
	for _, block := range blocks {
		b = append(b, "<Block>"...)
		b = AppendElement(b, "Name", block.ID)
		b = AppendElement(b, "Size", strconv.FormatInt(block.Size, 10))
		b = append(b, "</Block>"...)
	}
	return append(b, "</"+name+">"...)
}

// sealable is an append blob that can be sealed, as the embedded account's can.
type sealable interface {
	Seal(ctx context.Context, position *int64, cond *blobapi.Conditions) (*blobapi.Written, error)
}

func sealBlob(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	position, refused := c.asked().number("X-Ms-Blob-Condition-Appendpos")
	if refused != nil {
		return refused
	}
	blob, ok := c.blob().(sealable)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blobapi.Written, error) {
		w, err := blob.Seal(ctx, position, cond)
		if err == nil {
			c.W.Header().Set("X-Ms-Blob-Sealed", "true")
		}
		return w, err
	})
}

func appendBlock(c *Call) error {
	opts := &blobapi.AppendBlockOptions{}
	var refused *Error
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return refused
	}
	if opts.Position, refused = c.asked().number("X-Ms-Blob-Condition-Appendpos"); refused != nil {
		return refused
	}
	if opts.MaxSize, refused = c.asked().number("X-Ms-Blob-Condition-Maxsize"); refused != nil {
		return refused
	}
	sums, refused := c.asked().checksums(bodyChecksums)
	if refused != nil {
		return refused
	}
	opts.BodyMD5 = sums.md5
	body, discard, err := c.block(blobapi.MaxAppendBlock, sums)
	if err != nil {
		return err
	}
	defer discard()
	var a *blobapi.Appended
	err = c.Inside(func(ctx context.Context) (err error) {
		a, err = c.blob().AppendBlock(ctx, body, opts)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().encrypted()
	h := c.W.Header()
	h.Set("X-Ms-Blob-Append-Offset", strconv.FormatInt(a.Offset, 10))
	h.Set("X-Ms-Blob-Committed-Block-Count", strconv.Itoa(a.Blocks))
	return c.written(http.StatusCreated, &a.Written)
}
