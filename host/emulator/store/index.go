package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// place is where a value lies: in a segment of the log, behind its checksum.
type place struct {
	segment uint64
	at      int64
	size    int
}

// index is the keys in order, each with the place of its value. It is made for many keys
// that look alike: a leaf is a run of them in one piece of memory, and each key lacks what
// it has in common with the one before. So a key takes some twenty bytes, and a copy of
// the whole index nothing until it changes.
//
// An index is not for concurrent use; its copies are each for themselves.
type index struct {
	leaves []*leaf // by their keys; none is empty
	owned  bool    // leaves is in no copy
	era    uint64  // leaves of earlier eras are in a copy too
}

// leaf is a run of keys. An entry has, as uvarints, how many bytes its key has in common
// with the key before, how many follow, these, and then the place.
type leaf struct {
	data []byte
	last []byte // its last key
	era  uint64
}

const (
	leafMost  = 1 << 10 // bytes of a leaf; one with more is divided
	leafLeast = leafMost / 8
)

// entry is a key as it is found in a leaf.
type entry struct {
	key      []byte // valid until the next
	place    place
	from, to int // its bytes in the leaf
}

// next reads the entry behind e. The zero entry is before all.
func (l *leaf) next(e *entry) bool {
	if e.to >= len(l.data) {
		return false
	}
	at := e.to
	number := func() uint64 {
		n, k := binary.Uvarint(l.data[at:])
		at += k
		return n
	}
	e.from = e.to
	common, rest := int(number()), int(number())
	e.key = append(e.key[:common], l.data[at:at+rest]...)
	at += rest
	e.place = place{segment: number(), at: int64(number()), size: int(number())}
	e.to = at
	return true
}

func (l *leaf) first() []byte {
	_, n := binary.Uvarint(l.data) // the first key has nothing in common
	size, m := binary.Uvarint(l.data[n:])
	return l.data[n+m : n+m+int(size)]
}

// appendEntry writes an entry whose key follows on another.
func appendEntry(to, before, key []byte, p place) []byte {
	common := commonPrefix(before, key)
	return appendPlace(appendHead(to, common, key[common:]), p)
}

func appendHead(to []byte, common int, rest []byte) []byte {
	to = binary.AppendUvarint(to, uint64(common))
	to = binary.AppendUvarint(to, uint64(len(rest)))
	return append(to, rest...)
}

func appendPlace(to []byte, p place) []byte {
	to = binary.AppendUvarint(to, p.segment)
	to = binary.AppendUvarint(to, uint64(p.at))
	return binary.AppendUvarint(to, uint64(p.size))
}

// copy returns the index as it is now.
func (x *index) copy() index {
	x.era++
	x.owned = false
	return index{leaves: x.leaves, era: x.era}
}

// leafOf is the number of the leaf that has a key or would get it.
func (x *index) leafOf(key []byte) int {
	return max(sort.Search(len(x.leaves), func(i int) bool { return bytes.Compare(x.leaves[i].first(), key) > 0 })-1, 0)
}

// found is where a key is in a leaf, or the entry before which it would be.
type found struct {
	at, to int   // the bytes of the entry
	rest   int   // where the bytes of its key begin
	place  int   // where its place begins
	common int   // bytes that its key has in common with the key before
	before int   // bytes that the key looked for has in common with the key before
	shares int   // bytes that it has in common with the key of the entry
	is     place // its place
}

// find looks for a key. It is not there when the entry is one behind it; at the end of the
// leaf there is none. No key is put together for that: an entry that has more in common with
// the one before than the key looked for has is like that one, before it.
func (l *leaf) find(key []byte) (f found, there bool) {
	for at := 0; at < len(l.data); at = f.to {
		f.at = at
		number := func() int {
			n, k := binary.Uvarint(l.data[at:])
			at += k
			return int(n)
		}
		f.common = number()
		n := number()
		f.rest = at
		at += n
		f.place = at
		f.is = place{segment: uint64(number()), at: int64(number()), size: number()}
		f.to = at
		switch {
		case f.common > f.before:
			continue
		case f.common < f.before:
			f.shares = f.common
			return f, false
		}
		rest, wanted := l.data[f.rest:f.place], key[f.before:]
		k := commonPrefix(rest, wanted)
		f.shares = f.before + k
		switch {
		case k == len(rest) && k == len(wanted):
			return f, true
		case k == len(wanted), k < len(rest) && rest[k] > wanted[k]:
			return f, false
		}
		f.before = f.shares
	}
	f.at = len(l.data)
	return f, false
}

