package host

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/listening"
	"github.com/redeliver/redeliver/triggers"
)

// listenerFunc is a listener.
type listenerFunc func(ctx context.Context) error

func (l listenerFunc) Run(ctx context.Context, _ triggers.Sink) error { return l(ctx) }

// supervised runs a listener as a function's listener, on a virtual clock.
func supervised(t *testing.T, listen func(clk *clock.Virtual) listenerFunc) *Host {
	t.Helper()
	clk := clock.NewVirtual(realNow(), nil)
	t.Cleanup(clk.Close)
	h, err := New(t.TempDir(), &Options{Clock: clk, Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	g := &generation{host: h, id: 1, app: &app.App{}}
	g.group = clock.NewGroup(clk, 0)
	g.listeners = h.listening.Listeners(context.Background(), clk, g.group)
	k := &kinds.Kind{Kind: app.Kind{Type: "queueTrigger"}, Listen: func(*kinds.Turn) (triggers.Listener, error) { return listen(clk), nil }}
	f := &function{gen: g, kind: k, def: &app.Function{Name: "Take", Kind: &k.Kind}}
	f.view = kinds.Function{Env: h.env, Generation: g, Def: f.def}
	f.listener = listening.Listener{Kind: k, View: &f.view, Function: f}
	clk.Do("listen", func() { g.listeners.Start(&f.listener) })
	t.Cleanup(func() { clk.Do("stop", func() { g.listeners.Stop(true); g.group.Wait() }) })
	clk.Advance(time.Minute)
	return h
}

// A listener that ends before its context has failed, whether it says so or not: it is
// started again, and the journal tells.
func TestListenerThatEndsSilently(t *testing.T) {
	t.Parallel()
	starts := 0
	h := supervised(t, func(clk *clock.Virtual) listenerFunc {
		starts++
		return func(ctx context.Context) error {
			if starts == 1 {
				return nil
			}
			_ = clk.Idle(ctx, 24*time.Hour)
			return nil
		}
	})
	if starts != 2 {
		t.Errorf("the listener was started %d times, want 2", starts)
	}
	told := 0
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.FunctionError && r.Error == "the listener has ended without an error" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times, want once: %v", told, h.Journal().Records())
	}
}
