package blobs

import (
	"slices"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// earlier returns the snapshot of a page blob with which it is compared.
//
// Reference: Blob Service REST API, "Get Page Ranges", prevsnapshot; Blob Storage error
// codes, PreviousSnapshotNotFound, PreviousSnapshotCannotBeNewer, BlobOverwritten.
func (tx *blobTx) earlier(r *blobRecord, since string) (*blobRecord, error) {
	earlier := tx.find(blobKey{Container: r.Container, Name: r.Name, Snapshot: since})
	switch {
	case earlier == nil:
		return nil, blobError(storage.CodePreviousSnapshotNotFound, "")
	case r.Snapshot != "" && r.Snapshot < since:
		return nil, blobError(storage.CodePreviousSnapshotCannotBeNewer, "")
	case !earlier.Created.Equal(r.Created):
		return nil, blobError(storage.CodeBlobOverwritten, "")
	}
	return earlier, nil
}

// between returns the snapshots that were taken of a blob after one of them, up to the
// state that is a snapshot itself or the blob.
func (tx *blobTx) between(earlier, r *blobRecord) (lists [][]segment) {
	for _, snap := range tx.container.blobs[r.Name].snapshots {
		if snap.Snapshot > earlier.Snapshot && (r.Snapshot == "" || snap.Snapshot < r.Snapshot) {
			lists = append(lists, tx.segments(snap))
		}
	}
	return lists
}

// difference fills in the pages that were written or cleared between two states of a
// blob. Pages are the same while they have the same place in the same body. A page
// that was there at a snapshot in between only is a cleared one.
//
// Source of the latter: azure-storage-blob for Python 12.31.1, test_get_page_ranges_diff.
func (p *PageRanges) difference(before []segment, between [][]segment, after []segment, span blobapi.Range) {
	var edges []int64
	for _, list := range append([][]segment{before, after}, between...) {
		for _, seg := range list {
			edges = append(edges, seg.At, seg.At+seg.Size)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i := 0; i+1 < len(edges); i++ {
		from, to := edges[i], edges[i+1]
		var old, now segment
		old, before = covering(before, from)
		now, after = covering(after, from)
		was := old.Size > 0
		for n := range between {
			var seg segment
			seg, between[n] = covering(between[n], from)
			was = was || seg.Size > 0
		}
		switch {
		case now.Size > 0 && (old.Size == 0 || old.Body != now.Body || old.Skip-old.At != now.Skip-now.At):
			p.Ranges = appendWithin(p.Ranges, span, from, to)
		case now.Size == 0 && was:
			p.Cleared = appendWithin(p.Cleared, span, from, to)
		}
	}
}

// covering returns the segment at an offset, empty if there is none, and the segments
// from there on.
func covering(list []segment, at int64) (segment, []segment) {
	for len(list) > 0 && list[0].At+list[0].Size <= at {
		list = list[1:]
	}
	if len(list) > 0 && list[0].At <= at {
		return list[0], list
	}
	return segment{}, list
}

// appendWithin appends the part of a range that lies in span, and joins it with the
// last range if it touches that one.
func appendWithin(ranges []blobapi.Range, span blobapi.Range, from, to int64) []blobapi.Range {
	from, to = max(from, span.Offset), min(to, span.Offset+span.Count)
	if from >= to {
		return ranges
	}
	if n := len(ranges); n > 0 && ranges[n-1].Offset+ranges[n-1].Count == from {
		ranges[n-1].Count += to - from
		return ranges
	}
	return append(ranges, blobapi.Range{Offset: from, Count: to - from})
}
