package listening

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// A turn is one run of a function's listener, in one epoch of the embedded services.
// It is the listener's Sink: the function's, with the changes that the end of the
// epoch brings.
//
// When the state is replaced, the turn of every listener that uses it is over: the
// listener receives nothing more, and another turn of it starts from the new state
// at once. Deliveries in work go on to the end of their attempts; the epoch
// refuses their settlement, and the journal says so.
type turn struct {
	in       *Listeners
	of       *Listener
	view     kinds.Turn      // as the kind sees it
	ctx      context.Context // of the listener's Run
	stop     context.CancelFunc
	replaced atomic.Bool // the state was replaced under it

	backoff *retrycontext.Series // of starts of the listener
	begun   time.Time            // the listener, the last time

	mu     sync.Mutex
	tokens list.List // of context.CancelFunc: of deliveries in work, by age
	cut    bool      // they have been cancelled
}

// noteReplaced is the note of a settlement that came to nothing, since a state was
// loaded, or the state emptied, while the delivery was in work.
const noteReplaced = "the state was replaced meanwhile: nothing was settled"

// begin returns a turn of a listener in the present epoch.
func (g *Listeners) begin(l *Listener, again bool) *turn {
	t := &turn{in: g, of: l, begun: g.clk.Now()}
	t.view.Function, t.view.Epoch, t.view.Again = l.View, l.View.Epoch(), again
	t.ctx, t.stop = g.clk.WithCancel(g.ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns = append(g.turns, t)
	return t
}

// end forgets a turn whose listener has ended.
func (g *Listeners) end(t *turn) {
	t.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, other := range g.turns {
		if other == t {
			g.turns = append(g.turns[:i:i], g.turns[i+1:]...)
			return
		}
	}
}

// Replace ends the turns that use the embedded services, whose state was replaced, and
// returns their listeners.
func (g *Listeners) Replace() (over []*Listener) {
	g.mu.Lock()
	turns := g.turns
	g.mu.Unlock()
	for _, t := range turns {
		if t.view.Uses.Load() && !t.replaced.Swap(true) {
			t.stop()
			if !slices.Contains(over, t.of) {
				over = append(over, t.of)
			}
		}
	}
	return over
}

// StartAgain begins turns of listeners after Replace, unless all were stopped meanwhile.
func (g *Listeners) StartAgain(over []*Listener) {
	if g.ctx.Err() != nil {
		return
	}
	for _, l := range over {
		g.start(l, true)
	}
}

// cutReplaced ends the retry waits of turns that were over before the generation's
// listeners were stopped: nothing else ends them.
func (g *Listeners) cutReplaced() {
	g.mu.Lock()
	turns := g.turns
	g.mu.Unlock()
	for _, t := range turns {
		if !t.replaced.Load() {
			continue
		}
		t.mu.Lock()
		t.cut = true
		var cancels []context.CancelFunc
		for e := t.tokens.Front(); e != nil; e = e.Next() {
			cancels = append(cancels, e.Value.(context.CancelFunc))
		}
		t.mu.Unlock()
		for _, cancel := range cancels {
			cancel()
		}
	}
}

// token returns the token of a delivery: the listener's, which cutReplaced ends too.
func (t *turn) token(ctx context.Context) (token context.Context, release func()) {
	token, cancel := t.in.clk.WithCancel(ctx)
	t.mu.Lock()
	e := t.tokens.PushBack(cancel)
	cut := t.cut
	t.mu.Unlock()
	if cut {
		cancel()
	}
	return token, func() {
		t.mu.Lock()
		t.tokens.Remove(e)
		t.mu.Unlock()
		cancel()
	}
}

// Handle implements triggers.Sink.
func (t *turn) Handle(ctx context.Context, ev *triggers.Event) triggers.Result {
	token, release := t.token(ctx)
	defer release()
	return t.of.Handle(token, ev)
}

// Settled implements triggers.Sink. After the end of the epoch every settlement of
// the listener is refused.
func (t *turn) Settled(ev *triggers.Event, s triggers.Settlement) {
	if t.view.Uses.Load() && t.view.Epoch.Over() {
		s = triggers.Settlement{Decision: t.of.Kind.Unsettled, Note: noteReplaced}
		if s.Decision == "" {
			s.Decision = triggers.Dropped
		}
	}
	t.of.Settled(ev, s)
}

// Draining implements triggers.Sink.
func (t *turn) Draining() bool { return t.replaced.Load() || t.of.Draining() }

// Replaced implements triggers.Sink.
func (t *turn) Replaced() bool { return t.replaced.Load() }

// Gate implements triggers.Sink.
func (t *turn) Gate() triggers.Gate { return t.of.Gate() }

// Skip implements triggers.Sink.
func (t *turn) Skip(ev *triggers.Event) { t.of.Skip(ev) }

// Call implements triggers.Caller.
func (t *turn) Call(ev *triggers.Event) triggers.Result { return t.of.Call(ev) }

var (
	_ triggers.Sink   = (*turn)(nil)
	_ triggers.Caller = (*turn)(nil)
)
