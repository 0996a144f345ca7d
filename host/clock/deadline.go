package clock

import "math"

// A deadline is a moment at which something becomes ready. It is part of what
// waits for it, so that a wait allocates nothing. Exactly one of task, timer and
// ctx is set once it has been used.
type deadline struct {
	at     int64  // nanoseconds since the clock's start
	seq    uint64 // order of setting
	pos    int    // 1 + index in the heap; 0: not pending
	reason bool   // work depends on it: time may jump for its sake

	task  *task
	timer *Timer
	ctx   *virtualContext
}

// deadlines is a binary heap by time, then by order of setting.
type deadlines struct {
	heap    []entry
	reasons int // how many are a reason to jump
}

// An entry repeats the keys of its deadline, to compare without following the pointer.
type entry struct {
	at  int64
	seq uint64
	d   *deadline
}

func (e entry) before(o entry) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// first returns the earliest time.
func (h *deadlines) first() (int64, bool) {
	if len(h.heap) == 0 {
		return 0, false
	}
	return h.heap[0].at, true
}

func (h *deadlines) add(d *deadline) {
	if d.reason {
		h.reasons++
	}
	h.heap = append(h.heap, entry{d.at, d.seq, d})
	h.up(len(h.heap) - 1)
}

// remove takes d out and reports whether it was in.
func (h *deadlines) remove(d *deadline) bool {
	if d.pos == 0 {
		return false
	}
	i, last := d.pos-1, len(h.heap)-1
	d.pos = 0
	if d.reason {
		h.reasons--
	}
	moved := h.heap[last]
	h.heap[last] = entry{}
	h.heap = h.heap[:last]
	if i < last {
		h.heap[i] = moved
		if i > 0 && moved.before(h.heap[(i-1)/2]) {
			h.up(i)
		} else {
			h.down(i)
		}
	}
	return true
}

// mark says whether a pending deadline is a reason to jump.
func (h *deadlines) mark(d *deadline, reason bool) {
	if d.pos == 0 || d.reason == reason {
		return
	}
	d.reason = reason
	if reason {
		h.reasons++
	} else {
		h.reasons--
	}
}

func (h *deadlines) up(i int) {
	e := h.heap[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(h.heap[parent]) {
			break
		}
		h.put(i, h.heap[parent])
		i = parent
	}
	h.put(i, e)
}

func (h *deadlines) down(i int) {
	e := h.heap[i]
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			break
		}
		if r := child + 1; r < len(h.heap) && h.heap[r].before(h.heap[child]) {
			child = r
		}
		if !h.heap[child].before(e) {
			break
		}
		h.put(i, h.heap[child])
		i = child
	}
	h.put(i, e)
}

func (h *deadlines) put(i int, e entry) {
	h.heap[i] = e
	e.d.pos = i + 1
}

// plus adds without overflow; d is not negative.
func plus(t, d int64) int64 {
	if d > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + d
}