func commonPrefix(a, b []byte) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (x *index) get(key []byte) (place, bool) {
	if len(x.leaves) == 0 {
		return place{}, false
	}
	f, there := x.leaves[x.leafOf(key)].find(key)
	if !there {
		return place{}, false
	}
	return f.is, true
}

// own makes a leaf one that may be changed.
func (x *index) own(i int) *leaf {
	if !x.owned {
		x.leaves, x.owned = slices.Clone(x.leaves), true
	}
	l := x.leaves[i]
	if l.era != x.era {
		l = &leaf{data: append(make([]byte, 0, leafMost), l.data...), last: slices.Clone(l.last), era: x.era}
		x.leaves[i] = l
	}
	return l
}

// set gives a key its place, and returns the one that it had.
func (x *index) set(key []byte, p place) (old place, had bool) {
	if len(x.leaves) == 0 {
		x.leaves, x.owned = append(x.leaves[:0:0], x.newLeaf(key, p)), true
		return place{}, false
	}
	i := x.leafOf(key)
	if c := bytes.Compare(key, x.leaves[i].last); c > 0 {
		x.append(i, key, p)
		return place{}, false
	}
	l := x.own(i)
	f, there := l.find(key)
	if there {
		l.data = slices.Replace(l.data, f.place, f.to, appendPlace(nil, p)...)
		x.divide(i)
		return f.is, true
	}
	var room [128]byte
	both := appendHead(room[:0], f.before, key[f.before:])
	both = appendPlace(both, p)
	both = appendHead(both, f.shares, l.data[f.rest+f.shares-f.common:f.place])
	l.data = slices.Replace(l.data, f.at, f.place, both...)
	x.divide(i)
	return place{}, false
}

func (x *index) newLeaf(key []byte, p place) *leaf {
	return &leaf{data: appendEntry(make([]byte, 0, leafMost/2), nil, key, p), last: slices.Clone(key), era: x.era}
}

// append adds a key behind the last one of a leaf. Keys that come in order fill each leaf.
func (x *index) append(i int, key []byte, p place) {
	if len(x.leaves[i].data) >= leafMost {
		if !x.owned {
			x.leaves, x.owned = slices.Clone(x.leaves), true
		}
		x.leaves = slices.Insert(x.leaves, i+1, x.newLeaf(key, p))
		return
	}
	l := x.own(i)
	l.data = appendEntry(l.data, l.last, key, p)
	l.last = append(l.last[:0], key...)
}

// divide makes two leaves of one that is too long.
func (x *index) divide(i int) {
	l := x.leaves[i]
	if len(l.data) <= leafMost {
		return
	}
	var e entry
	var before []byte
	for l.next(&e) && e.to < len(l.data)/2 {
		before = append(before[:0], e.key...)
	}
	if e.from == 0 {
		return // a single key
	}
	right := &leaf{data: appendEntry(make([]byte, 0, leafMost), nil, e.key, e.place), last: l.last, era: x.era}
	right.data = append(right.data, l.data[e.to:]...)
	l.data, l.last = slices.Clip(append([]byte(nil), l.data[:e.from]...)), before
	x.leaves = slices.Insert(x.leaves, i+1, right)
}

// remove takes a key out, and returns its place.
func (x *index) remove(key []byte) (old place, had bool) {
	if _, had = x.get(key); !had {
		return place{}, false
	}
	i := x.leafOf(key)
	l := x.own(i)
	f, _ := l.find(key)
	switch {
	case f.to < len(l.data):
		// What the next key had in common with this one it has with the one before, or it
		// has to say itself.
		n := entry{to: f.to, key: slices.Clone(key)}
		l.next(&n)
		common := min(f.common, commonPrefix(n.key, key))
		var room [128]byte
		next := appendPlace(appendHead(room[:0], common, n.key[common:]), n.place)
		l.data = slices.Replace(l.data, f.at, n.to, next...)
	case f.at == 0:
		x.leaves = slices.Delete(x.leaves, i, i+1)
		return f.is, true
	default:
		l.data = l.data[:f.at]
		var e entry
		for l.next(&e) {
			l.last = append(l.last[:0], e.key...)
		}
	}
	if len(l.data) <= leafLeast {
		x.join(i)
	}
	return f.is, true
}

