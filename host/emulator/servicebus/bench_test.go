package servicebus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// bench is a namespace on a virtual clock with its records.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	ns      *servicebus.Namespace
	group   *clock.Group
	records []string
}

func newBench(t *testing.T, opts servicebus.Options) *bench {
	b := &bench{T: t, clk: newVirtual()}
	if opts.Record == nil {
		opts.Record = func(r journal.Record) {
			r.Time = b.clk.Now()
			line := fmt.Sprintf("%v %s %s %s %d", b.clk.Now().Sub(start), r.Kind, r.Source, r.MessageID, r.DeliveryCount)
			for _, s := range []string{r.Status, r.Decision, r.Target, r.Cause} {
				if s != "" {
					line += " " + s
				}
			}
			b.records = append(b.records, line)
		}
	}
	b.ns = servicebus.New(b.clk, &opts)
	b.group = clock.NewGroup(b.clk, 0)
	return b
}

// do runs f on the clock; its error fails the test.
func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	var err error
	b.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		b.Fatalf("at %v: %v", b.clk.Now().Sub(start), err)
	}
}

func (b *bench) queue(q servicebusapi.Queue) {
	b.Helper()
	b.do(func(ctx context.Context) error { _, err := b.ns.CreateQueue(ctx, q); return err })
}

func (b *bench) send(entity string, ids ...string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		for _, id := range ids {
			if err := b.ns.Send(ctx, entity, &servicebusapi.Message{MessageID: id}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) receiver(source string, opts *servicebusapi.ReceiverOptions) (r servicebusapi.Receiver) {
	b.Helper()
	b.do(func(ctx context.Context) (err error) { r, err = b.ns.Receiver(ctx, source, opts); return err })
	return r
}

func (b *bench) receive(r servicebusapi.Receiver, n int) (ms []*servicebusapi.Received) {
	b.Helper()
	b.do(func(ctx context.Context) (err error) { ms, err = r.Receive(ctx, n, 0); return err })
	if len(ms) != n {
		b.Fatalf("Receive = %d messages, want %d", len(ms), n)
	}
	return ms
}

// wait is a call that waits, in a goroutine of the clock.
type wait struct {
	ms   []*servicebusapi.Received
	err  error
	done bool
	at   time.Duration // when it returned
}

// start starts a call; check reads what has come of it.
func (b *bench) start(ctx context.Context, f func(ctx context.Context) ([]*servicebusapi.Received, error)) *wait {
	w := &wait{}
	b.clk.Do("start", func() {
		b.group.Go("waits", func() {
			w.ms, w.err = f(ctx)
			w.done, w.at = true, b.clk.Now().Sub(start)
		})
	})
	return w
}

func (b *bench) waitFor(r servicebusapi.Receiver, n int) *wait {
	return b.start(context.Background(), func(ctx context.Context) ([]*servicebusapi.Received, error) {
		return r.Receive(ctx, n, messaging.Forever)
	})
}
