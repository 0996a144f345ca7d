package clock

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strconv"
)

// A task is one goroutine of the clock, and its wait of the moment. All fields but
// park are guarded by Virtual.mu.
type task struct {
	name string
	park chan struct{} // capacity 1: the baton arrives here
	fn   func()        // not begun yet: what to run in a new goroutine
	self uintptr       // its goroutine; 0 before it has begun
	gid  uint64        // the goroutine's number, for its stack

	doing waitKind
	due   deadline
	ctx   ctxLink  // its place among the waits on a context
	cond  condLink // its place in the queue of a Cond
	err   error    // what the wait returns

	call  *call  // comes back in with its next turn
	timer *Timer // begins with its next turn
	void  bool   // stopped before it began
	prev  *task  // all tasks, in order of birth
	next  *task
}

type waitKind uint8

const (
	running waitKind = iota
	waitReady
	waitSleep
	waitIdle
	waitCond
	waitOutside
	waitSerial
)

func (k waitKind) String() string {
	return [...]string{"running", "ready", "sleep", "idle", "cond", "outside", "outside, queued"}[k]
}

// ready holds the tasks that may run, first come first served. With rand, chance draws
// among those that the clock itself has made ready. What comes in from the real world, at
// a moment that is anybody's guess, is then in a line of its own, which goes first and
// draws nothing: a visit that changes nothing changes no draw.
type readyQueue struct {
	ring   ring
	guests ring       // from the real world, with rand
	rand   *rand.Rand // picks the next one, if set
}

func (q *readyQueue) len() int { return q.ring.n + q.guests.n }

func (q *readyQueue) push(t *task) { q.ring.push(t) }

// pushGuest is push for a task that comes in from the real world.
func (q *readyQueue) pushGuest(t *task) {
	if q.rand == nil {
		q.ring.push(t)
		return
	}
	q.guests.push(t)
}

func (q *readyQueue) pop() *task {
	if q.guests.n > 0 {
		return q.guests.pop()
	}
	if q.rand != nil && q.ring.n > 1 {
		q.ring.toFront(q.rand.IntN(q.ring.n))
	}
	return q.ring.pop()
}

// ring is a queue of tasks.
type ring struct {
	tasks []*task // length is a power of two
	head  int
	n     int
}

func (r *ring) push(t *task) {
	if r.n == len(r.tasks) {
		bigger := make([]*task, max(16, 2*r.n))
		for i := range r.n {
			bigger[i] = r.tasks[(r.head+i)&(len(r.tasks)-1)]
		}
		r.tasks, r.head = bigger, 0
	}
	r.tasks[(r.head+r.n)&(len(r.tasks)-1)] = t
	r.n++
}

// toFront exchanges the first task and the one with that many before it.
func (r *ring) toFront(before int) {
	i := (r.head + before) & (len(r.tasks) - 1)
	r.tasks[r.head], r.tasks[i] = r.tasks[i], r.tasks[r.head]
}

func (r *ring) pop() *task {
	t := r.tasks[r.head]
	r.tasks[r.head] = nil
	r.head = (r.head + 1) & (len(r.tasks) - 1)
	r.n--
	return t
}

// goid returns the number of the calling goroutine. The runtime shows it nowhere but
// in the first line of a stack: "goroutine 7 [running]:".
func goid() uint64 {
	var buf [40]byte
	line := buf[:runtime.Stack(buf[:], false)]
	line = bytes.TrimPrefix(line, []byte("goroutine "))
	digits, _, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("clock: unexpected form of a stack: " + string(line))
	}
	return id
}
