package cosmos_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
)

// Pending are the items that the feed will show: the latest version of each
// document, without deleted ones.
func TestPending(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	a := cosmos.New(clk, nil)
	clk.Do("test", func() {
		ctx := context.Background()
		c, err := a.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders"})
		if err != nil {
			t.Error(err)
			return
		}
		write := func(id string) {
			if _, err := c.Upsert(ctx, fmt.Appendf(nil, `{"id":%q}`, id)); err != nil {
				t.Error(err)
			}
		}
		for i := range 300 { // more than once through the clearing of old versions
			write(fmt.Sprint(i % 100))
		}
		if err := c.Delete(ctx, "7", `"7"`, ""); err != nil {
			t.Error(err)
		}
		for token, want := range map[string]int{"": 99, `"0"`: 99, `"200"`: 99, `"210"`: 90, `"300"`: 0, `"301"`: 0} {
			got, err := a.Pending(ctx, "shop", "orders", "0", cosmosapi.Position{Continuation: token})
			if err != nil || got != want {
				t.Errorf("after %s: %d pending, %v, want %d", token, got, err, want)
			}
			page, err := c.Changes(ctx, "0", cosmosapi.Position{Continuation: token}, 1000)
			if err != nil || len(page.Items) != want {
				t.Errorf("after %s: the feed shows %d, %v", token, len(page.Items), err)
			}
		}
		if _, err := a.Pending(ctx, "shop", "orders", "0", cosmosapi.Position{Continuation: `"302"`}); !errors.Is(err, bindings.ErrInvalidArgument) {
			t.Errorf("ahead of the feed: %v", err)
		}
		for _, missing := range [][2]string{{"other", "0"}, {"orders", "1"}} {
			if _, err := a.Pending(ctx, "shop", missing[0], missing[1], cosmosapi.Position{}); !errors.Is(err, bindings.ErrNotFound) {
				t.Errorf("%v: %v", missing, err)
			}
		}
		if ranges, err := a.Ranges(ctx, "shop", "orders"); err != nil || len(ranges) != 1 || ranges[0].Items != 99 {
			t.Errorf("ranges %+v, %v", ranges, err)
		}
	})
}

// A purged container is empty, also after a restart; its feed goes on where it was.
func TestPurge(t *testing.T) {
	t.Parallel()
	db := memory(t, nil)
	life := func(f func(ctx context.Context, a *cosmos.Account) error) {
		t.Helper()
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
		a, err := cosmos.Open(clk, db, nil)
		if err == nil {
			clk.Do("test", func() { err = f(context.Background(), a) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	before := ""
	life(func(ctx context.Context, a *cosmos.Account) error {
		if err := fill(ctx, a); err != nil {
			return err
		}
		c, err := a.Container(ctx, "shop", "orders")
		if err != nil {
			return err
		}
		page, err := c.Changes(ctx, "0", cosmosapi.Position{Now: true}, 0)
		if err != nil {
			return err
		}
		before = page.Continuation
		items, err := c.Items(ctx, "")
		if err != nil {
			return err
		}
		if n, err := a.Purge(ctx, "shop", "orders"); err != nil || n != len(items) || n == 0 {
			return fmt.Errorf("removed %d of %d, %w", n, len(items), err)
		}
		_, err = a.Purge(ctx, "shop", "none")
		if !errors.Is(err, bindings.ErrNotFound) {
			return fmt.Errorf("missing container: %w", err)
		}
		return nil
	})
	life(func(ctx context.Context, a *cosmos.Account) error {
		c, err := a.Container(ctx, "shop", "orders")
		if err != nil {
			return err
		}
		items, err := c.Items(ctx, "")
		if len(items) != 0 || err != nil {
			return fmt.Errorf("after the restart %d documents, %w", len(items), err)
		}
		page, err := c.Changes(ctx, "0", cosmosapi.Position{}, 0)
		if err != nil || len(page.Items) != 0 || page.Continuation != before {
			return fmt.Errorf("feed %+v, want nothing up to %s, %w", page, before, err)
		}
		list, err := a.Containers(ctx)
		if err != nil || list[0].Items == 0 {
			return fmt.Errorf("the other container: %+v, %w", list, err)
		}
		return nil
	})
}
