package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Two instances share the messages of a queue; each message is done once.
func TestScaleOutSharesAQueue(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return errors.Join(functions.Sleep(ctx, time.Minute), functions.SetOutput(ctx, "out", m.Text()))
	}, functions.QueueOutput("out", "done"))
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true, Files: map[string]string{
		"host.json": `{"version":"2.0","extensions":{"queues":{"batchSize":2,"newBatchThreshold":0}}}`,
	}})
	second := first.ScaleOut()
	var all []string
	for i := range 12 {
		all = append(all, fmt.Sprint(i))
	}
	first.SendAll("orders", all...)
	first.Advance(10 * time.Minute)
	done := first.Bodies("done")
	slices.Sort(done)
	slices.Sort(all)
	if diff := cmp.Diff(all, done); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	if a, b := len(first.Attempts("Orders")), len(second.Attempts("Orders")); a+b != 12 || a < 4 || b < 4 {
		t.Errorf("attempts: %d and %d, want 12 in all and some by each", a, b)
	}
	for _, h := range []*hosttest.Host{first, second} { // what the queue did is in both journals
		if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.Enqueued && r.Source == "orders" })); n != 12 {
			t.Errorf("%d messages were put, want 12", n)
		}
	}
}

// A killed instance leaves its messages hidden and locked. The other one gets them as the
// next delivery, when the locks have ended. Later calls of the killed one have no effect,
// and it can be started again.
func TestScaleOutTakesOver(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		_ = functions.Sleep(ctx, time.Minute)
		return functions.SetOutput(ctx, "out", m.Text())
	}, functions.QueueOutput("out", "done"))
	app.ServiceBusQueue("Ship", "parcels", func(ctx context.Context, _ functions.ServiceBusMessage) error {
		return functions.Sleep(ctx, 10*time.Second)
	})
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true})
	first.Send("orders", "7")
	first.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
	first.Advance(5 * time.Second)
	second := first.ScaleOut()
	first.Kill()
	first.WantSettled("Orders")
	second.WantQueue("done")
	r := second.AwaitSettled("Ship", triggers.Completed)
	if r.DeliveryCount != 2 || r.Time.Sub(hosttest.Start) > 2*time.Minute {
		t.Errorf("delivery %d of the parcel was completed at %v", r.DeliveryCount, r.Time)
	}
	r = second.AwaitSettled("Orders", triggers.Deleted)
	if r.DeliveryCount != 2 || r.Time.Sub(hosttest.Start) < 10*time.Minute {
		t.Errorf("delivery %d of the order was deleted at %v", r.DeliveryCount, r.Time)
	}
	second.WantQueue("done", "7")
	first.WantAttempts("Orders", 0)

	second.Kill()
	first.StartAgain()
	first.Send("orders", "8")
	first.AwaitSettled("Orders", triggers.Deleted)
	first.WantQueue("done", "7", "8")
}

// Outputs of a handler that ends after its host was killed are written nowhere.
func TestScaleOutKilledOutputs(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		_ = functions.Sleep(ctx, time.Minute)
		var err error
		for _, name := range []string{"queue", "blob", "bus", "hub", "document"} {
			err = errors.Join(err, functions.SetOutput(ctx, name, `{"id":"7"}`))
		}
		return err
	}, functions.QueueOutput("queue", "done"), functions.BlobOutput("blob", "out/{rand-guid}"), functions.ServiceBusQueueOutput("bus", "parcels"),
		functions.EventHubOutput("hub", "events"), functions.CosmosOutput("document", "shop", "orders"))
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true})
	first.CreateCosmos("shop", "orders")
	second := first.ScaleOut()
	second.Advance(time.Minute)
	second.Kill() // no longer in the way
	first.Send("orders", "7")
	first.Advance(5 * time.Second)
	second.StartAgain()
	first.Kill()
	second.WantQueue("done")
	if blobs := second.Blobs("out"); len(blobs) > 0 {
		t.Errorf("blobs %v", blobs)
	}
	if n := len(second.ServiceBusMessages("parcels")); n > 0 {
		t.Errorf("%d Service Bus messages", n)
	}
	if items := second.CosmosItems("shop", "orders"); len(items) > 0 {
		t.Errorf("documents %v", items)
	}
	if n := len(second.Select(func(r *journal.Record) bool { return r.Source == "events" })); n > 0 {
		t.Errorf("%d records of the hub", n)
	}
	second.AwaitSettled("Orders", triggers.Deleted)
	if n := len(second.Bodies("done")); n != 1 {
		t.Errorf("%d messages put by the other instance, want 1", n)
	}
}

