package cli

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// outletGrace is how long a write may take when the host is to end: a pipe that is full
// that long has no reader any more.
const outletGrace = time.Second

// outlet is an output of the process. A pipe that nobody reads holds up a write for ever;
// when the host is told to end, such an output is left, and what is written to it later is
// lost. Reading never was asked for, so this is no failure.
type outlet struct {
	to io.Writer

	watched atomic.Bool   // writes can be left
	ending  chan struct{} // closed when they may take outletGrace at most
	left    chan struct{} // closed when nothing is written any more
	end     sync.Once
	leave   sync.Once
}

// NewOutlet returns the end of the process that to is.
func NewOutlet(to io.Writer) *outlet {
	return &outlet{to: to, ending: make(chan struct{}), left: make(chan struct{})}
}

// Write implements io.Writer.
func (o *outlet) Write(p []byte) (int, error) {
	if !o.watched.Load() {
		return o.to.Write(p)
	}
	select {
	case <-o.left:
		return len(p), nil
	default:
	}
	type result struct {
		n   int
		err error
	}
	text, written := bytes.Clone(p), make(chan result, 1)
	go func() { // the process does not wait for one that is held up
		n, err := o.to.Write(text)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-o.ending:
	case <-o.left:
		return len(p), nil
	}
	grace := time.NewTimer(outletGrace)
	defer grace.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-grace.C:
		o.leave.Do(func() { close(o.left) })
	case <-o.left:
	}
	return len(p), nil
}

// outlets are both outputs of the process.
type outlets []*outlet

// Ending says that writes may take outletGrace at most.
func (both outlets) Ending() {
	for _, o := range both {
		o.end.Do(func() { close(o.ending) })
	}
}

// Leave gives up all writes.
func (both outlets) Leave() {
	for _, o := range both {
		o.leave.Do(func() { close(o.left) })
	}
}
