package eventhubs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/clock"
	broker "github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventhubs"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var errHandler = errors.New("handler failed")

// world is a hub "Orders" and a storage account, on one clock.
type world struct {
	*testing.T
	clk     *clock.Virtual
	ns      *broker.Namespace
	storage *storage.Storage

	// fault, if set, decides on blob calls.
	fault func(storage.FaultPoint) error
}

func newWorld(t *testing.T, partitions int) *world {
	w := &world{T: t, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	w.ns = broker.New(w.clk, &broker.Options{Name: "Contoso.local"})
	w.storage = storage.New(w.clk, &storage.Options{Fault: func(p storage.FaultPoint) error {
		if w.fault != nil {
			return w.fault(p)
		}
		return nil
	}})
	w.do(func(ctx context.Context) error {
		return w.ns.CreateHub(ctx, broker.Hub{Name: "Orders", Partitions: partitions})
	})
	return w
}

func (w *world) do(f func(ctx context.Context) error) {
	w.Helper()
	var err error
	w.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		w.Fatal(err)
	}
}

// send sends events with these bodies to a partition.
func (w *world) send(partition int, bodies ...string) {
	w.Helper()
	w.do(func(ctx context.Context) error {
		var events []*eventhubsapi.Event
		for _, body := range bodies {
			events = append(events, &eventhubsapi.Event{Body: []byte(body)})
		}
		return w.ns.SendEvents(ctx, "orders", &eventhubsapi.SendOptions{PartitionID: fmt.Sprint(partition)}, events...)
	})
}

func (w *world) container() blob.Container { return w.storage.Container(eventhubs.Container) }

// metadata of a blob of the checkpoint store; nil when there is no such blob.
func (w *world) metadata(name string) (m map[string]string) {
	w.Helper()
	w.do(func(ctx context.Context) error {
		p, err := w.container().Blob(name).Properties(ctx, nil)
		if errors.Is(err, bindings.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.ContentLength != 0 {
			w.Errorf("blob %q has content", name)
		}
		m = p.Metadata
		return nil
	})
	return m
}

const (
	checkpoints = "contoso.local/orders/$default/checkpoint/"
	ownerships  = "contoso.local/orders/$default/ownership/"
)

// sequence is the sequence number in the checkpoint of a partition.
func (w *world) sequence(partition int) string {
	w.Helper()
	return w.metadata(checkpoints + fmt.Sprint(partition))["sequencenumber"]
}

// owners are the owners of all partitions.
func (w *world) owners(partitions int) string {
	w.Helper()
	var out []string
	for i := range partitions {
		out = append(out, w.metadata(ownerships + fmt.Sprint(i))["ownerid"])
	}
	return strings.Join(out, " ")
}

// running is a listener at work.
type running struct {
	*triggertest.Sink
	w      *world
	cancel context.CancelFunc
	ended  bool
	err    error
}

// listen runs a listener; its handler is told of each delivery in one line.
func (w *world) listen(opts *eventhubs.Options, handle func(ctx context.Context, ev *triggers.Event) error) *running {
	w.Helper()
	if opts != nil && opts.DataType == "" && opts.Batch { // these bodies are text
		opts.DataType = "string"
	}
	l := eventhubs.New(w.clk, w.ns, "Orders", w.container(), opts)
	r := &running{w: w}
	r.Sink = triggertest.NewSink(w.clk, func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if handle == nil {
			return triggers.Result{Attempts: 1}
		}
		return triggers.Result{Err: handle(ctx, ev), Attempts: 1}
	})
	w.clk.Do("start", func() {
		var ctx context.Context
		ctx, r.cancel = w.clk.WithCancel(context.Background())
		clock.NewGroup(w.clk, 0).Go("listener", func() {
			r.err = l.Run(ctx, r.Sink)
			r.ended = true
		})
	})
	w.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	r.w.clk.Do("stop", r.cancel)
	if !r.ended {
		r.w.Error("the listener has not ended")
	}
}

// handled are the deliveries of the listener: for each the partition and the
// bodies.
func (r *running) handled() (out []string) {
	for _, ev := range r.Handled() {
		line := ev.Source[strings.LastIndex(ev.Source, "/")+1:] + ":"
		for _, m := range ev.Messages {
			line += " " + m.Value.Text
		}
		out = append(out, line)
	}
	return out
}

// decisions are the decisions of all settlements, in order.
func (r *running) decisions() (out []string) {
	for _, s := range r.Settlements() {
		out = append(out, string(s.Settlement.Decision))
	}
	return out
}
