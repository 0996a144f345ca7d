package rest

import (
	"bytes"
	"context"
	"crypto/md5"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/crc64nvme"

	"github.com/redeliver/redeliver/bindings/blob"
)

const (
	// maxSummedRange is the longest range of which a checksum is worked out (docs:
	// Get Blob, x-ms-range-get-content-md5).
	maxSummedRange = 4 << 20

	sendBuffer = 256 << 10
)

func getBlobProperties(c *Call) error {
	p, err := c.readProperties()
	if err != nil {
		return err
	}
	c.Headers().blob(p)
	c.overrideHeaders()
	h := c.W.Header()
	h.Set("Content-Length", strconv.FormatInt(p.ContentLength, 10))
	if p.Headers.ContentMD5 != nil {
		h.Set("Content-Md5", base64MD5(p.Headers.ContentMD5))
	}
	c.Headers().tier(p)
	c.W.WriteHeader(http.StatusOK)
	return nil
}

func (c *Call) readProperties() (*blob.Properties, error) {
	cond, refused := c.conditions("")
	if refused != nil {
		return nil, refused
	}
	var p *blob.Properties
	err := c.Inside(func(ctx context.Context) (err error) {
		p, err = c.blob().Properties(ctx, cond)
		return err
	})
	return p, err
}

func getBlobMetadata(c *Call) error {
	p, err := c.readProperties()
	if err != nil {
		return err
	}
	c.Headers().version(p.ETag, p.LastModified)
	c.Headers().Metadata(p.Metadata)
	return c.Answer(http.StatusOK, nil)
}

func getBlob(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	asked, refused := c.asked().byteRange()
	if refused != nil {
		return refused
	}
	withMD5, withCRC, refused := c.asked().rangeChecksum()
	if refused != nil {
		return refused
	}
	tooLong := func() *Error {
		name := "x-ms-range-get-content-md5"
		if withCRC {
			name = "x-ms-range-get-content-crc64"
		}
		return errInvalidHeader(name, "true")
	}
	summed := withMD5 || withCRC
	if summed && (asked == nil || asked.Count > maxSummedRange) {
		return tooLong()
	}
	var d *blob.Download
	err := c.Inside(func(ctx context.Context) (err error) {
		d, err = c.blob().Get(ctx, &blob.GetOptions{Range: asked, Conditions: cond})
		return err
	})
	if err != nil {
		return err
	}
	defer d.Body.Close()
	if summed && d.Range.Count > maxSummedRange { // the rest of a large blob
		return tooLong()
	}
	return c.send(d, asked != nil, withMD5, withCRC)
}

// send answers with a blob's content. A failure after the answer has begun cuts the
// connection.
func (c *Call) send(d *blob.Download, partial, withMD5, withCRC bool) error {
	c.Headers().blob(d.Properties)
	if c.W.Header().Get("X-Ms-Version") >= version2026Oct { // azure-storage-blob for Python, CHANGELOG.md, 12.31.0b1
		c.Headers().tier(d.Properties)
	}
	c.overrideHeaders()
	h := c.W.Header()
	h.Set("Content-Length", strconv.FormatInt(d.Range.Count, 10))
	whole, status := d.Properties.Headers.ContentMD5, http.StatusOK
	from := io.Reader(d.Body)
	if partial {
		status = http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", d.Range.Offset, d.Range.Offset+d.Range.Count-1, d.Properties.ContentLength))
		if whole != nil {
			h.Set("X-Ms-Blob-Content-Md5", base64MD5(whole))
		}
		if withMD5 || withCRC {
			part, err := io.ReadAll(from)
			if err != nil {
				return err
			}
			if withMD5 {
				sum := md5.Sum(part)
				h.Set("Content-Md5", base64MD5(sum[:]))
			} else {
				c.Headers().crc(crcBytes(crc64nvme.Checksum(part)))
			}
			from = bytes.NewReader(part)
		}
	} else if whole != nil {
		h.Set("Content-Md5", base64MD5(whole))
	}
	c.W.WriteHeader(status)
	content := sending{from: from, left: d.Range.Count, front: c.front}
	defer content.close()
	for content.left > 0 {
		part, err := content.next()
		if err != nil {
			c.front.server.opts.Logger.Error().Err(err).Str("component", c.front.service.Name+" rest").Str("blob", strings.Join(c.Path, "/")).Msg("a blob could not be read to its end")
			return ErrCut
		}
		if _, err := c.W.Write(part); err != nil {
			return ErrCut
		}
	}
	return nil
}

