//clock:outside waits for real processes

package plugin_test

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

// A handler whose own context ends while it sleeps goes on at once, and so does its
// attempt: the host does not sleep on for it.
func TestSleepIsWithdrawn(t *testing.T) {
	t.Parallel()
	clk := clock.System()
	h := start(t, clk, process.Spec{Env: environ("handler")})
	defer func() { _ = h.Close(context.Background()) }()
	for _, sleeps := range []string{"1", "3"} {
		ctx, cancel := clk.WithTimeout(context.Background(), 15*time.Second)
		resp, err := h.Invoke(ctx, request("GiveUp", sleeps), func(call.Log) {})
		if err != nil || resp.Status != call.Succeeded {
			t.Errorf("%s sleeps: %+v, %v; want success", sleeps, resp, err)
		}
		cancel()
	}
}
