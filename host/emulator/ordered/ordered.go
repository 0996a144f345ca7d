// Package ordered is a sorted set: what services list by name, by number or by time,
// a page at a time, without sorting what they hold.
//
// A B-tree would do the same with a pointer for each node; a list of sorted runs of
// bounded length needs none, and moves little memory however large the set is.
package ordered

import (
	"iter"
	"slices"
)

// Set is a sorted set, made by [New]. It is not safe for concurrent use: its owner's
// mutex guards it.
type Set[T any] struct {
	compare func(a, b T) int
	runs    [][]T // none is empty
	n       int
}

// maxRun is where a run is cut in two: long enough that there are few runs, short
// enough to be moved at once.
const maxRun = 512

// New returns an empty set in the order of compare, for which equal items are one.
func New[T any](compare func(a, b T) int) Set[T] { return Set[T]{compare: compare} }

// Len is the number of items.
func (s *Set[T]) Len() int { return s.n }

// find returns the run that has x or would have it, and the place in it.
func (s *Set[T]) find(x T) (run, place int, found bool) {
	run, _ = slices.BinarySearchFunc(s.runs, x, func(r []T, x T) int {
		switch {
		case s.compare(x, r[0]) < 0:
			return 1
		case s.compare(x, r[len(r)-1]) > 0:
			return -1
		}
		return 0
	})
	if run == len(s.runs) {
		return run, 0, false
	}
	place, found = slices.BinarySearchFunc(s.runs[run], x, s.compare)
	return run, place, found
}

// Insert adds x, unless it is in.
func (s *Set[T]) Insert(x T) {
	i, place, found := s.find(x)
	if found {
		return
	}
	s.n++
	switch {
	case len(s.runs) == 0:
		s.runs = [][]T{{x}}
		return
	case i == len(s.runs): // behind all items
		i--
		place = len(s.runs[i])
	}
	run := slices.Insert(s.runs[i], place, x)
	s.runs[i] = run
	if len(run) > maxRun {
		half := slices.Clone(run[len(run)/2:])
		clear(run[len(run)/2:])
		s.runs[i] = run[:len(run)/2]
		s.runs = slices.Insert(s.runs, i+1, half)
	}
}

// Remove takes x out; it does nothing if x is not in.
func (s *Set[T]) Remove(x T) {
	i, place, found := s.find(x)
	if !found {
		return
	}
	s.n--
	s.runs[i] = slices.Delete(s.runs[i], place, place+1)
	if len(s.runs[i]) == 0 {
		s.runs = slices.Delete(s.runs, i, i+1)
	}
}

// From yields the items that are not before x, in order. The set must not change
// meanwhile.
func (s *Set[T]) From(x T) iter.Seq[T] {
	i, place, _ := s.find(x)
	return s.yield(i, place)
}

// Behind yields the items behind the first n.
func (s *Set[T]) Behind(n int) iter.Seq[T] {
	for i, run := range s.runs {
		if n < len(run) {
			return s.yield(i, n)
		}
		n -= len(run)
	}
	return s.yield(len(s.runs), 0)
}

// Between is the number of items that are not before a, and before b.
func (s *Set[T]) Between(a, b T) int {
	from, i, _ := s.find(a)
	to, j, _ := s.find(b)
	if from > to || from == to && i >= j {
		return 0
	}
	n := j - i
	for _, run := range s.runs[from:to] {
		n += len(run)
	}
	return n
}

func (s *Set[T]) yield(i, place int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for ; i < len(s.runs); i, place = i+1, 0 {
			for _, x := range s.runs[i][place:] {
				if !yield(x) {
					return
				}
			}
		}
	}
}
