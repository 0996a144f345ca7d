package hosttest_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// TestAttemptAllocatesLittle holds what docs/performance.md says of an attempt: the run
// of BenchmarkPoison, shorter. It is not parallel: it counts what the process allocates.
func TestAttemptAllocatesLittle(t *testing.T) {
	const messages, most = 200, 1870 // 1,786 alone
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errBroken },
		functions.ExponentialBackoff(9, time.Second, time.Minute))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Lax: true})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range messages {
		h.SendWith("orders", fmt.Sprint(i), &queue.PutOptions{TTL: queue.NeverExpires})
	}
	for range messages {
		h.AwaitSettled("Orders", triggers.Poisoned)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / (messages * 50); got > most {
		t.Errorf("an attempt allocates %d bytes, want %d at the most", got, most)
	}
}
