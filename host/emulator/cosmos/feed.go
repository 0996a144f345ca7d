package cosmos

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// feedRange is one range of a container: its documents in the order in which they
// were modified.
type feedRange struct {
	cosmos.Range
	lsn  uint64 // of the last transaction
	feed []entry
	seen counts // of the entries at which something is to be seen still
}

// entry is one modification. A document that was modified later, or deleted, is
// not seen here any more.
type entry struct {
	lsn uint64
	at  time.Time
	doc *document
}

func (e entry) live() bool { return !e.doc.deleted && e.doc.lsn == e.lsn }

// newRanges divides the hashes into n equal ranges.
func newRanges(n int) []*feedRange {
	ranges := make([]*feedRange, n)
	for i := range ranges {
		r := cosmos.Range{ID: strconv.Itoa(i), Max: "FF"}
		if i > 0 {
			r.Min = ranges[i-1].Max
		}
		if i < n-1 {
			r.Max = fmt.Sprintf("%08X", (uint64(i+1)<<32)/uint64(n))
		}
		ranges[i] = &feedRange{Range: r}
	}
	return ranges
}

// append puts a document at the end, with the number of the present transaction. Of
// two versions in one transaction the later has its place, as after a restart, when
// only that is known.
func (r *feedRange) append(doc *document) {
	if doc.lsn == r.lsn {
		i := r.find(doc)
		r.feed[i].doc = gone
		r.seen.clear(i)
	} else if doc.lsn != 0 {
		r.died(doc)
	}
	doc.lsn = r.lsn
	r.feed = append(r.feed, entry{r.lsn, doc.modified, doc})
	r.seen.push()
}

// gone is the document of entries that were replaced in their own transaction.
var gone = &document{deleted: true} // read only

// find is the place of a document's entry.
func (r *feedRange) find(doc *document) int {
	i := r.after(doc.lsn - 1)
	return i + slices.IndexFunc(r.feed[i:], func(e entry) bool { return e.doc == doc })
}

// after is the place of the first entry behind a transaction.
func (r *feedRange) after(lsn uint64) int {
	return sort.Search(len(r.feed), func(i int) bool { return r.feed[i].lsn > lsn })
}

// died says that a document's entry is not seen any more, and clears the feed of such
// when they are many. It comes before the document changes its number.
func (r *feedRange) died(doc *document) {
	i := r.find(doc)
	r.seen.clear(i)
	r.feed[i].doc = gone
	if dead := len(r.feed) - r.live(0); dead > 64 && dead > len(r.feed)/2 {
		r.feed = slices.DeleteFunc(r.feed, func(e entry) bool { return !e.live() })
		r.count()
	}
}

// count counts the entries of a feed without dead ones.
func (r *feedRange) count() {
	r.seen = nil
	for range r.feed {
		r.seen.push()
	}
}

// start is the index of the first entry behind a position.
func (r *feedRange) start(from cosmos.Position) (i int, err error) {
	switch {
	case from.Continuation != "":
		after, err := parseContinuation(from.Continuation)
		if err != nil {
			return 0, err
		}
		if after > r.lsn {
			return 0, fmt.Errorf("continuation %s: %w: the range has not come so far", from.Continuation, bindings.ErrInvalidArgument)
		}
		return r.after(after), nil
	case from.Now:
		return len(r.feed), nil
	}
	// Without a time every entry is later.
	return sort.Search(len(r.feed), func(i int) bool { return !r.feed[i].at.Before(from.Time) }), nil
}

// page reads on from an index: whole transactions, until there are limit
// documents.
func (r *feedRange) page(i, limit int) (items []*cosmos.Item, last uint64) {
	for n := r.seen.before(i); ; n++ {
		if i < len(r.feed) && !r.feed[i].live() {
			i = r.seen.at(n)
		}
		if i == len(r.feed) || len(items) >= limit && r.feed[i].lsn != last {
			return items, last
		}
		items, last = append(items, r.feed[i].doc.item(true)), r.feed[i].lsn
		i++
	}
}

// live is the number of documents that are seen from an index on.
func (r *feedRange) live(i int) int { return r.seen.before(len(r.feed)) - r.seen.before(i) }

// byID finds a range.
func (c *container) byID(id string) (*feedRange, error) {
	i := slices.IndexFunc(c.ranges, func(r *feedRange) bool { return r.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("range %q of container %q: %w", id, c.info.Name, bindings.ErrNotFound)
	}
	return c.ranges[i], nil
}

// continuation is a position as the service writes it: a quoted etag.
func continuation(lsn uint64) string { return `"` + strconv.FormatUint(lsn, 10) + `"` }

func parseContinuation(s string) (uint64, error) {
	text, err := strconv.Unquote(s)
	var lsn uint64
	if err == nil {
		lsn, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil || continuation(lsn) != s {
		return 0, fmt.Errorf("continuation %q: %w: a number in double quotes is needed", s, bindings.ErrInvalidArgument)
	}
	return lsn, nil
}

// Changes implements cosmos.Container.
func (h *handle) Changes(ctx context.Context, rangeID string, from cosmos.Position, limit int) (out cosmos.Changes, err error) {
	if limit <= 0 {
		limit = cosmos.DefaultPage
	}
	err = h.operate(ctx, FaultPoint{Op: "Changes", RangeID: rangeID}, func(_ *operation, c *container) error {
		r, err := c.byID(rangeID)
		if err != nil {
			return err
		}
		i, err := r.start(from)
		if err != nil {
			return err
		}
		items, last := r.page(i, limit)
		if len(items) == 0 {
			last = r.lsn
		}
		out = cosmos.Changes{Items: items, Continuation: continuation(last)}
		return nil
	})
	if err != nil {
		return cosmos.Changes{}, err
	}
	return out, nil
}

// Watch implements cosmos.Watcher.
func (h *handle) Watch(rangeID string, changed func()) (stop func()) {
	key, w := watched{h.info.RID, rangeID}, &watcher{changed}
	h.a.mu.Lock()
	defer h.a.mu.Unlock()
	h.a.watchers[key] = append(h.a.watchers[key], w)
	return func() {
		h.a.mu.Lock()
		defer h.a.mu.Unlock()
		list := slices.DeleteFunc(slices.Clone(h.a.watchers[key]), func(o *watcher) bool { return o == w })
		if h.a.watchers[key] = list; len(list) == 0 {
			delete(h.a.watchers, key)
		}
	}
}
