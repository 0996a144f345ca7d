package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	broker "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/servicebus"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

var start = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

var errHandler = errors.New("handler failed")

type handler = func(ctx context.Context, ev *triggers.Event) triggers.Result

// bench is one listener on one queue of a namespace, on a virtual clock.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	ns      *broker.Namespace
	sink    *triggertest.Sink
	cancel  context.CancelFunc
	err     error
	ended   bool
	records []string // "1m0s kind status target"
	faults  func(broker.FaultPoint) error
	wrap    func(servicebusapi.Namespace) servicebusapi.Namespace // when set: the namespace as the listener sees it
}

func newBench(t *testing.T, q servicebusapi.Queue) *bench {
	t.Helper()
	b := &bench{T: t, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	b.ns = broker.New(b.clk, &broker.Options{
		Record: func(r journal.Record) {
			b.records = append(b.records, fmt.Sprintf("%s %s %s", b.clk.Now().Sub(start), r.Kind, r.Source))
		},
		Fault: func(p broker.FaultPoint) error {
			if b.faults != nil {
				return b.faults(p)
			}
			return nil
		},
	})
	q.Name = "orders"
	b.do(func(ctx context.Context) error { _, err := b.ns.CreateQueue(ctx, q); return err })
	return b
}

func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	b.clk.Do("test", func() {
		if err := f(context.Background()); err != nil {
			b.Error(err)
		}
	})
}

func (b *bench) send(bodies ...string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		for _, body := range bodies {
			if err := b.ns.Send(ctx, "orders", &servicebusapi.Message{Body: []byte(body), MessageID: "id-" + body}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) sendTo(session string, bodies ...string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		for _, body := range bodies {
			if err := b.ns.Send(ctx, "orders", &servicebusapi.Message{Body: []byte(body), SessionID: &session}); err != nil {
				return err
			}
		}
		return nil
	})
}

// start runs a listener until the end of the test.
func (b *bench) start(opts *servicebus.Options, handle handler) { b.startOn("orders", opts, handle) }

func (b *bench) startOn(source string, opts *servicebus.Options, handle handler) {
	b.sink = triggertest.NewSink(b.clk, handle)
	ns := servicebusapi.Namespace(b.ns)
	if b.wrap != nil {
		ns = b.wrap(ns)
	}
	if opts != nil && opts.DataType == "" && opts.Batch { // these bodies are text
		opts.DataType = "string"
	}
	l := servicebus.New(b.clk, ns, source, opts)
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, b.cancel = b.clk.WithCancel(context.Background())
		clock.NewGroup(b.clk, 0).Go("listener", func() {
			b.err = l.Run(ctx, b.sink)
			b.ended = true
		})
	})
	b.Cleanup(b.stop)
}

func (b *bench) stop() {
	b.clk.Do("stop", b.cancel)
	if !b.ended || b.err != nil {
		b.Errorf("after the stop: ended %v, error %v; waiting: %+v", b.ended, b.err, b.clk.Waiting())
	}
}

func (b *bench) counts() servicebusapi.Counts {
	var out servicebusapi.Counts
	b.do(func(ctx context.Context) error {
		info, err := b.ns.GetQueue(ctx, "orders")
		if err == nil {
			out = info.Counts
		}
		return err
	})
	return out
}

func (b *bench) decisions() (out []triggers.Decision) {
	for _, s := range b.sink.Settlements() {
		out = append(out, s.Settlement.Decision)
	}
	return out
}

// seen are the first bodies of the deliveries handled, with their counts.
func (b *bench) seen() (out []string) {
	for _, ev := range b.sink.Handled() {
		out = append(out, fmt.Sprintf("%s/%d", ev.Messages[0].Value.Text, ev.DeliveryCount))
	}
	return out
}

func succeed(context.Context, *triggers.Event) triggers.Result { return triggers.Result{Attempts: 1} }

func fail(context.Context, *triggers.Event) triggers.Result {
	return triggers.Result{Err: errHandler, Attempts: 1}
}

// after is a handler that takes its time, as its retries would.
func (b *bench) after(d time.Duration, then handler) handler {
	return func(ctx context.Context, ev *triggers.Event) triggers.Result {
		if err := b.clk.Sleep(ctx, d); err != nil {
			return triggers.Result{Err: err, Attempts: 1, Cancelled: true}
		}
		return then(ctx, ev)
	}
}
