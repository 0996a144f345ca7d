package blobs

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/emulator/ordered"
)

// tagIndex has the blobs with each tag, by its value, container and name, so that a search
// looks at blobs that one of its tests leaves, and not at all.
type tagIndex map[string]*ordered.Set[tagged]

// tagged is a blob with a value of some tag.
type tagged struct{ value, container, name string }

func compareTagged(a, b tagged) int {
	return cmp.Or(strings.Compare(a.value, b.value), compareNames(a, b))
}

func compareNames(a, b tagged) int {
	return cmp.Or(strings.Compare(a.container, b.container), strings.Compare(a.name, b.name))
}

func (x tagIndex) insert(container, name string, tags map[string]string) {
	for key, value := range tags {
		set := x[key]
		if set == nil {
			made := ordered.New(compareTagged)
			set = &made
			x[key] = set
		}
		set.Insert(tagged{value, container, name})
	}
}

func (x tagIndex) remove(container, name string, tags map[string]string) {
	for key, value := range tags {
		set := x[key]
		if set.Remove(tagged{value, container, name}); set.Len() == 0 {
			delete(x, key)
		}
	}
}

// after is the first text behind a text.
func after(text string) string { return text + "\x00" }

// afterAll is behind every value of a tag, whose characters are of ASCII.
const afterAll = "\x7f"

// span returns the values from one to before another that pass all tests of a key.
func span(tests []tagBound) (from, to string) {
	to = afterAll
	for _, t := range tests {
		switch t.operator {
		case "=":
			return t.value, after(t.value)
		case ">":
			from = max(from, after(t.value))
		case ">=":
			from = max(from, t.value)
		case "<":
			to = min(to, t.value)
		case "<=":
			to = min(to, after(t.value))
		}
	}
	return from, to
}

// candidates yields blobs among which all are that a search finds from a place on, in
// order of container and name: those that the test leaves which leaves the fewest.
func (x tagIndex) candidates(q *tagQuery, from tagged) iter.Seq[tagged] {
	fewest, key := -1, ""
	for _, k := range q.keys { // in their order, so that equal searches take equal ways
		set := x[k]
		if set == nil {
			return func(func(tagged) bool) {} // no blob has the tag
		}
		first, end := span(q.tests[k])
		if n := set.Between(tagged{value: first}, tagged{value: end}); fewest < 0 || n < fewest {
			fewest, key = n, k
		}
	}
	set := x[key]
	first, end := span(q.tests[key])
	if end == after(first) { // one value: in order already
		from.value = first
		return func(yield func(tagged) bool) {
			for b := range set.From(from) {
				if b.value != first || !yield(b) {
					return
				}
			}
		}
	}
	var found []tagged
	for b := range set.From(tagged{value: first}) {
		if b.value >= end {
			break
		}
		if compareNames(b, from) >= 0 {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, compareNames)
	return slices.Values(found)
}
