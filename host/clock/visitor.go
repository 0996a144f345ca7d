package clock

import "context"

// Visitor is a goroutine from outside the clock that comes in often, such
// as one that serves a connection. It spares the search for its identity,
// which is most of what an [Clock.Inside] with little to do costs.
type Visitor struct {
	clk  Clock
	v    *Virtual // nil: clk has no turns to take
	self uintptr
	gid  uint64
}

// NewVisitor makes the calling goroutine a visitor of clk. The value is for this
// goroutine only; on a Virtual with the option Strict its use by another one
// panics.
func NewVisitor(clk Clock) *Visitor {
	v, _ := clk.(*Virtual)
	if v == nil {
		return &Visitor{clk: clk}
	}
	return &Visitor{clk: clk, v: v, self: self(), gid: goid()}
}

// Inside is the clock's Inside.
func (w *Visitor) Inside(name string, f func()) {
	if w.v == nil {
		w.clk.Inside(name, f)
		return
	}
	if w.v.opts.Strict && self() != w.self {
		panic("clock: Inside " + quote(name) + " called by another goroutine than the visitor's")
	}
	w.v.insideAs(w.self, w.gid, name, f)
}

// visitorKey finds the visitor to whom a context belongs.
type visitorKey struct{}

// ForVisitor returns a context for the calls of one goroutine, any, which becomes a visitor
// by its first [Enter]. No other goroutine may give that context, or one below it, to Enter.
func ForVisitor(ctx context.Context) context.Context {
	return context.WithValue(ctx, visitorKey{}, &Visitor{})
}

// Enter is the Inside of clk, for the visitor to whom ctx belongs if it belongs to one.
func Enter(ctx context.Context, clk Clock, name string, f func()) {
	w, _ := ctx.Value(visitorKey{}).(*Visitor)
	if w != nil && w.clk == nil {
		*w = *NewVisitor(clk)
	}
	if w == nil || w.clk != clk {
		clk.Inside(name, f)
		return
	}
	w.Inside(name, f)
}
