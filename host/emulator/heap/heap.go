// Package heap is a binary heap whose items know their place in it, so that any of
// them can be moved or removed in logarithmic time: what messages and sessions wait
// in for a lock, a schedule or an expiry to end.
//
// The standard library's container/heap leaves it to each user to keep the places.
package heap

// Of is a heap of items of one type, made by [New]. It is not safe for concurrent
// use: its owner's mutex guards it, and the places in its items.
type Of[T any] struct {
	items  []T
	before func(a, b T) bool
	place  func(T) *int
}

// New returns an empty heap. before says which of two items comes first, and must
// order all of them, lest what comes first depend on the past. place is where an
// item keeps its place in this heap, which is no one else's to change: one more
// than its index, and 0 when it is not in the heap.
func New[T any](before func(a, b T) bool, place func(T) *int) Of[T] {
	return Of[T]{before: before, place: place}
}

// Len is the number of items.
func (h *Of[T]) Len() int { return len(h.items) }

// All returns the items, the first one first and the others in no order. It is
// valid until the next change, and not to be written to.
func (h *Of[T]) All() []T { return h.items }

// Min returns the first item; ok is false when there is none.
func (h *Of[T]) Min() (first T, ok bool) {
	if len(h.items) == 0 {
		return first, false
	}
	return h.items[0], true
}

// Push adds x, which must not be in.
func (h *Of[T]) Push(x T) {
	h.items = append(h.items, x)
	h.set(len(h.items)-1, x)
	h.up(len(h.items) - 1)
}

// Fix restores the order after the key of x has changed; it does nothing if x is
// not in.
func (h *Of[T]) Fix(x T) {
	if i := *h.place(x) - 1; i >= 0 && !h.up(i) {
		h.down(i)
	}
}

// Remove takes x out; it does nothing if x is not in.
func (h *Of[T]) Remove(x T) {
	i := *h.place(x) - 1
	if i < 0 {
		return
	}
	var none T
	last := len(h.items) - 1
	moved := h.items[last]
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(x) = 0
	if i == last {
		return
	}
	h.set(i, moved)
	h.Fix(moved)
}

func (h *Of[T]) set(i int, x T) {
	h.items[i] = x
	*h.place(x) = i + 1
}

func (h *Of[T]) up(i int) (moved bool) {
	x := h.items[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(x, h.items[parent]) {
			break
		}
		h.set(i, h.items[parent])
		i, moved = parent, true
	}
	h.set(i, x)
	return moved
}

func (h *Of[T]) down(i int) {
	x := h.items[i]
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.before(h.items[right], h.items[child]) {
			child = right
		}
		if !h.before(h.items[child], x) {
			break
		}
		h.set(i, h.items[child])
		i = child
	}
	h.set(i, x)
}