// removeRange takes the keys from start up to and without end out, and calls f with the
// place of each and the length of its key. A nil end is the end of all keys.
func (x *index) removeRange(start, end []byte, f func(p place, key int)) {
	if len(x.leaves) == 0 || end != nil && bytes.Compare(start, end) >= 0 {
		return
	}
	from := x.leafOf(start)
	to := from
	for to < len(x.leaves) && (end == nil || bytes.Compare(x.leaves[to].first(), end) < 0) {
		to++
	}
	var left []*leaf
	for i := from; i < to; i++ {
		if l := x.without(x.leaves[i], start, end, f); l != nil {
			left = append(left, l)
		}
	}
	if len(left) == to-from && len(left) == 1 && left[0] == x.leaves[from] {
		return
	}
	if !x.owned {
		x.leaves, x.owned = slices.Clone(x.leaves), true
	}
	x.leaves = slices.Replace(x.leaves, from, to, left...)
	x.join(from)
}

// without is a leaf without the keys of a range: nil when none is left, and the same one
// when none goes.
func (x *index) without(l *leaf, start, end []byte, f func(p place, key int)) *leaf {
	var e entry
	var before []byte
	from, to := -1, 0 // the bytes of the keys that go
	for l.next(&e) {
		switch {
		case bytes.Compare(e.key, start) < 0:
			before = append(before[:0], e.key...)
			continue
		case end != nil && bytes.Compare(e.key, end) >= 0:
		default:
			if from < 0 {
				from = e.from
			}
			to = e.to
			f(e.place, len(e.key))
			continue
		}
		if from < 0 {
			return l
		}
		// The first key behind the range follows on the last one before it.
		data := append(make([]byte, 0, len(l.data)), l.data[:from]...)
		data = appendEntry(data, before, e.key, e.place)
		return &leaf{data: append(data, l.data[e.to:]...), last: slices.Clone(l.last), era: x.era}
	}
	switch {
	case from < 0:
		return l
	case from == 0 && to == len(l.data):
		return nil
	}
	return &leaf{data: slices.Clone(l.data[:from]), last: slices.Clone(before), era: x.era}
}

// join makes one leaf of a short one and a neighbour.
func (x *index) join(i int) {
	for _, at := range []int{i, i - 1} {
		if at < 0 || at+1 >= len(x.leaves) {
			continue
		}
		l, r := x.leaves[at], x.leaves[at+1]
		if min(len(l.data), len(r.data)) > leafLeast || len(l.data)+len(r.data) > leafMost {
			continue
		}
		var e entry
		r.next(&e)
		data := appendEntry(append(make([]byte, 0, leafMost), l.data...), l.last, e.key, e.place)
		joined := &leaf{data: append(data, r.data[e.to:]...), last: slices.Clone(r.last), era: x.era}
		x.leaves = slices.Replace(x.leaves, at, at+2, joined)
	}
}

// cursor walks over an index that does not change.
type cursor struct {
	leaves []*leaf
	leaf   int
	entry
}

// seek moves to the first key at or after key.
func (c *cursor) seek(x *index, key []byte) bool {
	c.leaves = x.leaves
	if len(c.leaves) == 0 {
		return false
	}
	c.leaf = x.leafOf(key)
	c.entry = entry{key: c.key[:0]}
	for c.next() {
		if bytes.Compare(c.key, key) >= 0 {
			return true
		}
	}
	return false
}

func (c *cursor) next() bool {
	for c.leaf < len(c.leaves) {
		if c.leaves[c.leaf].next(&c.entry) {
			return true
		}
		c.leaf++
		c.entry = entry{key: c.key[:0]}
	}
	return false
}
