package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

const loadHostJSON = `{"version":"2.0","redeliver":{
	"eventGridJitterPercent":0,"eventGridProbation":"off",
	"eventGrid":{"topics":[{"name":"shop","subscriptions":[{"name":"orders","function":"Grid"}]}]},
	"eventHubs":{"hubs":[{"name":"telemetry","partitionCount":3}]}}}`

// tickEvery is the schedule of the timer: a span, so that the status decides when it
// ticks and nothing else does.
const tickEvery = 17 * time.Minute

// replaced is a host whose state is saved, loaded and reset while messages of every
// kind are in work, beside a model of the state.
type replaced struct {
	*hosttest.Host
	t      *testing.T
	random *rand.Rand
	seed   uint64

	sent    int
	calls   map[string]int      // of handlers, by key
	keys    map[string][]string // what an invocation was for
	queued  map[string]string   // keys by the ID of a queue message
	state   loadedState         // as it should be now
	slots   []loadedState
	read    int                 // records of the journal that the model knows
	begun   uint64              // the first record of the present state
	busy    map[string][]string // deliveries in work, by function
	since   map[string]uint64   // the record at which a delivery was received
	event   map[string]uint64   // the record at which an event was received last
	last    map[string]string   // the invocation of a delivery
	tickDue time.Time           // when the first tick of the present state is due; zero: it has come
	ticking bool                // a tick was in work when the state was replaced
}

// loadedState has the messages that were sent and have not ended.
type loadedState struct {
	archive  []byte
	left     map[string]bool
	poisoned map[string]bool // messages of the queue that were moved to the poison queue
	tick     time.Time
}

func newReplaced(t *testing.T, seed uint64, options *hosttest.Options) *replaced {
	t.Helper()
	w := &replaced{
		t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), calls: map[string]int{}, keys: map[string][]string{},
		queued: map[string]string{}, busy: map[string][]string{}, since: map[string]uint64{}, event: map[string]uint64{}, last: map[string]string{},
		state: loadedState{left: map[string]bool{}, poisoned: map[string]bool{}},
	}
	app := functions.New()
	retry := functions.FixedDelay(2, 90*time.Second)
	app.Queue("Queue", "orders", func(ctx context.Context, m functions.QueueMessage) error { return w.work(ctx, m.Text()) }, retry)
	app.Blob("Blob", "docs/{name}", func(ctx context.Context, b functions.Blob) error { return w.work(ctx, "blob:"+b.Name) })
	app.ServiceBusQueue("Bus", "bus", func(ctx context.Context, m functions.ServiceBusMessage) error { return w.work(ctx, m.ID) }, retry)
	app.ServiceBusQueue("Session", "sessions", func(ctx context.Context, m functions.ServiceBusMessage) error { return w.work(ctx, m.ID) }, functions.Sessions())
	app.ServiceBusSubscription("Topic", "news", "all", func(ctx context.Context, m functions.ServiceBusMessage) error { return w.work(ctx, m.ID) })
	app.EventGrid("Grid", func(ctx context.Context, e functions.EventGridEvent) error { return w.work(ctx, e.ID) })
	app.EventHubBatch("Hub", "telemetry", func(ctx context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		var keys []string
		for _, e := range events {
			keys = append(keys, e.Text())
		}
		return w.work(ctx, keys...)
	}, retry)
	app.CosmosDB("Cosmos", "db", "items", func(ctx context.Context, documents []functions.CosmosDocument) error {
		var keys []string
		for _, d := range documents {
			keys = append(keys, d.ID())
		}
		return w.work(ctx, keys...)
	}, functions.CreateLeases(), functions.FromBeginning(), retry)
	app.Timer("Tick", "00:17:00", func(ctx context.Context, _ functions.TimerInfo) error { return w.work(ctx, "tick") }, retry)
	options.Handlers, options.Seed, options.Files = app, seed, map[string]string{"host.json": loadHostJSON}
	w.Host = hosttest.New(t, options)
	w.needContainer()
	w.slots = []loadedState{w.save()}
	return w
}

// work is every handler: it takes up to eight minutes, and fails every third time.
func (w *replaced) work(ctx context.Context, keys ...string) error {
	w.keys[functions.FromContext(ctx).ID] = keys
	w.calls[keys[0]]++
	sum := fnv.New64a()
	fmt.Fprint(sum, w.seed, keys[0], w.calls[keys[0]])
	random := rand.New(rand.NewPCG(sum.Sum64(), 2))
	if random.IntN(3) > 0 {
		longest := 8 * time.Minute
		if keys[0] == "tick" {
			longest = 2 * time.Minute
		}
		if err := functions.Sleep(ctx, time.Duration(random.Int64N(int64(longest)))); err != nil {
			return err
		}
	}
	if random.IntN(3) == 0 {
		return errors.New("not this time")
	}
	return nil
}

// needContainer makes the Cosmos DB container, which a reset takes away.
func (w *replaced) needContainer() {
	w.do("create container", func(ctx context.Context) error {
		_, err := w.Services().Cosmos().CreateContainer(ctx, cosmos.ContainerSpec{Database: "db", Name: "items", Ranges: 2})
		if errors.Is(err, bindings.ErrAlreadyExists) {
			return nil
		}
		return err
	})
}

