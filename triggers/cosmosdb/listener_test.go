package cosmosdb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
	"github.com/redeliver/redeliver/triggers/triggertest"
)

func TestListener(t *testing.T) {
	t.Parallel()
	triggertest.RunListener(t, func(t *testing.T, clk *clock.Virtual) *triggertest.Source {
		account := cosmos.New(clk, nil)
		place := func(name string) cosmosdb.Place {
			return cosmosdb.Place{Account: account, Database: "shop", Container: name}
		}
		var feed cosmosapi.Container
		clk.Do("create", func() {
			var err error
			if feed, err = account.CreateContainer(context.Background(), cosmosapi.ContainerSpec{Database: "shop", Name: "orders"}); err != nil {
				t.Error(err)
			}
		})
		number := 0
		return &triggertest.Source{
			Listener: cosmosdb.New(clk, place("orders"), place("leases"), &cosmosdb.Options{
				CreateLeaseContainer: true, StartFromBeginning: true, MaxItems: 1, WakeUp: true,
			}),
			OneAtATime: true,
			Deliver: func(n int) {
				clk.Do("write", func() {
					for range n {
						number++
						if _, err := feed.Create(context.Background(), fmt.Appendf(nil, `{"id":"%d"}`, number)); err != nil {
							t.Error(err)
						}
					}
				})
			},
		}
	})
}

// The lease moves on, whether the function succeeded or failed (spec messaging 0 rule
// 7, 7).
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]func(context.Context, *triggers.Event) triggers.Result{"success": nil, "failure": fail} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			i := b.run(&cosmosdb.Options{StartFromBeginning: true, MaxItems: 2, Owner: "host-1"}, handle)
			b.put("a", "b", "c")
			b.clk.Advance(5 * time.Second)
			if diff := cmp.Diff([]string{"a,b", "c"}, i.batches()); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]triggers.Decision{triggers.Checkpointed, triggers.Checkpointed}, i.decisions()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if l := b.lease("0"); l["ContinuationToken"] != `"3"` || l["Owner"] != "host-1" {
				t.Errorf("lease %v", l)
			}
			i.end()
			if l := b.lease("0"); l["ContinuationToken"] != `"3"` || l["Owner"] != nil {
				t.Errorf("after the stop: lease %v", l)
			}
		})
	}
}

// A transaction is not taken apart.
func TestTransactionExceedsMaxItems(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	b.do(func(ctx context.Context) error {
		feed, err := b.account.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "lines", PartitionKey: "/order"})
		if err != nil {
			return err
		}
		_, err = feed.Upsert(ctx, []byte(`{"id":"1","order":"7"}`), []byte(`{"id":"2","order":"7"}`), []byte(`{"id":"3","order":"7"}`))
		if err == nil {
			_, err = feed.Upsert(ctx, []byte(`{"id":"4","order":"7"}`))
		}
		return err
	})
	sink := triggertest.NewSink(b.clk, nil)
	l := cosmosdb.New(b.clk, b.place("lines"), b.place("leases"), &cosmosdb.Options{StartFromBeginning: true, MaxItems: 2})
	i := &instance{b: b, sink: sink}
	b.clk.Do("start", func() {
		var ctx context.Context
		ctx, i.stop = b.clk.WithCancel(context.Background())
		b.group.Go("listener", func() { i.err = l.Run(ctx, sink); i.done = true })
	})
	if diff := cmp.Diff([]string{"1,2,3", "4"}, i.batches()); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	i.end()
}

// The feed is polled after the delay; nobody waits for that.
func TestFeedPollDelay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		opts  cosmosdb.Options
		after time.Duration
	}{
		{"default", cosmosdb.Options{}, 5 * time.Second},
		{"set", cosmosdb.Options{FeedPollDelay: 250 * time.Millisecond}, 250 * time.Millisecond},
		{"woken", cosmosdb.Options{WakeUp: true}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			i := b.run(&test.opts, nil)
			b.put("a")
			if moved := b.clk.Run(time.Hour); moved != 0 {
				t.Errorf("time jumped by %v for a poll", moved)
			}
			if test.after > 0 {
				b.clk.Advance(test.after - time.Millisecond)
				if got := i.batches(); len(got) != 0 {
					t.Errorf("before the delay: %q", got)
				}
				b.clk.Advance(time.Millisecond)
			}
			if diff := cmp.Diff([]string{"a"}, i.batches()); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
		})
	}
}

