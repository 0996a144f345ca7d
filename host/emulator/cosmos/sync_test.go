package cosmos_test

import (
	"context"
	"testing"

	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

// With Sync no feed, read, list or refusal shows a change that a loss of power could
// take back.
func TestReadsWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	storetest.RunReadsWait(t, func(db *store.Store) (reads storetest.Reads, err error) {
		a, err := cosmos.Open(clock.System(), db, nil)
		if err != nil {
			return reads, err
		}
		c, err := a.CreateContainer(ctx, cosmosapi.ContainerSpec{Database: "shop", Name: "orders"})
		if err != nil {
			return reads, err
		}
		create := func() error { _, err := c.Create(ctx, []byte(`{"id":"new"}`)); return err }
		return storetest.Reads{
			Write: create,
			Reads: map[string]func(){
				"Changes":    func() { _, _ = c.Changes(ctx, "0", cosmosapi.Position{}, 0) },
				"Read":       func() { _, _ = c.Read(ctx, "new", `"new"`) },
				"Items":      func() { _, _ = c.Items(ctx, "") },
				"Containers": func() { _, _ = a.Containers(ctx) },
				"Create":     func() { _ = create() },
			},
		}, nil
	})
}
