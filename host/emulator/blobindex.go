package emulator

import (
	"iter"
	"slices"
)

// nameIndex is an ordered set of names. It is a list of sorted runs of bounded
// length, so that a change moves little memory however many names there are, and
// a listing starts anywhere without sorting.
type nameIndex struct {
	runs [][]string // none is empty
}

// maxRun is where a run is cut in two: long enough that there are few runs,
// short enough to be moved at once.
const maxRun = 512

// find returns the run that has name or would have it, and the place in it.
func (x *nameIndex) find(name string) (run, place int, found bool) {
	run, _ = slices.BinarySearchFunc(x.runs, name, func(r []string, name string) int {
		switch {
		case name < r[0]:
			return 1
		case name > r[len(r)-1]:
			return -1
		}
		return 0
	})
	if run == len(x.runs) {
		return run, 0, false
	}
	place, found = slices.BinarySearch(x.runs[run], name)
	return run, place, found
}

func (x *nameIndex) insert(name string) {
	i, place, found := x.find(name)
	switch {
	case found:
		return
	case len(x.runs) == 0:
		x.runs = [][]string{{name}}
		return
	case i == len(x.runs): // behind all names
		i--
		place = len(x.runs[i])
	}
	run := slices.Insert(x.runs[i], place, name)
	x.runs[i] = run
	if len(run) > maxRun {
		half := slices.Clone(run[len(run)/2:])
		clear(run[len(run)/2:])
		x.runs[i] = run[:len(run)/2]
		x.runs = slices.Insert(x.runs, i+1, half)
	}
}

func (x *nameIndex) remove(name string) {
	i, place, found := x.find(name)
	if !found {
		return
	}
	x.runs[i] = slices.Delete(x.runs[i], place, place+1)
	if len(x.runs[i]) == 0 {
		x.runs = slices.Delete(x.runs, i, i+1)
	}
}

// from yields the names that are not before name, in order. The set must not
// change meanwhile.
func (x *nameIndex) from(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		i, place, _ := x.find(name)
		for ; i < len(x.runs); i, place = i+1, 0 {
			for _, n := range x.runs[i][place:] {
				if !yield(n) {
					return
				}
			}
		}
	}
}
