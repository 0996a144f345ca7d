package hosttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A lease that is lost in the middle of a batch: the handler's context ends, no attempt
// follows, and there is no checkpoint (spec messaging 7).
func TestCosmosLeaseIsLost(t *testing.T) {
	t.Parallel()
	var ended []time.Duration
	var h *hosttest.Host
	h = newCosmos(t, &hosttest.Options{Handlers: cosmosApp(func(ctx context.Context, _ []functions.CosmosDocument) error {
		if len(ended) > 0 {
			return nil
		}
		err := functions.Sleep(ctx, time.Hour)
		ended = append(ended, h.Clock().Now().Sub(hosttest.Start))
		return err
	}, functions.FixedDelay(4, time.Minute))})
	h.WriteCosmos("shop", "orders", `{"id":"a"}`)
	var err error
	h.Clock().Do("purge", func() { _, err = h.Services().Cosmos().Purge(t.Context(), "shop", "leases") })
	if err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Changed", triggers.NotCheckpointed)
	h.WantAttempts("Changed", 1)
	if len(ended) != 1 || ended[0] > time.Minute {
		t.Errorf("the handler's context ended after %v, want the next renewal (17s at most)", ended)
	}
}
