package clock

import (
	"runtime"
	"sync"
	"time"
)

// FakeWall is real time for the tests of paces, patience and watchdog.
type FakeWall struct {
	mu     sync.Mutex
	at     time.Duration
	timers []*fakeTimer
}

type fakeTimer struct {
	w   *FakeWall
	at  time.Duration
	f   func()
	set bool
}

// NewVirtualWall is NewVirtual on a wall of the test's own.
func NewVirtualWall(start time.Time, opts *VirtualOptions, w *FakeWall) *Virtual {
	return newVirtual(start, opts, w)
}

// Settle waits until the present instant is worked off, without being an input.
func Settle(v *Virtual) {
	w := &visit{done: make(chan struct{})}
	v.mu.Lock()
	v.settling = append(v.settling, w)
	v.kickUnlock()
	<-w.done
}

// Free reports whether the baton is free.
func Free(v *Virtual) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.holder == nil
}

// Self identifies the calling goroutine, Goid is its number.
var (
	Self = self
	Goid = goid
)

// AwaitReady returns when that many goroutines of a name are ready for their turn.
func AwaitReady(v *Virtual, name string, n int) {
	for {
		ready := 0
		v.mu.Lock()
		for t := v.tasks.first; t != nil; t = t.next {
			if t.name == name && t.doing == waitReady {
				ready++
			}
		}
		v.mu.Unlock()
		if ready == n {
			return
		}
		runtime.Gosched()
	}
}

func (w *FakeWall) now() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *FakeWall) afterFunc(d time.Duration, f func()) wallTimer {
	t := &fakeTimer{w: w, f: f}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers = append(w.timers, t)
	t.at, t.set = w.at+d, true
	return t
}

func (t *fakeTimer) Stop() bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	was := t.set
	t.set = false
	return was
}

func (t *fakeTimer) Reset(d time.Duration) bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	was := t.set
	t.at, t.set = t.w.at+d, true
	return was
}

// Pass lets real time pass, and runs each timer that falls due, then settle.
func (w *FakeWall) Pass(d time.Duration, settle func()) {
	w.mu.Lock()
	end := w.at + d
	w.mu.Unlock()
	for {
		w.mu.Lock()
		var next *fakeTimer
		for _, t := range w.timers {
			if t.set && t.at <= end && (next == nil || t.at < next.at) {
				next = t
			}
		}
		if next == nil {
			w.at = end
			w.mu.Unlock()
			return
		}
		w.at = max(w.at, next.at)
		next.set = false
		w.mu.Unlock()
		next.f()
		if settle != nil {
			settle()
		}
	}
}

// Sleep lets real time pass while no timer rings, as in a process that was stopped;
// then the timers that are due ring.
func (w *FakeWall) Sleep(d time.Duration, settle func()) {
	w.Skip(d)
	w.Pass(0, settle)
}

// Skip lets real time pass before any timer has rung.
func (w *FakeWall) Skip(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at += d
}

// NewWallAt returns what the machine's clock makes of its monotonic clock and of the
// calendar.
func NewWallAt() func(monotonic, calendar time.Duration) time.Duration { return newRealWall().at }
