package eventgrid

import (
	"context"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/seeded"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
	"github.com/redeliver/redeliver/host/journal"
)

// Rules are the switches of Event Grid (spec host-and-retry 0.2). The zero Rules
// are the rules of 2019, without jitter and without probation, for tests.
type Rules struct {
	Schedule      Schedule // eventGridSchedule; "": Schedule2019
	JitterPercent int      // eventGridJitterPercent
	Probation     bool     // eventGridProbation
}

// Options changes how a Grid behaves. The zero value is good for use.
type Options struct {
	// Seed decides keys, identifiers and jitter.
	Seed uint64

	// Rules until Configure changes them.
	Rules Rules

	// Record is told what the Grid decided: enqueued (an event has passed the
	// filters of a subscription), event_attempted, event_delayed, dead_lettered
	// and event_dropped. Source is topic/subscription, MessageID the event's id,
	// DeliveryCount the number of the attempt from 1. It is called without locks
	// held.
	Record func(journal.Record)

	// Blobs returns an embedded storage account for dead letters, "" for the
	// first; nil for one that does not exist.
	Blobs func(account string) blob.Account

	// Function returns the endpoint of a function. Nil: there are no functions.
	Function func(name string) Endpoint

	// Fault makes deliveries fail; nil: none. [Answered] is an answer, keep.ErrNoEffect
	// leaves a retry out. It is called without locks held, and may wait by the clock.
	Fault func(FaultPoint) error

	// WebHook returns the endpoint of a URL. Nil: requests over HTTP, to this machine
	// only.
	WebHook func(url string) Endpoint
}

// Grid is one Event Grid, empty when new. All methods may be called concurrently;
// on a virtual clock, from inside the clock. It embeds its state as a whole, which
// [keep.State] copies, replaces and checks.
type Grid struct {
	*keep.State[*loader]

	clk    clock.Clock
	opts   Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	group  *clock.Group
	hooks  *hooks

	mu    sync.Mutex
	rules Rules
	state
	pump    pump
	removed []journal.Record // of events that go with their subscription, until the change is written
	url     string           // of the server
	awaited awaited

	kept    *keep.Keeper
	writing change // of the operation at work
}

// state is what a store holds of a Grid.
type state struct {
	topics    map[string]*topic // by folded name
	endpoints endpoints
	live      map[uint64]*delivery
	ids       seeded.Series
	number    uint64 // of the last delivery
	declared  []Declared
}

func newState(reach func(*subscription) Endpoint) state {
	return state{topics: map[string]*topic{}, endpoints: endpoints{map[string]*endpoint{}, reach}, live: map[uint64]*delivery{}}
}

func (st *state) topic(name string) (*topic, error) {
	t := st.topics[fold(name)]
	if t == nil {
		return nil, notFound("topic %q does not exist", name)
	}
	return t, nil
}

func (st *state) subscription(topicName, name string) (*subscription, error) {
	t, err := st.topic(topicName)
	if err != nil {
		return nil, err
	}
	s := t.find(name)
	if s == nil {
		return nil, notFound("event subscription %q of topic %q does not exist", name, topicName)
	}
	return s, nil
}

// New returns an empty Grid that takes its time from clk.
func New(clk clock.Clock, opts *Options) *Grid {
	g := &Grid{clk: clk, group: clock.NewGroup(clk, 0)}
	if opts != nil {
		g.opts = *opts
	}
	g.hooks = newHooks()
	if g.opts.WebHook == nil {
		g.opts.WebHook = func(url string) Endpoint { return newWebHook(clk, g.hooks, url) }
	}
	g.state = newState(g.endpointOf)
	g.rules, g.ids.Seed = g.opts.Rules, g.opts.Seed
	g.pump = newPump(g)
	g.ctx, g.cancel = clk.WithCancel(context.Background())
	g.State, g.kept = keep.New(clk, &g.mu, g.kind())
	g.writing = change{g.kept.Change()}
	return g
}

// Stop sends nothing more, and takes note of no answer any more. Close follows.
func (g *Grid) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancel()
	g.pump.changed.Broadcast()
}

