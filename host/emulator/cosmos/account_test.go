package cosmos_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/store"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // read only

func TestContract(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunCosmos(t, func(t *testing.T) *bindingtest.CosmosBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			return &bindingtest.CosmosBackend{Account: cosmos.New(clk, nil), Do: func(f func()) { clk.Do("test", f) }}
		})
	})
	t.Run("store", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunCosmos(t, func(t *testing.T) *bindingtest.CosmosBackend {
			clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
			account, err := cosmos.Open(clk, memory(t, nil), nil)
			if err != nil {
				t.Fatal(err)
			}
			return &bindingtest.CosmosBackend{Account: account, Do: func(f func()) { clk.Do("test", f) }}
		})
	})
}

func memory(t *testing.T, opts *store.Options) *store.Store {
	t.Helper()
	db, err := store.OpenMemory(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// describe is everything that can be seen of an account.
func describe(ctx context.Context, a *cosmos.Account) (out []string, err error) {
	containers, err := a.Containers(ctx)
	if err != nil {
		return nil, err
	}
	for _, status := range containers {
		out = append(out, fmt.Sprintf("%+v", status))
		c, err := a.Container(ctx, status.Database, status.Name)
		if err != nil {
			return nil, err
		}
		ranges, err := c.Ranges(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			page, err := c.Changes(ctx, r.ID, cosmosapi.Position{}, 1000)
			if err != nil {
				return nil, err
			}
			now, err := c.Changes(ctx, r.ID, cosmosapi.Position{Now: true}, 0)
			if err != nil {
				return nil, err
			}
			for _, item := range page.Items {
				out = append(out, fmt.Sprintf("%s %s %v", r.ID, item.Body, item.Modified))
			}
			out = append(out, r.ID+" ends at "+now.Continuation)
		}
	}
	return out, nil
}

// fill makes two containers with documents that were changed and deleted.
func fill(ctx context.Context, a *cosmos.Account) error {
	for _, name := range []string{"orders", "invoices"} {
		c, err := a.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: name, Ranges: 3, PartitionKey: "/k"})
		if err != nil {
			return err
		}
		for i := range 30 {
			if _, err := c.Upsert(ctx, fmt.Appendf(nil, `{"id":"%d","k":%d,"t":"<&>"}`, i%20, i%4)); err != nil {
				return err
			}
		}
		if _, err := c.Upsert(ctx, []byte(`{"id":"x","k":"t"}`), []byte(`{"id":"b","k":"t"}`), []byte(`{"id":"a","k":"t"}`)); err != nil {
			return err
		}
		if err := c.Delete(ctx, "1", "1", ""); err != nil {
			return err
		}
	}
	return nil
}

