package clock

import (
	"slices"
	"sync"
)

// Excuse lets time go on in spite of one call that is out, until end is called: that call
// itself waits for the clock, such as a handler that has asked the host to tell it when an
// orchestration ends. Which of the calls it is need not be known. While as many are excused as
// are out, Auto jumps where more than timeouts is due, Debug and a drive do not wait for them,
// and a later call comes back before them. On other clocks it does nothing. Any goroutine may call it; end may be called
// more than once.
func Excuse(clk Clock) (end func()) {
	v, ok := clk.(*Virtual)
	if !ok {
		return func() {}
	}
	v.mu.Lock()
	v.excused++
	v.kickUnlock()
	return sync.OnceFunc(func() {
		v.mu.Lock()
		v.excused--
		v.kickUnlock()
	})
}

// holdingLocked reports whether a call is out that is not excused.
func (v *Virtual) holdingLocked() bool { return len(v.out) > v.excused }

// returnedLocked is the call that comes back next, in the order of going out; nil: none yet.
func (v *Virtual) returnedLocked() *call {
	for _, c := range v.out[:min(len(v.out), v.excused+1)] {
		if c.back {
			return c
		}
	}
	return nil
}

// haveWork reports whether some work depends on a time that is not the timeout of a context,
// such as that of the very call that is excused.
func (h *deadlines) haveWork() bool {
	return slices.ContainsFunc(h.heap, func(e entry) bool { return e.d.reason && e.d.ctx == nil })
}
