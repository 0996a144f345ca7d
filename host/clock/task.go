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
	gid  uint64        // the goroutine's ID; 0 before it has begun

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

// readyQueue is a ring of the tasks that may run, first come first served.
type readyQueue struct {
	ring []*task // length is a power of two
	head int
	n    int
	rand *rand.Rand // picks the next one, if set
}

func (q *readyQueue) push(t *task) {
	if q.n == len(q.ring) {
		bigger := make([]*task, max(16, 2*q.n))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = t
	q.n++
}

func (q *readyQueue) pop() *task {
	mask := len(q.ring) - 1
	if q.rand != nil && q.n > 1 {
		i := (q.head + q.rand.IntN(q.n)) & mask
		q.ring[q.head], q.ring[i] = q.ring[i], q.ring[q.head]
	}
	t := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & mask
	q.n--
	return t
}

// goid returns the ID of the calling goroutine. The runtime shows it nowhere but
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
