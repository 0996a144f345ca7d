package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/queue"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

var (
	start      = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	errHandler = errors.New("handler failed")
)

type handler = func(ctx context.Context, ev *triggers.Event) triggers.Result

func succeed(context.Context, *triggers.Event) triggers.Result { return triggers.Result{Attempts: 1} }

func fail(context.Context, *triggers.Event) triggers.Result {
	return triggers.Result{Err: errHandler, Attempts: 1}
}

// bench is a listener on an embedded account and a virtual clock.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	account *storage.Storage
	sink    *triggertest.Sink
	name    string
	cancel  context.CancelFunc
	ended   bool
	err     error

	records []string                              // of the service: "time kind"
	fault   func(p storage.FaultPoint) error      // nil: none
	wrap    func(q queueapi.Queue) queueapi.Queue // of the listener's queue
}

func newBench(t *testing.T, name string) *bench {
	b := &bench{T: t, name: name, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	b.account = storage.New(b.clk, &storage.Options{
		Record: func(r journal.Record) {
			b.records = append(b.records, fmt.Sprintf("%v %s %s", b.elapsed(), r.Kind, r.Source))
		},
		Fault: func(p storage.FaultPoint) error {
			if b.fault == nil {
				return nil
			}
			return b.fault(p)
		},
	})
	b.do(func(ctx context.Context, q queueapi.Queue) {
		if err := q.Create(ctx); err != nil {
			t.Fatal(err)
		}
	})
	return b
}

func (b *bench) elapsed() time.Duration { return b.clk.Now().Sub(start) }

func (b *bench) do(f func(ctx context.Context, q queueapi.Queue)) {
	b.clk.Do("test", func() { f(context.Background(), b.account.Queue(b.name)) })
}

func (b *bench) put(texts ...string) {
	b.do(func(ctx context.Context, q queueapi.Queue) {
		for _, text := range texts {
			if _, err := q.Put(ctx, text, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// wrapped is an account whose queues are wrapped.
type wrapped struct {
	queueapi.Account
	wrap func(q queueapi.Queue) queueapi.Queue
}

func (w wrapped) Queue(name string) queueapi.Queue { return w.wrap(w.Account.Queue(name)) }

// start runs a listener; the test's end stops it.
func (b *bench) start(opts *queue.Options, h handler) {
	var account queueapi.Account = b.account
	if b.wrap != nil {
		account = wrapped{b.account, b.wrap}
	}
	b.sink = triggertest.NewSink(b.clk, h)
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, b.cancel = b.clk.WithCancel(context.Background())
		clock.NewGroup(b.clk, 0).Go("listener", func() {
			o := queue.Options{}
			if opts != nil {
				o = *opts
			}
			o.Renewed = func(*queueapi.Message) {
				b.records = append(b.records, fmt.Sprintf("%v lock_renewed %s", b.elapsed(), b.name))
			}
			b.err = queue.New(b.clk, account, b.name, &o).Run(ctx, b.sink)
			b.ended = true
		})
	})
	b.Cleanup(func() {
		b.stop()
		b.clk.Advance(24 * time.Hour)
		if !b.ended {
			b.Errorf("the listener did not end: %+v", b.clk.Waiting())
		}
	})
}

func (b *bench) stop() { b.clk.Do("stop", b.cancel) }

// decisions are the settlements so far, in order.
func (b *bench) decisions() (out []triggers.Decision) {
	for _, s := range b.sink.Settlements() {
		out = append(out, s.Settlement.Decision)
	}
	return out
}

// counts are the delivery counts of all deliveries that reached the function.
func (b *bench) counts() (out []int64) {
	for _, ev := range b.sink.Handled() {
		out = append(out, ev.DeliveryCount)
	}
	return out
}

// last is the latest settlement.
func (b *bench) last() triggers.Settlement {
	b.Helper()
	all := b.sink.Settlements()
	if len(all) == 0 {
		b.Fatal("nothing was settled")
	}
	return all[len(all)-1].Settlement
}

// only is the ID of the only message of a queue.
func (b *bench) only(name string) string {
	b.Helper()
	all := b.visible(name)
	if len(all) != 1 {
		b.Fatalf("queue %q holds %d messages, want one", name, len(all))
	}
	return all[0].ID
}

// visible are the messages of a queue that can be seen; none if it does not
// exist.
func (b *bench) visible(name string) (out []*queueapi.Message) {
	b.do(func(ctx context.Context, _ queueapi.Queue) {
		out, _ = b.account.Queue(name).Peek(ctx, queueapi.MaxReceive)
	})
	return out
}

// count is the number of messages of the source queue, hidden ones included.
func (b *bench) count() (n int) {
	b.do(func(ctx context.Context, q queueapi.Queue) {
		var err error
		if n, err = q.Count(ctx); err != nil {
			b.Error(err)
		}
	})
	return n
}

// texts are the raw texts of messages.
func texts(ms []*queueapi.Message) (out []string) {
	for _, m := range ms {
		out = append(out, m.Text)
	}
	return out
}
