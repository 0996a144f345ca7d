package blobs

import (
	"context"
	"strings"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// Blobs lists blobs by name.
//
// Reference: Blob Service REST API, "List Blobs".
func (c *container) Blobs(ctx context.Context, opts *blobapi.ListOptions) (*blobapi.Page, error) {
	if opts == nil {
		opts = &blobapi.ListOptions{}
	}
	limit, err := pageSize(opts.MaxResults)
	if err != nil {
		return nil, err
	}
	from, snapshot, err := parseMarker(opts.Marker)
	if err != nil {
		return nil, err
	}
	if opts.Delimiter != "" && opts.Include.Snapshots {
		return nil, blobError(storage.CodeInvalidQueryParameterValue, "a listing with a delimiter cannot show snapshots")
	}
	l := &listing{opts: opts, limit: limit, from: max(from, opts.Prefix, opts.StartFrom), markedName: from, markedSnapshot: snapshot}
	if err := c.operate(ctx, "Blobs", l.run); err != nil {
		return nil, err
	}
	return &l.page, nil
}

// listing is a listing of blobs at work.
type listing struct {
	opts  *blobapi.ListOptions
	limit int
	from  string
	// Within the first name, what comes before this snapshot has been shown; the
	// blob itself comes last, and is "" here.
	markedName, markedSnapshot string

	page  blobapi.Page
	items int
}

func (l *listing) run(tx *blobTx) error {
	from := l.from
	for {
		skip, more := l.walk(tx, from)
		if !more {
			return nil
		}
		from = skip
	}
}

// walk shows names from one on, until the page is full or a prefix stands for
// names that need not be looked at one by one: then it returns where to go on.
func (l *listing) walk(tx *blobTx, from string) (next string, more bool) {
	for name := range tx.container.names.From(from) {
		rest, ok := strings.CutPrefix(name, l.opts.Prefix)
		if !ok || l.opts.EndBefore != "" && name >= l.opts.EndBefore {
			return "", false
		}
		state := tx.container.blobs[name]
		if state.base == nil && !l.opts.Include.Uncommitted && (len(state.snapshots) == 0 || !l.opts.Include.Snapshots) {
			continue
		}
		if l.opts.Delimiter != "" {
			if i := strings.Index(rest, l.opts.Delimiter); i >= 0 {
				prefix := name[:len(l.opts.Prefix)+i+len(l.opts.Delimiter)]
				if !l.room(name, "") {
					return "", false
				}
				l.page.Prefixes = append(l.page.Prefixes, prefix)
				return behind(prefix), true
			}
		}
		if !l.show(tx, name, state) {
			return "", false
		}
	}
	return "", false
}

// behind returns the first name that can follow all names with a prefix, which
// is not empty. Names are UTF-8: no byte of theirs is the highest.
func behind(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}

// room makes room for an item, or ends the page before it.
func (l *listing) room(name, snapshot string) bool {
	if l.items == l.limit {
		l.page.NextMarker = marker(name, snapshot)
		return false
	}
	l.items++
	return true
}

// show adds what there is under a name: snapshots, oldest first, then the blob.
func (l *listing) show(tx *blobTx, name string, state *blobState) bool {
	if l.opts.Include.Snapshots {
		for _, snap := range state.snapshots {
			if name == l.markedName && (l.markedSnapshot == "" && l.opts.Marker != "" || snap.Snapshot < l.markedSnapshot) {
				continue
			}
			if !l.add(tx, snap) {
				return false
			}
		}
	}
	switch {
	case state.base != nil:
		return l.add(tx, state.base)
	case l.opts.Include.Uncommitted && len(state.blocks) > 0:
		return l.add(tx, &blobRecord{blobKey: blobKey{Name: name}, Type: blobapi.BlockBlob})
	}
	return true
}

func (l *listing) add(tx *blobTx, r *blobRecord) bool {
	if !l.room(r.Name, r.Snapshot) {
		return false
	}
	item := blobapi.Item{Name: r.Name, Snapshot: r.Snapshot, Properties: *r.properties(tx.now)}
	if !l.opts.Include.Metadata {
		item.Properties.Metadata = nil
	}
	if !l.opts.Include.Copy {
		item.Properties.Copy = nil
	}
	if !l.opts.Include.Tags {
		item.Properties.Tags = nil
	}
	l.page.Blobs = append(l.page.Blobs, item)
	return true
}