// Close is Stop, and waits for requests that are out. Events that were not
// delivered are lost with the Grid.
func (g *Grid) Close() {
	g.clk.Inside("close Event Grid", func() {
		g.Stop()
		g.group.Wait()
	})
	g.hooks.close()
}

// Context is a context of the clock that ends with the Grid. Servers call with it,
// since their callers' contexts are of the real world.
func (g *Grid) Context() context.Context { return g.ctx }

// Configure changes the rules for what is decided from now on; waits that have
// begun keep their length. It is also what lets a Grid of a store begin to send.
func (g *Grid) Configure(r Rules) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules, g.pump.held = r, false
	g.pump.kick()
}

// ServedAt tells the Grid where its server is, e.g. http://127.0.0.1:60101, for
// validationUrl.
func (g *Grid) ServedAt(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.url = url
}

func (g *Grid) now() time.Time { return g.clk.Now().UTC().Round(0) }

func (o *Options) record(records []journal.Record) {
	if o.Record == nil {
		return
	}
	for _, r := range records {
		o.Record(r)
	}
}

// CreateTopic makes a topic. One that is there already with the same settings is
// left alone; with others the call fails.
func (g *Grid) CreateTopic(ctx context.Context, t Topic) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.check(); err != nil {
		return err
	}
	return g.changeTopic(ctx, t.Name, func() error {
		if old := g.topics[fold(t.Name)]; old != nil {
			if t.Key == "" {
				t.Key = old.Key
			}
			t.Name = old.Name
			if t != old.Topic {
				return conflict("topic %q exists already, with other settings", old.Name)
			}
			return nil
		}
		if t.Key == "" {
			t.Key = accessKey(&g.ids)
		}
		g.addTopicLocked(t)
		return nil
	})
}

// changeTopic is change of a topic, which everybody may see from then on.
func (g *Grid) changeTopic(ctx context.Context, name string, f func() error) error {
	err := g.change(ctx, f)
	if err == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		if t := g.topics[fold(name)]; t != nil {
			t.unwritten = false
		}
	}
	return err
}

func (g *Grid) addTopicLocked(t Topic) {
	made := &topic{Topic: t, unwritten: g.writing.Writable()}
	g.topics[fold(t.Name)] = made
	g.writing.saveTopic(made)
}

// change runs f with the mutex held, and returns when what it changed is written.
func (g *Grid) change(ctx context.Context, f func() error) error {
	err := g.lock()
	if err == nil {
		err = f()
	}
	records := g.removed
	g.removed = nil
	writeErr := g.unlock(ctx)
	if writeErr == nil {
		g.opts.record(records)
	}
	if err == nil {
		err = writeErr
	}
	return err
}

// look runs f with the mutex held, and returns when the state that f saw is
// written: no answer shows what a loss of power would take back. Without a
// state that can be read f does not run.
func (g *Grid) look(f func()) {
	for {
		if g.lock() != nil {
			g.mu.Unlock()
			return
		}
		f()
		if g.unlock(g.ctx) == nil {
			return
		}
		// The state that f saw is gone; the next lock reads the store.
	}
}

// DeleteTopic removes a topic with its subscriptions and their events.
func (g *Grid) DeleteTopic(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return g.change(ctx, func() error {
		t, err := g.state.topic(name)
		if err != nil {
			return err
		}
		g.removeTopicLocked(t)
		g.awaited.renounce(name, "")
		return nil
	})
}

func (g *Grid) removeTopicLocked(t *topic) {
	for _, s := range t.subscriptions {
		g.removeLocked(s)
	}
	delete(g.topics, fold(t.Name))
	g.writing.unsaveTopic(t)
	g.prune()
}

// Topic returns a topic, with its key; an *Error with status 404 if there is none.
func (g *Grid) Topic(name string) (Topic, error) {
	g.mu.Lock()
	t, err := g.state.topic(name)
	if err == nil && t.unwritten {
		g.mu.Unlock()
		g.look(func() { t, err = g.state.topic(name) })
		g.mu.Lock()
	}
	defer g.mu.Unlock()
	if err != nil {
		return Topic{}, err
	}
	return t.Topic, nil
}
