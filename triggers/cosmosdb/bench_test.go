package cosmosdb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // read only

// bench is an account with a monitored container and a container of leases.
type bench struct {
	*testing.T
	clk     *clock.Virtual
	account *cosmos.Account
	feed    cosmosapi.Container
	group   *clock.Group
	faults  func(cosmos.FaultPoint) error
}

func newBench(t *testing.T, ranges int) *bench {
	t.Helper()
	b := &bench{T: t, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	b.account = cosmos.New(b.clk, &cosmos.Options{Fault: func(p cosmos.FaultPoint) error {
		if b.faults == nil {
			return nil
		}
		return b.faults(p)
	}})
	b.group = clock.NewGroup(b.clk, 0)
	b.do(func(ctx context.Context) (err error) {
		b.feed, err = b.account.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders", Ranges: ranges})
		if err == nil {
			_, err = b.account.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "leases"})
		}
		return err
	})
	return b
}

// do runs f inside the clock; its failure is the test's.
func (b *bench) do(f func(ctx context.Context) error) {
	b.Helper()
	var err error
	b.clk.Do("test", func() { err = f(context.Background()) })
	if err != nil {
		b.Fatal(err)
	}
}

// put writes documents with these identifiers, one after the other.
func (b *bench) put(ids ...string) {
	b.Helper()
	b.do(func(ctx context.Context) error {
		for _, id := range ids {
			if _, err := b.feed.Upsert(ctx, fmt.Appendf(nil, `{"id":%q}`, id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// instance is a listener at work.
type instance struct {
	b    *bench
	sink *triggertest.Sink
	stop context.CancelFunc
	done bool
	err  error
}

func (b *bench) place(container string) cosmosdb.Place {
	return cosmosdb.Place{Account: b.account, Database: "shop", Container: container}
}

// run starts a listener.
func (b *bench) run(opts *cosmosdb.Options, handle func(ctx context.Context, ev *triggers.Event) triggers.Result) *instance {
	b.Helper()
	i := &instance{b: b, sink: triggertest.NewSink(b.clk, handle)}
	l := cosmosdb.New(b.clk, b.place("orders"), b.place("leases"), opts)
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, i.stop = b.clk.WithCancel(context.Background())
		b.group.Go("listener", func() {
			i.err = l.Run(ctx, i.sink)
			i.done = true
		})
	})
	b.Cleanup(func() { i.end() })
	return i
}

// end stops the listener, in the normal way, and waits for it.
func (i *instance) end() {
	if !i.done {
		i.b.clk.Do("stop", i.stop)
		i.b.clk.Until(func() bool { return i.done }, time.Hour)
	}
}

// batches are the identifiers of the documents of each delivery.
func (i *instance) batches() []string {
	out := []string{}
	for _, ev := range i.sink.Handled() {
		out = append(out, idsOf(ev))
	}
	return out
}

func idsOf(ev *triggers.Event) string {
	var documents []struct{ ID string }
	if err := json.Unmarshal([]byte(ev.Messages[0].Value.Text), &documents); err != nil {
		return err.Error()
	}
	var ids []string
	for _, d := range documents {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, ",")
}

func (i *instance) decisions() []triggers.Decision {
	out := []triggers.Decision{}
	for _, s := range i.sink.Settlements() {
		out = append(out, s.Settlement.Decision)
	}
	return out
}

// documents are the documents of the lease container by identifier.
func (b *bench) documents() map[string]map[string]any {
	b.Helper()
	out := map[string]map[string]any{}
	b.do(func(ctx context.Context) error {
		c, err := b.account.Container(ctx, "shop", "leases")
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, "")
		for _, item := range items {
			var v map[string]any
			if err := json.Unmarshal(item.Body, &v); err != nil {
				return err
			}
			out[item.ID] = v
		}
		return err
	})
	return out
}

func (b *bench) leaseID(prefix, rangeID string) string {
	return cosmosdb.LeaseID(prefix, "localhost", b.feed.Info(), rangeID)
}

// lease is the lease document of a range.
func (b *bench) lease(rangeID string) map[string]any { return b.documents()[b.leaseID("", rangeID)] }

func fail(context.Context, *triggers.Event) triggers.Result {
	return triggers.Result{Err: errors.New("out of stock"), Attempts: 1}
}
