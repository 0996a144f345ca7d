package rest

import (
	"context"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
)

// paged is a page blob with its own calls, as the embedded account's are.
type paged interface {
	PutPages(ctx context.Context, at int64, body io.Reader, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
	ClearPages(ctx context.Context, span blobapi.Range, opts *blobs.PageOptions) (*blobs.PagesWritten, error)
	PageRangesFrom(ctx context.Context, within *blobapi.Range, since string, from int64, most int, cond *blobapi.Conditions) (*blobs.PageRanges, error)
	SetPageProperties(ctx context.Context, p blobs.PageProperties, cond *blobapi.Conditions) (*blobs.PagesWritten, error)
}

// maxPages is how much one Put Page writes (docs: Put Page).
const maxPages = 4 << 20

func (h headers) sequence(n int64) {
	h.set("X-Ms-Blob-Sequence-Number", strconv.FormatInt(n, 10))
}

// pageBlob reads what a page blob is created with.
func (a asked) pageBlob(opts *blobapi.PutOptions) *Error {
	const name = "X-Ms-Blob-Content-Length"
	size, refused := a.number(name)
	if refused != nil {
		return refused
	}
	if size == nil {
		return errMissingHeader("x-ms-blob-content-length")
	}
	sequence, refused := a.number("X-Ms-Blob-Sequence-Number")
	if refused != nil {
		return refused
	}
	if sequence != nil {
		opts.Sequence = *sequence
	}
	opts.Size = *size
	return nil
}

// putPage serves Put Page, Clear Pages and Put Page From URL.
func putPage(c *Call) error {
	blob, ok := c.blob().(paged)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	span, refused := c.asked().pageRange()
	if refused != nil {
		return refused
	}
	opts := &blobs.PageOptions{}
	if opts.Conditions, refused = c.conditions(""); refused != nil {
		return refused
	}
	for name, to := range map[string]**int64{"Le": &opts.Sequence.AtMost, "Lt": &opts.Sequence.Below, "Eq": &opts.Sequence.Equal} {
		name = "X-Ms-If-Sequence-Number-" + name
		if *to, refused = c.asked().number(name); refused != nil {
			if strings.HasPrefix(c.R.Header.Get(name), "-") { // azblob live test BlobPutPagesIfSequenceNumberLessThanNegOne
				return storage.NewError(storage.CodeInvalidInput)
			}
			return refused
		}
	}
	var write func(ctx context.Context) (*blobs.PagesWritten, error)
	switch how := c.R.Header.Get("X-Ms-Page-Write"); strings.ToLower(how) {
	case "clear":
		if c.R.ContentLength > 0 {
			return errInvalidHeader("Content-Length", strconv.FormatInt(c.R.ContentLength, 10))
		}
		write = func(ctx context.Context) (*blobs.PagesWritten, error) { return blob.ClearPages(ctx, *span, opts) }
	case "update":
		sums, refused := c.asked().checksums(bodyChecksums)
		if refused != nil {
			return refused
		}
		opts.BodyMD5 = sums.md5
		body, discard, err := c.block(maxPages, sums)
		if err != nil {
			return err
		}
		defer discard()
		if staged, ok := body.(*blobs.StagedBody); ok && staged.Size() != span.Count {
			return storage.NewError(storage.CodeInvalidPageRange)
		}
		write = func(ctx context.Context) (*blobs.PagesWritten, error) {
			return blob.PutPages(ctx, span.Offset, body, opts)
		}
	case "":
		return errMissingHeader("x-ms-page-write")
	default:
		return errInvalidHeader("x-ms-page-write", how)
	}
	return c.writeContent(http.StatusCreated, func(ctx context.Context) (*blobapi.Written, error) {
		w, err := write(ctx)
		if err != nil {
			return nil, err
		}
		c.Headers().sequence(w.Sequence)
		return &w.Written, nil
	})
}

// pageRange reads the range that is written, which has both ends.
func (a asked) pageRange() (*blobapi.Range, *Error) {
	text := a.Get("X-Ms-Range")
	if text == "" {
		text = a.Get("Range")
	}
	if text == "" {
		return nil, errMissingHeader("x-ms-range")
	}
	span, ok := parseRange(text)
	if !ok || span.Count == 0 {
		return nil, blobError(storage.NewError(storage.CodeInvalidPageRange))
	}
	return span, nil
}

// maxPageRanges is how many ranges one page of a list has (docs: Get Page Ranges,
// "maxresults").
const maxPageRanges = 10_000

// getPageRanges serves Get Page Ranges, also differences to a snapshot that is named;
// one that has an address is a managed disk's, which are not here.
func getPageRanges(c *Call) error {
	if c.R.Header.Get("X-Ms-Previous-Snapshot-Url") != "" {
		return errNotOffered("HeaderName", "x-ms-previous-snapshot-url")
	}
	blob, ok := c.blob().(paged)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	within, refused := c.asked().byteRange()
	if refused != nil {
		return refused
	}
	most, refused := c.Query.Number("maxresults", maxPageRanges, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	start, refused := c.Query.Number("marker", 0, 0, math.MaxInt64)
	if refused != nil {
		return refused
	}
	most = min(most, maxPageRanges)
	var pages *blobs.PageRanges
	err := c.Inside(func(ctx context.Context) (err error) {
		pages, err = blob.PageRangesFrom(ctx, within, c.Query.Get("prevsnapshot"), start, int(most), cond)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().version(pages.Version.ETag, pages.Version.LastModified)
	c.W.Header().Set("X-Ms-Blob-Content-Length", strconv.FormatInt(pages.ContentLength, 10))
	return c.Answer(http.StatusOK, pageList(pages, start, int(most), c.Query.Has("maxresults")))
}

// pageList is a page of a list of ranges from an offset on, by their offsets. Where the
// next one begins, its marker, is said if there is one or if a size was asked for.
func pageList(pages *blobs.PageRanges, start int64, most int, sized bool) []byte {
	b := append([]byte(XMLHeader), "<PageList>"...)
	written, cleared := pages.Ranges, pages.Cleared
	next := ""
	for len(written)+len(cleared) > 0 {
		name, from := "PageRange", &written
		if len(written) == 0 || len(cleared) > 0 && cleared[0].Offset < written[0].Offset {
			name, from = "ClearRange", &cleared
		}
		r := (*from)[0]
		*from = (*from)[1:]
		if r.Offset < start {
			continue
		}
		if most == 0 {
			next = strconv.FormatInt(r.Offset, 10)
			break
		}
		most--
		b = append(b, "<"+name+">"...)
		b = AppendElement(b, "Start", strconv.FormatInt(r.Offset, 10))
		b = AppendElement(b, "End", strconv.FormatInt(r.Offset+r.Count-1, 10))
		b = append(b, "</"+name+">"...)
	}
	if next != "" || sized {
		b = AppendElement(b, "NextMarker", next)
	}
	return append(b, "</PageList>"...)
}

// pageProperties reads what Set Blob Properties changes of a page blob; nil if that
// is nothing. Then headers that are not given stay.
//
// Source: docs, Set Blob Properties, "Remarks".
func (a asked) pageProperties(headers blobapi.Headers) (*blobs.PageProperties, *Error) {
	const action, number = "x-ms-sequence-number-action", "x-ms-blob-sequence-number"
	p := &blobs.PageProperties{}
	var refused *Error
	if p.Size, refused = a.number("X-Ms-Blob-Content-Length"); refused != nil {
		return nil, refused
	}
	given, refused := a.number(number)
	if refused != nil {
		return nil, refused
	}
	switch how := strings.ToLower(a.Get(action)); how {
	case "":
	case "increment":
		if given != nil {
			return nil, errInvalidHeader(number, a.Get(number))
		}
		p.Sequence = func(now int64) (int64, error) {
			if now == math.MaxInt64 {
				return 0, NewError(http.StatusConflict, "SequenceNumberIncrementTooLarge", "The sequence number increment cannot be performed because it would result in overflow of the sequence number.")
			}
			return now + 1, nil
		}
	case "max", "update":
		if given == nil {
			return nil, errMissingHeader(number)
		}
		p.Sequence = func(now int64) (int64, error) {
			if how == "max" {
				return max(now, *given), nil
			}
			return *given, nil
		}
	default:
		return nil, errInvalidHeader(action, a.Get(action))
	}
	if p.Size == nil && p.Sequence == nil {
		return nil, nil
	}
	if headers.ContentType+headers.ContentEncoding+headers.ContentLanguage+headers.ContentDisposition+headers.CacheControl != "" || headers.ContentMD5 != nil {
		p.Headers = &headers
	}
	return p, nil
}

func setPageProperties(c *Call, p blobs.PageProperties, cond *blobapi.Conditions) error {
	blob, ok := c.blob().(paged)
	if !ok {
		return storage.NewError(storage.CodeNotImplemented)
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blobapi.Written, error) {
		w, err := blob.SetPageProperties(ctx, p, cond)
		if err != nil {
			return nil, err
		}
		c.Headers().sequence(w.Sequence)
		return &w.Written, nil
	})
}
