package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// pointApp has one function, Work, whose first attempt fails and whose others succeed,
// under a policy of one retry. calls are its attempts: delivery count (0 where there is
// none) and retry count.
func pointApp(source string, calls *[]string) *functions.App {
	app := functions.New()
	work := func(ctx context.Context, delivery int64) error {
		*calls = append(*calls, fmt.Sprintf("%d/%d", delivery, functions.Retry(ctx).RetryCount))
		if len(*calls) == 1 {
			return errors.New("the first attempt fails")
		}
		return nil
	}
	policy := functions.FixedDelay(1, 10*time.Second)
	switch source {
	case "queue":
		app.Queue("Work", "orders", func(ctx context.Context, m functions.QueueMessage) error { return work(ctx, m.DequeueCount) }, policy)
	case "servicebus":
		app.ServiceBusQueue("Work", "orders", func(ctx context.Context, m functions.ServiceBusMessage) error {
			return work(ctx, int64(m.DeliveryCount))
		}, policy)
	case "eventhubs":
		app.EventHub("Work", "readings", func(ctx context.Context, _ functions.EventHubEvent) error { return work(ctx, 0) }, policy)
	case "cosmos":
		app.CosmosDB("Work", "shop", "orders", func(ctx context.Context, _ []functions.CosmosDocument) error { return work(ctx, 0) },
			policy, functions.CreateLeases(), functions.FromBeginning())
	}
	return app
}

// A host that dies at a point: what was done stays done, the count of retries is lost,
// and what was not settled comes again (spec host-and-retry 2.6, 4.2).
func TestKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	const none = "not there"
	want := map[string]map[hosttest.Point]string{ // the attempts of both hosts
		"queue": {
			hosttest.AfterReceive:    "2/0 2/1",
			hosttest.BeforeHandler:   "2/0 2/1",
			hosttest.AfterHandler:    "1/0 2/0",
			hosttest.BetweenAttempts: "1/0 2/0",
			hosttest.BeforeSettle:    "1/0 1/1 2/0",
			hosttest.AfterCheckpoint: none,
			hosttest.AfterSettle:     "1/0 1/1",
		},
		"eventhubs": {
			hosttest.AfterReceive:    "0/0 0/1",
			hosttest.BeforeHandler:   "0/0 0/1",
			hosttest.AfterHandler:    "0/0 0/0",
			hosttest.BetweenAttempts: "0/0 0/0",
			hosttest.BeforeSettle:    "0/0 0/1 0/0",
			hosttest.AfterCheckpoint: "0/0 0/1",
			hosttest.AfterSettle:     "0/0 0/1",
		},
	}
	want["servicebus"], want["cosmos"] = want["queue"], want["eventhubs"]
	for source, points := range want {
		if len(points) != len(hosttest.Points()) {
			t.Errorf("%s: %d points of %d", source, len(points), len(hosttest.Points()))
		}
		for _, point := range slices.Sorted(maps.Keys(points)) {
			if points[point] == none {
				continue
			}
			t.Run(source+"/"+string(point), func(t *testing.T) {
				t.Parallel()
				var calls []string
				h := hosttest.New(t, &hosttest.Options{Handlers: pointApp(source, &calls)})
				h.KillAt("Work", point, 0)
				switch source {
				case "queue":
					h.Send("orders", "7")
				case "servicebus":
					h.SendServiceBus("orders", &servicebus.Message{Body: []byte("7")})
				case "eventhubs":
					h.SendEvents("readings", "", "7")
				case "cosmos":
					h.CreateCosmos("shop", "orders")
					h.Advance(5 * time.Second) // the back-off of a listener that missed its container
					h.WriteCosmos("shop", "orders", `{"id":"7"}`)
				}
				h.AwaitKilled()
				done := h.Select(func(r *journal.Record) bool { return r.Function == "Work" })
				if last := done[len(done)-1]; !point.Is(&last) {
					t.Errorf("the last record of the killed host: %v", last)
				}
				h.StartAgain()
				h.Settle()
				if diff := cmp.Diff(points[point], strings.Join(calls, " ")); diff != "" {
					t.Errorf("attempts, delivery count/retry count (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A point can be reached for the second time, and a point that is not reached fails the
// test.
func TestKillAtTheSecondTime(t *testing.T) {
	t.Parallel()
	app := functions.New()
	attempts := 0
	app.Queue("Work", "orders", func(context.Context, functions.QueueMessage) error {
		attempts++
		return errors.New("no")
	}, functions.FixedDelay(4, time.Minute))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.KillAt("work", hosttest.BetweenAttempts, 2)
	h.Send("orders", "7")
	h.AwaitKilled()
	h.WantElapsed(time.Minute)
	h.WantAttempts("Work", 2)
	if attempts != 2 {
		t.Errorf("%d attempts, want 2", attempts)
	}
	h.StartAgain()
}

// A delivery that ended before its attempt is one, too: its service has counted it.
func TestDeliveriesWithoutAttempts(t *testing.T) {
	t.Parallel()
	var calls []string
	h := hosttest.New(t, &hosttest.Options{Handlers: pointApp("queue", &calls)})
	h.KillAt("Work", hosttest.AfterReceive, 0)
	h.Send("orders", "7")
	h.AwaitKilled()
	h.StartAgain()
	h.Settle()
	h.WantDeliveries("Work", 0, 2)
}