// Of a timer one instance has the lock and runs the ticks; when it is killed the other
// waits until the lease ends, and goes on by the stored status.
func TestScaleOutTimer(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Timer("Tick", "0 * * * * *", func(context.Context, functions.TimerInfo) error { return nil })
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true})
	second := first.ScaleOut()
	first.Advance(5*time.Minute + time.Second)
	first.WantAttempts("Tick", 5)
	second.WantAttempts("Tick", 0)
	first.Kill()
	first.Advance(5 * time.Minute)
	first.WantAttempts("Tick", 5)
	ticks := second.Attempts("Tick")
	if len(ticks) < 4 || len(ticks) > 5 {
		t.Errorf("%d ticks of the other instance in five minutes, want 4 or 5", len(ticks))
	}
	first.StartAgain()
	first.Advance(5 * time.Minute)
	first.WantAttempts("Tick", 5)
	second.WantAttempts("Tick", len(ticks)+5)
}

// Partitions and leases are shared, and taken over from an instance that was killed.
func TestScaleOutStreams(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventHubBatch("Read", "events", func(context.Context, functions.EventHubPartition, []functions.EventHubEvent) error { return nil })
	app.CosmosDB("Follow", "shop", "orders", func(context.Context, []functions.CosmosDocument) error { return nil }, functions.CreateLeases())
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true})
	first.CreateCosmos("shop", "orders")
	second := first.ScaleOut()
	first.Advance(10 * time.Minute)
	for i := range 20 {
		first.SendEvents("events", fmt.Sprint(i), "e")
	}
	first.WriteCosmos("shop", "orders", `{"id":"1"}`)
	first.Advance(time.Minute)
	if a, b := len(first.Attempts("Read")), len(second.Attempts("Read")); a == 0 || b == 0 {
		t.Errorf("batches of events: %d and %d, want some for each", a, b)
	}
	if a, b := len(first.Attempts("Follow")), len(second.Attempts("Follow")); a+b != 1 {
		t.Errorf("batches of documents: %d and %d, want one in all", a, b)
	}
	gone, stays := first, second
	if len(second.Attempts("Follow")) > 0 {
		gone, stays = second, first
	}
	gone.Kill()
	stays.WriteCosmos("shop", "orders", `{"id":"2"}`)
	for i := range 20 {
		stays.SendEvents("events", fmt.Sprint(i), "e")
	}
	stays.Advance(10 * time.Minute)
	if n := len(stays.Attempts("Follow")); n != 1 {
		t.Errorf("%d batches of documents after the kill, want 1", n)
	}
	seen := map[string]bool{}
	for _, r := range stays.Settlements("Read") {
		seen[r.Source] = true
	}
	if len(seen) < 2 {
		t.Errorf("the other instance read %v, want every partition", seen)
	}
}

// The same seed gives the same journals, of both.
func TestScaleOutSameJournal(t *testing.T) {
	t.Parallel()
	run := func() string {
		h := hosttest.New(t, &hosttest.Options{Handlers: functionsThatFail(1, 10*time.Second), Instances: true, Seed: 7})
		other := h.ScaleOut()
		for i := range 40 {
			h.Send("orders", fmt.Sprint(i))
		}
		h.Advance(5 * time.Second)
		other.Kill()
		h.Advance(30 * time.Minute)
		var b strings.Builder
		for _, of := range []*hosttest.Host{h, other} {
			for _, r := range of.Select(func(*journal.Record) bool { return true }) {
				fmt.Fprintln(&b, r)
			}
		}
		return b.String()
	}
	want := run()
	for range 5 {
		if got := run(); got != want {
			t.Fatalf("journals differ:\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
		}
	}
}

// A state that is loaded, and one that is emptied, reaches the listeners of both.
func TestScaleOutReplacedState(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, _ functions.QueueMessage) error { return functions.Sleep(ctx, time.Minute) })
	first := hosttest.New(t, &hosttest.Options{Handlers: app, Instances: true, Files: map[string]string{
		"host.json": `{"version":"2.0","extensions":{"queues":{"batchSize":1,"newBatchThreshold":0}}}`,
	}})
	second := first.ScaleOut()
	first.SendAll("orders", "1", "2", "3")
	first.Advance(time.Second)
	if err := first.ResetState(); err != nil {
		t.Fatal(err)
	}
	first.WantQueue("orders")
	first.Advance(15 * time.Minute)
	for i, h := range []*hosttest.Host{first, second} {
		settled := h.Settlements("Orders")
		if len(settled) != 1 || settled[0].Decision == string(triggers.Deleted) {
			t.Errorf("instance %d: settlements %v, want one that came to nothing", i, settled)
		}
	}
	first.SendAll("orders", "4", "5")
	first.Advance(15 * time.Minute)
	for i, h := range []*hosttest.Host{first, second} {
		if n := len(h.Settlements("Orders")); n != 2 {
			t.Errorf("instance %d: %d settlements, want 2: its listener began anew", i, n)
		}
	}
}