// sending takes content apart into what is written at once.
type sending struct {
	from     io.Reader
	left     int64
	front    *front
	buffer   []byte // nil: none was needed yet
	giveBack func()
}

// lender is content that may have its bytes in memory: the emulator's. Next
// returns the next ones, at most so many, or none if they have to be read.
type lender interface {
	Next(most int) ([]byte, error)
}

// next returns the next part, to be used until the next call.
func (s *sending) next() ([]byte, error) {
	most := int(min(s.left, sendBuffer))
	if lends, ok := s.from.(lender); ok {
		if part, err := lends.Next(most); err != nil || len(part) > 0 {
			s.left -= int64(len(part))
			return part, err
		}
	}
	if s.buffer == nil {
		s.buffer, s.giveBack = s.front.buffer(s.left)
	}
	n, err := io.ReadFull(s.from, s.buffer[:min(most, len(s.buffer))])
	s.left -= int64(n)
	return s.buffer[:n], err
}

func (s *sending) close() {
	if s.giveBack != nil {
		s.giveBack()
	}
}

// buffer returns a buffer for sending so many bytes, at most sendBuffer. Large
// ones are used again.
func (d *front) buffer(size int64) (b []byte, giveBack func()) {
	if size < sendBuffer {
		return make([]byte, size), func() {}
	}
	large, ok := d.buffers.Get().(*[sendBuffer]byte)
	if !ok {
		large = new([sendBuffer]byte)
	}
	return large[:], func() { d.buffers.Put(large) }
}

// overrideHeaders puts the headers in place that a signature asks for.
func (c *Call) overrideHeaders() {
	if !c.access.overrides {
		return
	}
	for _, f := range []Detail{
		{"Cache-Control", "rscc"}, {"Content-Disposition", "rscd"}, {"Content-Encoding", "rsce"}, {"Content-Language", "rscl"}, {"Content-Type", "rsct"},
	} {
		if v := c.Query.Get(f.Value); v != "" {
			c.W.Header().Set(f.Name, v)
		}
	}
}

// byteRange reads the requested range; nil if there is none. A malformed range
// is ignored, as HTTP has it, in x-ms-range too when a number is negative
// (azure-sdk-for-go: azblob live tests BlobDownloadDataNegativeOffset and
// BlobGetPageRangesInvalidRange). Other faults of x-ms-range are refused.
func (a asked) byteRange() (*blob.Range, *Error) {
	own := a.Get("X-Ms-Range")
	text := own
	if text == "" {
		text = a.Get("Range")
	}
	if text == "" {
		return nil, nil
	}
	r, ok := parseRange(text)
	switch {
	case ok:
		return r, nil
	case own != "" && !strings.HasPrefix(own, "bytes=-"):
		return nil, errInvalidHeader("x-ms-range", own)
	}
	return nil, nil
}

// rangeHeader is a range as parseRange reads it.
func rangeHeader(r blob.Range) string {
	text := "bytes=" + strconv.FormatInt(r.Offset, 10) + "-"
	if r.Count > 0 {
		text += strconv.FormatInt(r.Offset+r.Count-1, 10)
	}
	return text
}

// parseRange reads "bytes=first-last" or "bytes=first-". The service knows no
// ranges from the end.
func parseRange(text string) (*blob.Range, bool) {
	span, ok := strings.CutPrefix(strings.TrimSpace(text), "bytes=")
	if !ok {
		return nil, false
	}
	from, to, ok := strings.Cut(span, "-")
	if !ok {
		return nil, false
	}
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 0 {
		return nil, false
	}
	if to == "" {
		return &blob.Range{Offset: first}, true
	}
	last, err := strconv.ParseInt(to, 10, 64)
	if err != nil || last < first {
		return nil, false
	}
	count := last - first + 1
	if count <= 0 { // from 0 to the largest number
		count = 0
	}
	return &blob.Range{Offset: first, Count: count}, true
}
