package clock

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// A virtualContext is a context whose end the clock sees: it knows the tasks
// that wait on it, and makes them ready in the same turn.
type virtualContext struct {
	v      *Virtual
	parent context.Context
	above  *virtualContext // the nearest virtualContext above, or nil

	end atomic.Uint32              // an ending
	std atomic.Pointer[stdContext] // made by the first Done

	// Guarded by v.mu.
	due         deadline
	first, last *ctxLink        // who waits, in order of waiting
	child       *virtualContext // first of the contexts below
	prev, next  *virtualContext // siblings
}

// An ending says how a context has ended. There are two ways only, so that an end
// allocates nothing.
type ending = uint32

const (
	notEnded ending = iota
	endCanceled
	endDeadline
)

// ctxKey finds the nearest virtualContext by way of Value.
type ctxKey struct{}

// WithCancel implements Clock.
func (v *Virtual) WithCancel(parent context.Context) (context.Context, context.CancelFunc) {
	above := known(v, parent, "WithCancel")
	v.mu.Lock()
	c := newContextLocked(v, parent, above)
	v.mu.Unlock()
	return c, c.cancel
}

// WithTimeout implements Clock.
func (v *Virtual) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	above := known(v, parent, "WithTimeout")
	v.mu.Lock()
	v.checkLocked("WithTimeout")
	c := newContextLocked(v, parent, above)
	switch {
	case c.end.Load() != notEnded:
	case d <= 0:
		c.cancelLocked(endDeadline)
	default:
		c.due.ctx = c
		v.setLocked(&c.due, d, true)
	}
	v.kickUnlock()
	return c, c.cancel
}

// known returns the virtualContext on which ctx depends, nil if it depends on none.
// It panics when ctx may end without the clock's knowing.
func known(v *Virtual, ctx context.Context, op string) *virtualContext {
	c, ours := ctx.(*virtualContext)
	if !ours {
		c, _ = ctx.Value(ctxKey{}).(*virtualContext)
		switch done := ctx.Done(); {
		case done == nil:
			return nil // background, or cut off by context.WithoutCancel
		case c == nil || c.Done() != done:
			panic("clock: " + op + ": the context can be cancelled by package context (or errgroup), which the clock cannot see: make it with the clock's WithCancel or WithTimeout, or use context.WithoutCancel")
		}
	}
	if c.v != v {
		panic("clock: " + op + ": the context belongs to another clock")
	}
	return c
}

// Sees reports whether a context ends only with a context of this clock, so that
// waits on it are ready in the same turn.
func (v *Virtual) Sees(ctx context.Context) bool {
	c, ours := ctx.(*virtualContext)
	if !ours {
		c, _ = ctx.Value(ctxKey{}).(*virtualContext)
	}
	return c != nil && c.v == v && c.Done() == ctx.Done()
}

func newContextLocked(v *Virtual, parent context.Context, above *virtualContext) *virtualContext {
	c := &virtualContext{v: v, parent: parent, above: above}
	if above == nil {
		return c
	}
	if end := above.end.Load(); end != notEnded {
		c.end.Store(end)
		return c
	}
	if c.next = above.child; c.next != nil {
		c.next.prev = c
	}
	above.child = c
	return c
}

// cancel is the CancelFunc of c.
func (c *virtualContext) cancel() {
	v := c.v
	if c.end.Load() != notEnded {
		return
	}
	v.mu.Lock()
	if c.awaited() {
		v.checkLocked("a context's cancel function")
	}
	c.cancelLocked(endCanceled)
	v.kickUnlock()
}

// awaited reports whether anybody waits on c or a context below it.
func (c *virtualContext) awaited() bool {
	if c.first != nil {
		return true
	}
	for k := c.child; k != nil; k = k.next {
		if k.awaited() {
			return true
		}
	}
	return false
}

