package blobs

import (
	"sort"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
)

// content is a contentRecord and the number of records and open downloads that
// refer to it.
type content struct {
	contentRecord
	refs     int
	appended bool // some segments have keys of their own
	ends     []int64

	pages     *pageList // instead of Segments, once it is looked at as pages
	inRuns    bool      // the store has them so
	rewritten rewrite   // by the last patch
}

// list returns the segments. They must not be changed.
func (c *content) list() []segment {
	if c.pages != nil {
		return c.pages.all()
	}
	return c.Segments
}

// asPages returns the segments as pages.
func (c *content) asPages() *pageList {
	if c.pages == nil {
		c.pages, c.Segments = newPageList(c.Segments), nil
	}
	return c.pages
}

// patch replaces a range of pages, and returns the pieces that go and come.
func (c *content) patch(span blobapi.Range, put []segment) (old, instead []segment) {
	old, instead, c.rewritten = c.asPages().replace(span, put)
	return old, instead
}

// addRun adds pages as the store has them.
func (c *content) addRun(run []segment) {
	c.asPages().add(run)
	c.inRuns, c.appended = true, true
}

// before returns the segments without those that end at or before an offset, and how far
// the first one begins before it. Large blobs have many blocks: their ends are
// worked out once.
func (c *content) before(offset int64, blocks int) (rest []segment, skip int64) {
	segments := c.Segments[:blocks:blocks]
	if len(segments) < 2 {
		return segments, offset
	}
	end := int64(0)
	if n := len(c.ends); n > 0 {
		end = c.ends[n-1]
	}
	for _, seg := range c.Segments[len(c.ends):] {
		end += seg.Size
		c.ends = append(c.ends, end)
	}
	first := sort.Search(blocks, func(i int) bool { return c.ends[i] > offset })
	if first > 0 {
		offset -= c.ends[first-1]
	}
	return segments[first:], offset
}
