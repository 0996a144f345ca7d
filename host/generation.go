package host

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/breaker"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/listening"
	"github.com/redeliver/redeliver/host/locks"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers/httptrigger"
)

// Limits of a stop (spec host-and-retry 7.3, 5.4).
const (
	// shutdownTimeout is how long running attempts may take after their
	// listeners stopped (host: WorkerProcessCountOptions.cs).
	shutdownTimeout = 10 * time.Second
)

// generation is one loaded app: its definitions, its handlers and its
// listeners. It does not change after load; reload replaces it as a whole.
type generation struct {
	host     *Host
	id       int
	app      *app.App
	declared []call.Declaration
	inFiles  bool // a worker leaves to function.json files which functions there are
	invoker  Invoker

	functions []*function
	router    *httptrigger.Router
	shared    map[any]any // what functions share, by key

	listeners *listening.Listeners
	attempts  context.Context // ends when running attempts must end

	killAttempts context.CancelFunc
	draining     atomic.Bool
	group        *clock.Group

	mu     sync.Mutex
	tokens list.List // of context.CancelFunc: what token gave out, in that order
	killed bool
}

// token returns a context that ends with ctx or when running attempts of the
// generation must end. release must be called.
func (g *generation) token(ctx context.Context) (token context.Context, release func()) {
	token, cancel := g.host.clk.WithCancel(ctx)
	g.mu.Lock()
	e := g.tokens.PushBack(cancel)
	killed := g.killed
	g.mu.Unlock()
	if killed {
		cancel()
	}
	return token, func() {
		g.mu.Lock()
		g.tokens.Remove(e)
		g.mu.Unlock()
		cancel()
	}
}

// kill ends running attempts, the tokens of calls by hand, and retry waits that a
// drain has left alone.
func (g *generation) kill() {
	g.killAttempts()
	g.mu.Lock()
	g.killed = true
	var cancels []context.CancelFunc
	for e := g.tokens.Front(); e != nil; e = e.Next() {
		cancels = append(cancels, e.Value.(context.CancelFunc))
	}
	g.mu.Unlock()
	for _, cancel := range cancels {
		cancel()
	}
}

// function is one function of a generation. It is the Sink of its listener.
type function struct {
	gen         *generation
	def         *app.Function
	kind        *kinds.Kind
	view        kinds.Function // as its kind sees it
	breaker     *breaker.Breaker
	inputs      []input // besides the trigger
	outputs     []output
	outputNames []string
	httpOutput  string // name of the http output, if any
	route       string // the whole template, with a slash before it, if requests reach it by one

	listener listening.Listener
}

// generation prepares a generation and starts nothing. Functions that cannot
// be prepared are in error; the others run.
func (l *loader) generation(a *app.App, inv Invoker, declared []call.Declaration, prev *generation) *generation {
	g := &generation{host: l.host, app: a, declared: declared, invoker: inv, shared: map[any]any{}}
	g.attempts, g.killAttempts = l.host.clk.WithCancel(l.host.root)
	g.group = clock.NewGroup(l.host.clk, 0)
	g.listeners = l.host.listening.Listeners(l.host.root, l.host.clk, g.group)
	for _, def := range a.Functions {
		if !def.Runs() {
			continue
		}
		f := &function{gen: g, def: def, kind: served.Of(def.Kind.Type)}
		f.view = kinds.Function{Env: l.host.env, Generation: g, Def: def, Number: len(g.functions)}
		f.listener = listening.Listener{Kind: f.kind, View: &f.view, Function: f}
		if err := f.prepare(prev); err != nil {
			def.Faults = append(def.Faults, faultOf(def, err))
			continue
		}
		g.functions = append(g.functions, f)
	}
	g.router = g.routes()
	return g
}

// prepare connects the function and compiles its outputs.
func (f *function) prepare(prev *generation) error {
	if !f.def.Declared {
		return fmt.Errorf("the app's program has no handler for function %q: register one with app.Handle or the method of its trigger", f.def.Name)
	}
	f.keepBreaker(prev)
	if f.kind.Connect != nil {
		// The listener reports services that only this host lacks.
		if err := f.kind.Connect(&f.view); err != nil && !errors.Is(err, services.ErrNoOutside) {
			return err
		}
	}
	return f.prepareOutputs()
}

// keepBreaker gives the function the circuit breaker that it had in the generation before,
// or a new one if there was none or its settings differ.
func (f *function) keepBreaker(prev *generation) {
	if old := prev.function(f.def.Name); old != nil && old.breaker.Is(f.def.CircuitBreaker) {
		f.breaker = old.breaker
	} else {
		f.breaker = breaker.New(f.gen.host.clk, f.def.CircuitBreaker)
	}
}

// function returns the running function of that name, ignoring case, or nil.
func (g *generation) function(name string) *function {
	if g == nil {
		return nil
	}
	for _, f := range g.functions {
		if strings.EqualFold(f.def.Name, name) {
			return f
		}
	}
	return nil
}

// listen starts the listeners.
func (g *generation) listen() {
	for _, f := range g.functions {
		if f.def.Disabled || f.kind.Listen == nil {
			continue
		}
		g.listeners.Start(&f.listener)
	}
}

// stopListening stops receiving. In a drain, kinds that leave deliveries their
// token do not cancel it.
func (g *generation) stopListening(drain bool) {
	g.draining.Store(drain)
	g.listeners.Stop(drain)
}

// retire waits for what is still running, at most shutdownTimeout, and then
// ends the handlers. It returns when nothing of the generation is left.
func (g *generation) retire() {
	grace := g.host.clk.AfterFunc(shutdownTimeout, "end of grace", g.kill)
	g.group.Wait()
	grace.Stop()
	g.kill()
	if err := g.invoker.Close(context.Background()); err != nil {
		g.host.log.Warn().Err(err).Int("generation", g.id).Msg("handlers did not end cleanly")
	}
}

// routes makes the router of the generation's HTTP functions.
func (g *generation) routes() *httptrigger.Router {
	var routes []httptrigger.Route
	for _, f := range g.functions {
		if f.kind.Routed {
			f.route = "/" + app.RouteTemplate(g.app, f.def)
			routes = append(routes, app.RouteOf(g.app, f.def))
		}
	}
	router, err := httptrigger.NewRouter(routes)
	if err != nil { // every template was checked when the app was loaded
		panic(fmt.Sprintf("routes of a checked app: %v", err))
	}
	return router
}

// ID implements kinds.Generation.
func (g *generation) ID() int { return g.id }

// App implements kinds.Generation.
func (g *generation) App() *app.App { return g.app }

// Functions implements kinds.Generation.
func (g *generation) Functions() []*kinds.Function {
	out := make([]*kinds.Function, len(g.functions))
	for i, f := range g.functions {
		out[i] = &f.view
	}
	return out
}

// Shared implements kinds.Generation.
func (g *generation) Shared(key any, make func() any) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.shared[key]; !ok {
		g.shared[key] = make()
	}
	return g.shared[key]
}

// Epoch implements kinds.Generation.
func (g *generation) Epoch() *epoch.Epoch { return g.host.epoch.Load() }

// Locks implements kinds.Generation.
func (g *generation) Locks() *locks.Locks {
	h := g.host
	return &locks.Locks{
		Clock: h.clk, Log: h.log, App: g.app, Embedded: h.embedded, Connections: h.connections, Instance: h.opts.Instance,
		Shared: h.opts.Shared, Stored: h.opts.Store != nil, Life: &h.life, Epoch: h.epoch.Load,
	}
}

var _ kinds.Generation = (*generation)(nil)