func (w *replaced) do(name string, f func(ctx context.Context) error) {
	w.t.Helper()
	var err error
	w.Clock().Do(name, func() { err = f(context.Background()) })
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
}

// send sends something of a kind.
func (w *replaced) send(kind string) {
	w.sent++
	key := fmt.Sprintf("%s:%d", kind, w.sent)
	w.state.left[key] = true
	session := fmt.Sprint("s", w.random.IntN(2))
	switch kind {
	case "queue":
		w.queued[w.Send("orders", key)] = key
	case "blob":
		w.Upload("docs/"+strings.TrimPrefix(key, "blob:"), key)
	case "bus":
		w.SendServiceBus("bus", &servicebus.Message{MessageID: key})
	case "session":
		w.SendServiceBus("sessions", &servicebus.Message{MessageID: key, SessionID: &session})
	case "topic":
		w.SendServiceBus("news", &servicebus.Message{MessageID: key})
	case "grid":
		w.PublishEvents("shop", fmt.Sprintf(`[{"id":%q,"subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z"}]`, key))
	case "hub":
		w.SendEvents("telemetry", "", key)
	case "cosmos":
		w.needContainer()
		w.WriteCosmos("db", "items", fmt.Sprintf(`{"id":%q}`, key))
	}
}

// save notes the state and its messages.
func (w *replaced) save() loadedState {
	w.follow()
	s := loadedState{left: maps.Clone(w.state.left), poisoned: maps.Clone(w.state.poisoned), tick: w.nextTick()}
	w.do("save", func(context.Context) error {
		var out bytes.Buffer
		err := w.SaveState(&out)
		s.archive = out.Bytes()
		return err
	})
	return s
}

// nextTick is when the timer is due, as its status says.
func (w *replaced) nextTick() time.Time {
	text, ok := w.Download("azure-webjobs-hosts/timers/" + w.ID() + "/Host.Functions.Tick/status")
	var status struct{ Next time.Time }
	if ok && json.Unmarshal([]byte(text), &status) != nil {
		w.t.Fatalf("status of the timer: %s", text)
	}
	return status.Next
}

// load puts a state in the place of the present one; nil empties it.
func (w *replaced) load(s *loadedState) {
	w.follow()
	records := w.Journal().Records()
	w.begun = records[len(records)-1].Seq + 1
	w.tickDue, w.ticking = w.Clock().Now().Add(tickEvery), len(w.busy["Tick"]) > 0
	w.state = loadedState{left: map[string]bool{}, poisoned: map[string]bool{}}
	if s == nil {
		w.do("reset", func(context.Context) error { return w.ResetState() })
		return
	}
	w.state.left, w.state.poisoned = maps.Clone(s.left), maps.Clone(s.poisoned)
	if w.tickDue = s.tick; w.tickDue.Before(w.Clock().Now()) {
		w.tickDue = w.Clock().Now()
	}
	w.do("load", func(context.Context) error {
		_, err := w.LoadState(bytes.NewReader(s.archive))
		return err
	})
}

// final are the decisions after which a message does not come again.
var final = []string{
	string(triggers.Deleted), string(triggers.Poisoned), string(triggers.Completed), string(triggers.DeadLettered), string(triggers.Checkpointed), string(triggers.Recorded),
}

// follow reads the new records. An ended message is not in the state any more, and a
// delivery of the state before has no effect.
func (w *replaced) follow() {
	w.t.Helper()
	records := w.Journal().Records()
	for ; w.read < len(records); w.read++ {
		r := records[w.read]
		switch r.Kind {
		case journal.Received:
			w.busy[r.Function] = append(w.busy[r.Function], r.Delivery)
			w.since[r.Delivery] = r.Seq
			if r.Function == "Grid" {
				w.event[r.MessageID] = r.Seq
			}
			if r.Function == "Tick" && !w.tickDue.IsZero() {
				if !r.Time.Truncate(time.Microsecond).Equal(w.tickDue.Truncate(time.Microsecond)) && (!w.ticking || r.Time.Before(w.tickDue)) {
					w.t.Errorf("seed %d: the first tick of a state came at %v, due at %v", w.seed, r.Time, w.tickDue)
				}
				w.tickDue = time.Time{}
			}
		case journal.AttemptStarted:
			w.last[r.Delivery] = r.Invocation
		case journal.Settled:
			w.busy[r.Function] = slices.DeleteFunc(w.busy[r.Function], func(d string) bool { return d == r.Delivery })
			if !slices.Contains(final, r.Decision) {
				continue
			}
			if w.since[r.Delivery] < w.begun {
				w.t.Errorf("seed %d: delivery %s of %s, received before the state was replaced, was %s: %s", w.seed, r.Delivery, r.Function, r.Decision, r.Message)
			}
			for _, key := range w.keysOf(&r) {
				delete(w.state.left, key)
				if r.Function == "Queue" && r.Decision == string(triggers.Poisoned) {
					w.state.poisoned[key] = true
				}
			}
		case journal.EventAttempted:
			if r.Status == string(eventgrid.Delivered) {
				if w.event[r.MessageID] < w.begun {
					w.t.Errorf("seed %d: event %s was delivered by a request from before the state was replaced", w.seed, r.MessageID)
				}
				delete(w.state.left, r.MessageID)
			}
		case journal.EventDropped:
			delete(w.state.left, r.MessageID)
		}
	}
}