// Where a range begins that has no lease yet, and that it does not matter later.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		opts cosmosdb.Options
		want []string
	}{
		{"now", cosmosdb.Options{}, []string{"later"}},
		{"beginning", cosmosdb.Options{StartFromBeginning: true}, []string{"old,middle", "later"}},
		{"time", cosmosdb.Options{StartTime: start.Add(time.Minute)}, []string{"middle", "later"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.put("old")
			b.clk.Advance(2 * time.Minute)
			b.put("middle")
			i := b.run(&test.opts, nil)
			b.clk.Advance(time.Second)
			b.put("later")
			b.clk.Advance(5 * time.Second)
			if diff := cmp.Diff(test.want, i.batches()); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
			i.end()
			b.put("while down")
			again := b.run(&cosmosdb.Options{StartFromBeginning: true}, nil)
			if diff := cmp.Diff([]string{"while down"}, again.batches()); diff != "" {
				t.Errorf("with the lease (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("now without a change", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1)
		b.put("old")
		b.run(nil, nil).end()
		b.put("while down")
		again := b.run(&cosmosdb.Options{StartFromBeginning: true}, nil)
		if diff := cmp.Diff([]string{"while down"}, again.batches()); diff != "" {
			t.Errorf("with the lease (-want +got):\n%s", diff)
		}
	})
}

// A stop in the middle of a batch is not checkpointed, whatever the function said;
// a drain is.
func TestStopInBatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		drain bool
		err   error
		want  triggers.Decision
		then  []string
	}{
		{"stop, success", false, nil, triggers.NotCheckpointed, []string{"a"}},
		{"stop, failure", false, errors.New("out of stock"), triggers.NotCheckpointed, []string{"a"}},
		{"drain, success", true, nil, triggers.Checkpointed, []string{}},
		{"drain, failure", true, errors.New("out of stock"), triggers.Checkpointed, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.put("a")
			cancelled := false
			i := b.run(&cosmosdb.Options{StartFromBeginning: true}, func(ctx context.Context, _ *triggers.Event) triggers.Result {
				_ = b.clk.Sleep(context.WithoutCancel(ctx), time.Minute)
				cancelled = ctx.Err() != nil
				return triggers.Result{Err: test.err, Attempts: 1}
			})
			b.clk.Advance(time.Second)
			if test.drain {
				b.clk.Do("drain", i.sink.Drain)
			}
			i.end()
			if cancelled == test.drain {
				t.Errorf("token cancelled: %v", cancelled)
			}
			if diff := cmp.Diff([]triggers.Decision{test.want}, i.decisions()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			again := b.run(&cosmosdb.Options{StartFromBeginning: true}, nil)
			if diff := cmp.Diff(test.then, again.batches()); diff != "" {
				t.Errorf("after the restart (-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing of the feed is lost when the lease cannot be written for a while.
func TestCheckpointUnavailable(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1)
	i := b.run(&cosmosdb.Options{WakeUp: true}, func(context.Context, *triggers.Event) triggers.Result {
		b.faults = func(p cosmos.FaultPoint) error {
			if p.Op == "Replace" && !p.After {
				b.faults = nil
				return bindings.ErrUnavailable
			}
			return nil
		}
		return triggers.Result{Attempts: 1}
	})
	b.put("a")
	if got := i.sink.Settlements(); len(got) != 1 || got[0].Settlement.Decision != triggers.NotCheckpointed || !errors.Is(got[0].Settlement.Err, bindings.ErrUnavailable) {
		t.Fatalf("settlements %+v", got)
	}
	i.b.clk.Advance(5 * time.Second)
	if got := i.batches(); len(got) != 2 || got[1] != "a" {
		t.Errorf("batches %q, want the same again", got)
	}
}

// A missing container is an error that names both, and passes.
func TestMissingContainer(t *testing.T) {
	t.Parallel()
	for name, missing := range map[string]string{"monitored": "orders", "leases": "leases"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1)
			b.do(func(ctx context.Context) error { return b.account.DeleteContainer(ctx, "shop", missing) })
			i := b.run(nil, nil)
			var start *cosmosdb.StartError
			if !i.done || !errors.As(i.err, &start) || !errors.Is(i.err, bindings.ErrNotFound) {
				t.Fatalf("ended %v: %v", i.done, i.err)
			}
			for _, name := range []string{"invalid operation", `"shop"`, `"orders"`, `"leases"`, "does not exist", "createLeaseContainerIfNotExists"} {
				if !strings.Contains(i.err.Error(), name) {
					t.Errorf("%v does not name %s", i.err, name)
				}
			}
		})
	}
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1)
		i := b.run(nil, nil)
		b.do(func(ctx context.Context) error { return b.account.DeleteContainer(ctx, "shop", "orders") })
		b.clk.Advance(5 * time.Second)
		if !i.done || !errors.Is(i.err, bindings.ErrNotFound) {
			t.Errorf("ended %v: %v", i.done, i.err)
		}
	})
	t.Run("leases made", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, 1)
		b.do(func(ctx context.Context) error { return b.account.DeleteContainer(ctx, "shop", "leases") })
		i := b.run(&cosmosdb.Options{CreateLeaseContainer: true, WakeUp: true}, nil)
		b.put("a")
		if got := i.batches(); len(got) != 1 {
			t.Errorf("batches %q", got)
		}
		b.do(func(ctx context.Context) error {
			c, err := b.account.Container(ctx, "shop", "leases")
			if err == nil && c.Info().PartitionKey != "/id" {
				t.Errorf("partition key %q", c.Info().PartitionKey)
			}
			return err
		})
	})
}
