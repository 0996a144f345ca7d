package clock

// Visitor is a goroutine from outside the clock that comes in often, such
// as one that serves a connection. It spares the search for its identity,
// which is most of what an [Clock.Inside] with little to do costs.
type Visitor struct {
	clk Clock
	v   *Virtual // nil: clk has no turns to take
	id  uint64
}

// NewVisitor makes the calling goroutine a visitor of clk. The value is for this
// goroutine only; on a Virtual with the option Strict its use by another one
// panics.
func NewVisitor(clk Clock) *Visitor {
	v, _ := clk.(*Virtual)
	if v == nil {
		return &Visitor{clk: clk}
	}
	return &Visitor{clk: clk, v: v, id: goid()}
}

// Inside is the clock's Inside.
func (w *Visitor) Inside(name string, f func()) {
	if w.v == nil {
		w.clk.Inside(name, f)
		return
	}
	if w.v.opts.Strict && goid() != w.id {
		panic("clock: Inside " + quote(name) + " called by another goroutine than the visitor's")
	}
	w.v.insideAs(w.id, name, f)
}
