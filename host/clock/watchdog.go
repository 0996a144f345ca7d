package clock

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

// watching is the state of the watchdog, which looks now and then whether the turn
// is still the same. It is a real timer that runs only while a goroutine has the
// baton.
type watching struct {
	armed bool // or never to be armed
	timer wallTimer
	turn  uint64
	since time.Duration // on the wall: first seen with that turn
	said  bool
}

// armLocked sets the watchdog for the new holder of the baton.
func (w *watching) armLocked(v *Virtual) {
	w.armed = true
	if !v.opts.watches() {
		return
	}
	w.turn = 0
	if w.timer == nil {
		w.timer = v.wall.afterFunc(v.opts.watchEvery(), func() { w.look(v) })
	} else {
		w.timer.Reset(v.opts.watchEvery())
	}
}

// watches reports whether the watchdog is on.
func (o *VirtualOptions) watches() bool { return o.Watchdog >= 0 && o.Notify != nil }

func (o *VirtualOptions) watchEvery() time.Duration { return max(o.Watchdog/4, time.Millisecond) }

// look is the watchdog's work when it wakes.
func (w *watching) look(v *Virtual) {
	v.mu.Lock()
	if v.holder == nil {
		w.armed = false
		v.mu.Unlock()
		return
	}
	now := v.wall.now()
	if w.turn != v.turn {
		w.turn, w.since, w.said = v.turn, now, false
	}
	kept := now - w.since
	bark := kept >= v.opts.Watchdog && !w.said
	w.said = w.said || bark
	w.timer.Reset(v.opts.watchEvery())
	t, id := v.holder.name, v.holder.gid
	v.mu.Unlock()
	if bark {
		v.opts.Notify(Notice{Kind: BatonKept, Name: t, From: v.Now(), To: v.Now(), Real: kept, Stack: stackOf(id)})
	}
}

// stop puts the watchdog to sleep, if the baton is free.
func (w *watching) stop(v *Virtual) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w.timer != nil && v.holder == nil {
		w.timer.Stop()
		w.armed = false
	}
}

// stackOf returns the stack of one goroutine, empty if there is none with that ID.
func stackOf(id uint64) string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	head := []byte("goroutine " + strconv.FormatUint(id, 10) + " ")
	for stack := range bytes.SplitSeq(buf, []byte("\n\n")) {
		if bytes.HasPrefix(stack, head) {
			return string(stack)
		}
	}
	return ""
}
