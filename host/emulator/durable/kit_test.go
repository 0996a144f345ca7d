package durable_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/journal"
)

// script is what an orchestrator answers: the reply to a turn.
type script func(t *api.Turn) api.Reply

// plans is an orchestrator that answers its n-th turn with the n-th plan, and later ones
// with the last.
func plans(list ...string) script {
	return func(t *api.Turn) api.Reply { return notation.Reply(list[min(t.Number, len(list))-1]) }
}

// work is what an activity does.
type work func(a *api.Activity) api.Reply

func returns(v string) work { return func(*api.Activity) api.Reply { return api.Reply{Value: v} } }

func throws(message string) work {
	return func(*api.Activity) api.Reply { return api.Reply{Failed: true, Message: message, Stack: "at app.js"} }
}

// bench is an engine with a scripted app.
type bench struct {
	testing.TB
	clk    *clock.Virtual
	db     *store.Store
	engine *durable.Engine
	hub    *durable.Hub
	group  *clock.Group
	cancel context.CancelFunc
	ctx    context.Context

	orchestrators, entities map[string]script
	activities              map[string]work
	functions               api.Functions
	fault                   func(durable.FaultPoint) error

	mu      sync.Mutex
	records []journal.Record
	turns   []*api.Turn
	ran     []*api.Activity
}

// newBench makes an engine whose app has what configure puts into it.
func newBench(tb testing.TB, configure func(b *bench)) *bench {
	b := &bench{TB: tb, clk: clock.NewVirtual(notation.Start, &clock.VirtualOptions{Strict: true}), orchestrators: map[string]script{}, entities: map[string]script{}, activities: map[string]work{}}
	b.functions.Runtime = "node"
	configure(b)
	b.open()
	tb.Cleanup(b.stop)
	return b
}

// open makes the engine, in the store if there is one, and serves it.
func (b *bench) open() {
	opts := &durable.Options{Seed: 1, Record: b.record, Fault: func(p durable.FaultPoint) error {
		if b.fault == nil {
			return nil
		}
		return b.fault(p)
	}}
	b.engine = durable.New(b.clk, opts)
	if b.db != nil {
		var err error
		if b.engine, err = durable.Open(b.clk, b.db, opts); err != nil {
			b.Fatal(err)
		}
	}
	b.hub = b.engine.Hub("TestHub")
	b.clk.Do("serve", b.serve)
}

// serve starts a loop for each function.
func (b *bench) serve() {
	b.ctx, b.cancel = b.clk.WithCancel(context.Background())
	b.group = clock.NewGroup(b.clk, 0)
	f := b.functions
	for kind, scripts := range map[api.Kind]map[string]script{api.Orchestrator: b.orchestrators, api.EntityFunction: b.entities} {
		for name := range scripts {
			f.Known = append(f.Known, api.Function{Kind: kind, Name: name})
		}
	}
	for name := range b.activities {
		f.Known = append(f.Known, api.Function{Kind: api.Activities, Name: name})
	}
	b.hub.Serve("app", f)
	for _, known := range f.Known {
		b.group.Go(known.Name, func() {
			if known.Kind == api.Activities {
				b.runActivities(known.Name)
			} else {
				b.runTurns(known)
			}
		})
	}
}

func (b *bench) runTurns(f api.Function) {
	scripts := b.orchestrators
	if f.Kind == api.EntityFunction {
		scripts = b.entities
	}
	for {
		t, err := b.hub.NextTurn(b.ctx, f)
		if b.ctx.Err() != nil {
			return
		}
		if err != nil {
			continue
		}
		b.mu.Lock()
		b.turns = append(b.turns, t)
		b.mu.Unlock()
		b.group.Go("turn", func() {
			_ = b.hub.Finish(b.ctx, t, scripts[f.Name](t)) // a fault that the test has set
		})
	}
}

func (b *bench) runActivities(name string) {
	for {
		a, err := b.hub.NextActivity(b.ctx, name)
		if err != nil {
			return
		}
		b.mu.Lock()
		b.ran = append(b.ran, a)
		b.mu.Unlock()
		b.group.Go("activity", func() {
			if err := b.hub.Report(b.ctx, a, b.activities[name](a)); err != nil && b.ctx.Err() == nil {
				b.Error(err)
			}
		})
	}
}

// stop ends the loops.
func (b *bench) stop() {
	b.clk.Do("test", func() {
		b.cancel()
		b.group.Wait()
		b.engine.Stop()
		b.engine.Stopped()
	})
}

func (b *bench) record(r journal.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.Time = b.clk.Now()
	b.records = append(b.records, r)
}

// do runs f inside the clock.
func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	var err error
	b.clk.Do("test", func() { err = f(b.ctx) })
	if err != nil {
		b.Error(err)
	}
}

func (b *bench) start(name, id string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		_, err := b.hub.Start(ctx, api.Start{Name: name, ID: id, By: "client"})
		return err
	})
}

func (b *bench) raise(id, name, data string) {
	b.Helper()
	b.do(func(ctx context.Context) error { return b.hub.RaiseEvent(ctx, id, name, data, "http") })
}

// run lets time go on until nothing is left to do.
func (b *bench) run() { b.clk.Run(400 * 24 * time.Hour) }

// instance is how an instance stands.
func (b *bench) instance(id string) (out *api.Instance) {
	b.Helper()
	b.do(func(ctx context.Context) (err error) {
		out, err = b.hub.Instance(ctx, id, api.Read{History: true})
		if err != nil {
			out = &api.Instance{}
		}
		return err
	})
	return out
}

// want compares status and output of an instance, and returns it.
func (b *bench) want(id string, status api.Status, output string) *api.Instance {
	b.Helper()
	got := b.instance(id)
	text := ""
	if got.Output != nil {
		text = *got.Output
	}
	if got.Status != status || !strings.Contains(text, output) || output == "" && text != "" {
		b.Errorf("%s is %s with %q, want %s with %q", id, got.Status, text, status, output)
	}
	return got
}

// kinds are the records of a kind, each by what show says.
func (b *bench) kinds(kind journal.Kind, show func(r *journal.Record) string) (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.records {
		if b.records[i].Kind == kind {
			out = append(out, show(&b.records[i]))
		}
	}
	return out
}

// findings are those of an instance.
func findings(inst *api.Instance) string {
	var names []string
	for _, f := range inst.Findings {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// elapsed is the time since the start.
func (b *bench) elapsed() time.Duration { return b.clk.Now().Sub(notation.Start) }

func reply(text string) api.Reply { return notation.Reply(text) }

// alongside runs f inside the clock while time goes on.
func (b *bench) alongside(f func(ctx context.Context) error) {
	b.Helper()
	b.clk.Do("test", func() {
		b.group.Go("test", func() {
			if err := f(b.ctx); err != nil {
				b.Error(err)
			}
		})
	})
	b.run()
}

// atATime has activities take a second each, and counts the most that run at a time.
func (b *bench) atATime(names ...string) (most *int) {
	now, most := 0, new(int)
	for _, name := range names {
		b.activities[name] = func(*api.Activity) api.Reply {
			now++
			*most = max(*most, now)
			_ = b.clk.Sleep(b.ctx, time.Second)
			now--
			return api.Reply{Value: "1"}
		}
	}
	return most
}
