package blobs

import (
	"iter"
	"slices"
	"sort"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
)

// pageList is the pieces of a page blob, in order and apart. It is a list of runs of
// bounded length, so that a write changes what it covers, however many pieces there are.
type pageList struct {
	runs [][]segment // none is empty
	n    int
}

// maxPageRun is where a run is cut: short enough to be moved at once.
const maxPageRun = 128

func newPageList(all []segment) *pageList {
	return &pageList{runs: cutRuns(slices.Clone(all)), n: len(all)}
}

// cutRuns divides a run, which it takes over.
func cutRuns(run []segment) (runs [][]segment) {
	for len(run) > maxPageRun {
		n := maxPageRun / 2
		runs = append(runs, run[:n:n])
		run = run[n:]
	}
	if len(run) > 0 {
		runs = append(runs, run[:len(run):len(run)])
	}
	return runs
}

func (s *segment) end() int64 { return s.At + s.Size }

// find returns the place of the first piece that ends behind an offset.
func (l *pageList) find(offset int64) (run, place int) {
	run = sort.Search(len(l.runs), func(i int) bool { return l.runs[i][len(l.runs[i])-1].end() > offset })
	if run < len(l.runs) {
		r := l.runs[run]
		place = sort.Search(len(r), func(i int) bool { return r[i].end() > offset })
	}
	return run, place
}

// from yields the pieces that end behind an offset.
func (l *pageList) from(offset int64) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		run, place := l.find(offset)
		for ; run < len(l.runs); run, place = run+1, 0 {
			for _, s := range l.runs[run][place:] {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// all returns the pieces in a list of their own.
func (l *pageList) all() []segment { return slices.Concat(l.runs...) }

// overlay returns the pieces that a range touches, and what takes their place when it is
// replaced.
func (l *pageList) overlay(span blobapi.Range, by []segment) (old, instead []segment) {
	end := span.Offset + span.Count
	for s := range l.from(span.Offset) {
		if s.At >= end {
			break
		}
		old = append(old, s)
	}
	return old, overlay(old, span, by)
}

// rewrite is what a write has changed in the runs: the offsets of the ones that are gone,
// and the ones in their place.
type rewrite struct {
	gone []int64
	made [][]segment
}

// replace replaces a range, and returns what overlay does.
func (l *pageList) replace(span blobapi.Range, by []segment) (old, instead []segment, runs rewrite) {
	old, instead = l.overlay(span, by)
	first, place := l.find(span.Offset)
	if first == len(l.runs) && first > 0 { // behind all pieces
		first--
		place = len(l.runs[first])
	}
	// The old pieces end in the run last, before the place there.
	last, left := first, place+len(old)
	for last < len(l.runs) && left > len(l.runs[last]) {
		left -= len(l.runs[last])
		last++
	}
	l.n += len(instead) - len(old)
	if len(l.runs) == 0 {
		l.runs = cutRuns(slices.Clone(instead))
		return old, instead, rewrite{made: l.runs}
	}
	for _, r := range l.runs[first : last+1] {
		runs.gone = append(runs.gone, r[0].At)
	}
	runs.made = cutRuns(slices.Concat(l.runs[first][:place], instead, l.runs[last][left:]))
	l.runs = slices.Replace(l.runs, first, last+1, runs.made...)
	return old, instead, runs
}

// add adds a run behind all pieces.
func (l *pageList) add(run []segment) {
	l.runs = append(l.runs, run)
	l.n += len(run)
}