// Written documents are there after a restart, feeds and their ends included.
func TestDurable(t *testing.T) {
	t.Parallel()
	db := memory(t, nil)
	var before, after []string
	for _, seen := range []*[]string{&before, &after} {
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
		a, err := cosmos.Open(clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("test", func() {
			if before == nil {
				err = fill(context.Background(), a)
			}
			if err == nil {
				*seen, err = describe(context.Background(), a)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(before) < 40 {
		t.Fatalf("seen %q", before)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("after the restart (-before +after):\n%s", diff)
	}
	if last, err := cosmos.Keys.LastTime(db); err != nil || !last.Equal(start) {
		t.Errorf("last change %v, %v", last, err)
	}
}

// A write that fails has not happened, and the account goes on.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	db := memory(t, &store.Options{Fault: func(op store.FileOp, _ string) error {
		if full.Load() && op == store.OpWrite {
			return syscall.ENOSPC
		}
		return nil
	}})
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	a, err := cosmos.Open(clk, db, nil)
	if err != nil {
		t.Fatal(err)
	}
	clk.Do("test", func() {
		ctx := context.Background()
		if err = fill(ctx, a); err != nil {
			return
		}
		before, _ := describe(ctx, a)
		c, _ := a.Container(ctx, "shop", "orders")
		full.Store(true)
		if _, err := c.Upsert(ctx, []byte(`{"id":"new"}`)); !errors.Is(err, bindings.ErrUnavailable) {
			t.Errorf("on a full disk: %v", err)
		}
		full.Store(false)
		after, err := describe(ctx, a)
		if err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(after, func(s string) bool { return strings.Contains(s, `"new"`) }) {
			after = nil
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("after the failure (-before +after):\n%s", diff)
		}
		if _, err := c.Upsert(ctx, []byte(`{"id":"new"}`)); err != nil {
			t.Errorf("on the disk with room again: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A container that is made again is another one for holders of the first.
func TestContainerMadeAgain(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	a := cosmos.New(clk, nil)
	clk.Do("test", func() {
		ctx, spec := context.Background(), cosmosapi.ContainerSpec{Database: "shop", Name: "orders"}
		first, err := a.CreateContainer(ctx, spec)
		if err != nil {
			t.Error(err)
			return
		}
		if err := a.DeleteContainer(ctx, "shop", "orders"); err != nil {
			t.Error(err)
		}
		second, err := a.CreateContainer(ctx, spec)
		if err != nil {
			t.Error(err)
			return
		}
		if first.Info().RID == second.Info().RID || first.Info().DatabaseRID != second.Info().DatabaseRID {
			t.Errorf("first %+v, second %+v", first.Info(), second.Info())
		}
		if _, err := first.Upsert(ctx, []byte(`{"id":"a"}`)); !errors.Is(err, bindings.ErrNotFound) {
			t.Errorf("write to the first: %v", err)
		}
	})
}

// A watcher of a range is told of its changes, and of no others.
func TestWatch(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	a := cosmos.New(clk, nil)
	clk.Do("test", func() {
		ctx := context.Background()
		c, err := a.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders", Ranges: 2})
		if err != nil {
			t.Error(err)
			return
		}
		told := 0
		stop := c.(cosmosapi.Watcher).Watch("0", func() { told++ })
		for i := range 50 {
			if _, err := c.Upsert(ctx, fmt.Appendf(nil, `{"id":"%d"}`, i)); err != nil {
				t.Error(err)
			}
		}
		page, err := c.Changes(ctx, "0", cosmosapi.Position{}, 100)
		if err != nil || told != len(page.Items) || told == 0 || told == 50 {
			t.Errorf("told %d times of %d changes, %v", told, len(page.Items), err)
		}
		stop()
		before := told
		for i := range 50 {
			if _, err := c.Upsert(ctx, fmt.Appendf(nil, `{"id":"%d"}`, i)); err != nil {
				t.Error(err)
			}
		}
		if told != before {
			t.Error("told after the stop")
		}
	})
}

// A document that is written twice in one transaction has one place in the feed, the
// same before and after a restart.
func TestFeedOfATransaction(t *testing.T) {
	t.Parallel()
	db := memory(t, nil)
	var orders [2][]string
	for i := range orders {
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
		a, err := cosmos.Open(clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("test", func() {
			ctx := context.Background()
			if i == 0 {
				if _, err = a.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders", PartitionKey: "/k"}); err != nil {
					return
				}
			}
			c, err2 := a.Container(ctx, "shop", "orders")
			if err = err2; err != nil {
				return
			}
			if i == 0 {
				if _, err = c.Upsert(ctx, []byte(`{"id":"1","k":"k"}`), []byte(`{"id":"2","k":"k"}`), []byte(`{"id":"1","k":"k","n":2}`)); err != nil {
					return
				}
			}
			page, err2 := c.Changes(ctx, "0", cosmosapi.Position{}, 100)
			err = err2
			for _, item := range page.Items {
				orders[i] = append(orders[i], string(item.Body))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(orders[0], orders[1]); diff != "" || len(orders[0]) != 2 {
		t.Errorf("the feed after a restart (-before +after):\n%s", diff)
	}
}