// keysOf are the keys of a delivery's messages.
func (w *replaced) keysOf(r *journal.Record) []string {
	switch r.Function {
	case "Queue":
		return []string{w.queued[r.MessageID]}
	case "Blob":
		return []string{"blob:" + strings.TrimPrefix(r.Source, "docs/")}
	case "Hub", "Cosmos":
		return w.keys[w.last[r.Delivery]]
	}
	return []string{r.MessageID}
}

// remaining are the messages that the services still have.
func (w *replaced) remaining() (out []string) {
	w.do("look", func(ctx context.Context) error {
		n, err := w.Services().Storage().Queue("orders").Count(ctx)
		if errors.Is(err, bindings.ErrNotFound) {
			n, err = 0, nil
		}
		if n > 0 {
			out = append(out, fmt.Sprint(n, " queue messages"))
		}
		return err
	})
	for _, path := range []string{"bus", "sessions", "news/Subscriptions/all"} {
		for _, m := range w.ServiceBusMessages(path) {
			out = append(out, path+": "+m.MessageID)
		}
	}
	for _, d := range w.Services().EventGrid().Deliveries("", "") {
		out = append(out, fmt.Sprintf("event grid: %+v", d))
	}
	return out
}

// finish lets all come to its end, and looks whether it did.
func (w *replaced) finish() {
	w.t.Helper()
	for range 40 { // Event Grid's last wait is half a day
		w.Advance(time.Hour)
		if w.follow(); len(w.state.left) == 0 {
			break
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.state.left)) {
		w.t.Errorf("seed %d: %s was in the state and has not come to its end", w.seed, key)
	}
	if left := w.remaining(); len(left) > 0 {
		w.t.Errorf("seed %d: left: %v", w.seed, left)
	}
	poisoned := w.Bodies("orders-poison")
	slices.Sort(poisoned)
	if want := slices.Sorted(maps.Keys(w.state.poisoned)); !slices.Equal(poisoned, want) {
		w.t.Errorf("seed %d: poison queue: %v, want %v", w.seed, poisoned, want)
	}
	if !w.tickDue.IsZero() {
		w.t.Errorf("seed %d: no tick since the state was replaced", w.seed)
	}
}

var loadKinds = []string{"queue", "blob", "bus", "session", "topic", "grid", "hub", "cosmos"}

// However states are saved, loaded and reset while messages of every kind are in work:
// every message and event of the state that is there in the end comes to its end in it,
// timers tick when its status says, and no delivery of a state that was replaced
// settles anything.
func TestStatesReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			options := &hosttest.Options{}
			if seed%3 == 2 {
				options.Set = []string{"wakeUp=faithful"}
			}
			w := newReplaced(t, seed, options)
			for range 60 {
				switch w.random.IntN(14) {
				case 0:
					w.slots = append(w.slots, w.save())
					if w.random.IntN(2) == 0 { // messages in work there are in work here
						w.Advance(time.Duration(w.random.Int64N(int64(20 * time.Second))))
						w.load(&w.slots[len(w.slots)-1])
					}
				case 1:
					w.load(&w.slots[w.random.IntN(len(w.slots))])
				case 2:
					if w.random.IntN(3) == 0 {
						w.load(nil)
					}
				case 3, 4, 5, 6:
					w.Advance(time.Duration(w.random.Int64N(int64(4 * time.Minute))))
				default:
					for range 1 + w.random.IntN(3) {
						w.send(loadKinds[w.random.IntN(len(loadKinds))])
					}
				}
				w.follow()
			}
			w.finish()
		})
	}
}

// A hub of the loaded state may have more partitions than the hub that was read.
func TestLoadedHubWithMorePartitions(t *testing.T) {
	t.Parallel()
	hub := func(partitions int, app *functions.App) *hosttest.Host {
		return hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
			"host.json": fmt.Sprintf(`{"version":"2.0","redeliver":{"eventHubs":{"hubs":[{"name":"telemetry","partitionCount":%d}]}}}`, partitions),
		}})
	}
	from := hub(5, functions.New())
	want := []string{}
	for i := range 10 {
		want = append(want, fmt.Sprint(i))
		from.SendEvents("telemetry", "", fmt.Sprint(i))
	}
	var saved bytes.Buffer
	if err := from.SaveState(&saved); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	app := functions.New()
	app.EventHub("Read", "telemetry", func(_ context.Context, e functions.EventHubEvent) error {
		got = append(got, e.Text())
		return nil
	})
	h := hub(2, app)
	if _, err := h.LoadState(&saved); err != nil {
		t.Fatal(err)
	}
	h.Advance(time.Second)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}