// cancelLocked ends c and all contexts below, and then the waits on them, in the
// order in which they began.
func (c *virtualContext) cancelLocked(end ending) {
	if c.end.Load() != notEnded {
		return
	}
	if c.prev != nil {
		c.prev.next = c.next
	} else if c.above != nil {
		c.above.child = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil

	if c.child == nil { // the common case: the links are in order as they stand
		c.endLocked(end)
		err := c.Err()
		for l := c.first; l != nil; l = c.first {
			l.endLocked(c.v, err)
		}
		return
	}
	var waits []*ctxLink
	c.collectLocked(end, &waits)
	slices.SortFunc(waits, func(a, b *ctxLink) int { return cmp.Compare(a.seq, b.seq) })
	err := c.Err()
	for _, l := range waits {
		l.endLocked(c.v, err)
	}
}

// collectLocked ends c and the contexts below it, and appends the tasks that
// wait on them.
func (c *virtualContext) collectLocked(end ending, waits *[]*ctxLink) {
	c.endLocked(end)
	for l := c.first; l != nil; l = l.next {
		*waits = append(*waits, l)
	}
	for k := c.child; k != nil; {
		next := k.next
		k.prev, k.next = nil, nil
		k.collectLocked(end, waits)
		k = next
	}
	c.child = nil
}

func (c *virtualContext) endLocked(end ending) {
	c.v.deadlines.remove(&c.due)
	c.end.Store(end)
	if s := c.std.Load(); s != nil {
		s.fuse.blow(c.Err())
	}
}

// endLocked ends what waits on a context that has ended.
func (l *ctxLink) endLocked(v *Virtual, err error) {
	if l.task != nil {
		v.readyLocked(l.task, err)
		return
	}
	call := l.call
	l.leave()
	call.recallLocked(v)
}

// errNow is Err for a context that may be nil.
func (c *virtualContext) errNow() error {
	if c == nil {
		return nil
	}
	return c.Err()
}

// Err implements context.Context.
func (c *virtualContext) Err() error {
	switch c.end.Load() {
	case endCanceled:
		return context.Canceled
	case endDeadline:
		return context.DeadlineExceeded
	}
	return nil
}

// Deadline implements context.Context: a virtual time would be taken for a real one.
func (c *virtualContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context. The channel is real: calls outside may wait for it.
func (c *virtualContext) Done() <-chan struct{} {
	s := c.std.Load()
	if s == nil {
		s = c.makeStd()
	}
	return s.Done()
}

func (c *virtualContext) makeStd() *stdContext {
	c.v.mu.Lock()
	defer c.v.mu.Unlock()
	if s := c.std.Load(); s != nil {
		return s
	}
	s := &stdContext{}
	s.Context, s.cancel = context.WithCancel(&s.fuse)
	if err := c.Err(); err != nil {
		s.fuse.blow(err)
	}
	c.std.Store(s)
	return s
}

// Value implements context.Context.
func (c *virtualContext) Value(key any) any {
	if _, ok := key.(ctxKey); ok {
		return c
	}
	if s := c.std.Load(); s != nil {
		if val := s.Context.Value(key); val != nil {
			return val // package context asks for its own kind of context
		}
	}
	val := c.parent.Value(key)
	if ctx, ok := val.(context.Context); ok && c.above != nil && ctx.Done() == c.above.Done() {
		// It asks this method, and would otherwise get the answer of the
		// context above.
		return c.makeStd().Context.Value(key)
	}
	return val
}

// A stdContext shows a virtualContext to package context: one of its own
// cancellable contexts, under which it hangs children without a goroutine and
// finds the cause. It hangs itself from a fuse, the only way to end it with an
// error other than Canceled.
type stdContext struct {
	context.Context
	cancel context.CancelFunc // not called: the fuse ends it, and holds nothing
	fuse   fuse
}

// A fuse is a context that calls its only dependant when it blows.
type fuse struct {
	err  error
	then func()
}

// never needs no identity for package context: any channel works that does not
// close.
var never = make(chan struct{})

func (f *fuse) blow(err error) {
	f.err = err
	f.then()
}

// AfterFunc is how package context registers what to call.
func (f *fuse) AfterFunc(then func()) func() bool {
	f.then = then
	return func() bool { return false }
}

func (f *fuse) Done() <-chan struct{}       { return never }
func (f *fuse) Err() error                  { return f.err }
func (f *fuse) Deadline() (time.Time, bool) { return time.Time{}, false }
func (f *fuse) Value(any) any               { return nil }

// A ctxLink is the place of a wait among those on one context.
type ctxLink struct {
	in         *virtualContext
	prev, next *ctxLink
	seq        uint64
	task       *task // exactly one of these is set
	call       *call
}

// joinLocked puts l last among the waits on c, which may be nil.
func (c *virtualContext) joinLocked(l *ctxLink) {
	if c == nil {
		return
	}
	l.in, l.seq, l.prev, l.next = c, c.v.nextSeqLocked(), c.last, nil
	if c.last == nil {
		c.first = l
	} else {
		c.last.next = l
	}
	c.last = l
}

// leave takes l out of the context it is in, if any.
func (l *ctxLink) leave() {
	c := l.in
	if c == nil {
		return
	}
	if l.prev == nil {
		c.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		c.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.in, l.prev, l.next = nil, nil, nil
}
