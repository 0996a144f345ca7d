package emulator

// messageHeap is a binary heap of messages that know their place in it, so that
// any of them can be moved or removed in logarithmic time. Its two uses differ
// in what comes first and in where a message keeps its place.
type messageHeap struct {
	items  []*message
	before func(a, b *message) bool
	place  func(m *message) *int // index + 1; 0 is "not in the heap"
}

func (h *messageHeap) min() *message {
	if len(h.items) == 0 {
		return nil
	}
	return h.items[0]
}

func (h *messageHeap) push(m *message) {
	h.items = append(h.items, m)
	h.set(len(h.items)-1, m)
	h.up(len(h.items) - 1)
}

// fix restores the order after the key of m has changed.
func (h *messageHeap) fix(m *message) {
	if i := *h.place(m) - 1; !h.up(i) {
		h.down(i)
	}
}

// remove takes m out; it does nothing if m is not in.
func (h *messageHeap) remove(m *message) {
	i := *h.place(m) - 1
	if i < 0 {
		return
	}
	last := len(h.items) - 1
	moved := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	*h.place(m) = 0
	if i == last {
		return
	}
	h.set(i, moved)
	h.fix(moved)
}

func (h *messageHeap) set(i int, m *message) {
	h.items[i] = m
	*h.place(m) = i + 1
}

func (h *messageHeap) up(i int) (moved bool) {
	m := h.items[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(m, h.items[parent]) {
			break
		}
		h.set(i, h.items[parent])
		i, moved = parent, true
	}
	h.set(i, m)
	return moved
}

func (h *messageHeap) down(i int) {
	m := h.items[i]
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			break
		}
		if right := child + 1; right < len(h.items) && h.before(h.items[right], h.items[child]) {
			child = right
		}
		if !h.before(h.items[child], m) {
			break
		}
		h.set(i, h.items[child])
		i = child
	}
	h.set(i, m)
}
