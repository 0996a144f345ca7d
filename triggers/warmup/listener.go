package warmup

import (
	"context"
	"strings"
	"sync"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/triggers"
)

// Runs reports whether the platform calls a warm-up function of that name: only
// "warmup", in any case. So an app has one at most.
func Runs(function string) bool { return strings.EqualFold(function, "warmup") }

// Message returns what the function receives: an empty context.
func Message() triggers.Message { return triggers.Message{Value: bindings.JSONValue([]byte("{}"))} }

// Listener runs a function once, all attempts included, and then waits for the end of
// its context. It implements [triggers.Listener]. When the context ends under way, the
// retry loop ends too, in a drain as in any other stop.
type Listener struct {
	clk clock.Clock
	due bool

	mu  sync.Mutex
	end *clock.Cond // is never signalled: the end of the context is waited for
}

var _ triggers.Listener = (*Listener)(nil)

// New returns a listener that runs its function when due is set, and otherwise only
// waits: it is for a function that has run.
func New(clk clock.Clock, due bool) *Listener {
	l := &Listener{clk: clk, due: due}
	l.end = clock.NewCond(clk, &l.mu)
	return l
}

// Run implements [triggers.Listener]. It returns nil.
func (l *Listener) Run(ctx context.Context, sink triggers.Sink) error {
	if l.due {
		l.warm(ctx, sink)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ctx.Err() == nil {
		_ = l.end.Wait(ctx) // the end of ctx is what it waits for
	}
	return nil
}

func (l *Listener) warm(ctx context.Context, sink triggers.Sink) {
	if _, err := sink.Gate().Admit(ctx, 1); err != nil {
		return
	}
	ev := &triggers.Event{Source: "start", Messages: []triggers.Message{Message()}}
	sink.Handle(ctx, ev)
	sink.Settled(ev, triggers.Settlement{Decision: triggers.Recorded})
}
