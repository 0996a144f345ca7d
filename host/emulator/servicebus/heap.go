package servicebus

// heap is a binary heap whose items know their place in it, so that any of them
// can be moved or removed in logarithmic time.
type heap[T comparable] struct {
	items  []T
	before func(a, b T) bool
	place  func(T) *int // index + 1; 0 is "not in the heap"
}

// min returns the first item; ok is false when there is none.
func (h *heap[T]) min() (first T, ok bool) {
	if len(h.items) == 0 {
		return first, false
	}
	return h.items[0], true
}

func (h *heap[T]) push(x T) {
	h.items = append(h.items, x)
	h.set(len(h.items)-1, x)
	h.up(len(h.items) - 1)
}

// fix restores the order after the key of x has changed.
func (h *heap[T]) fix(x T) {
	if i := *h.place(x) - 1; i >= 0 && !h.up(i) {
		h.down(i)
	}
}

// remove takes x out; it does nothing if x is not in.
func (h *heap[T]) remove(x T) {
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
	h.fix(moved)
}

func (h *heap[T]) set(i int, x T) {
	h.items[i] = x
	*h.place(x) = i + 1
}

func (h *heap[T]) up(i int) (moved bool) {
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

func (h *heap[T]) down(i int) {
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
