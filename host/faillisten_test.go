package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/cosmos"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/retrycontext"
	"github.com/redeliver/redeliver/triggers"
)

// A listener that cannot go on is told and started again although a delivery of it waits
// for its retry, which may take for ever: the next messages do not wait for that (5.4).
func TestListenerFailsBesideARetryWait(t *testing.T) {
	t.Parallel()
	failing := functions.FixedDelay(retrycontext.Forever, 2*time.Minute) // less than a lock is renewed
	first := func(body string) error {
		if body == "first" {
			return errBroken
		}
		return nil
	}
	check := func(t *testing.T, h *hosttest.Host, send func(body string), fail func()) {
		t.Helper()
		failures := func() int {
			return len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError }))
		}
		before := failures()
		send("first")
		h.AwaitKind(journal.RetryScheduled)
		fail()
		send("second")
		h.Advance(30 * time.Second)
		if n := failures() - before; n != 1 {
			t.Errorf("%d records of a listener that failed, want one", n)
		}
		if h.ListenerError("Take") != nil {
			t.Error("the listener is said to wait for its next start")
		}
		h.WantAttempts("Take", 2)
		h.Advance(2 * time.Minute)
		h.WantAttempts("Take", 3) // the first again, in the loop that it began
		if n := len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.Received })); n != 2 {
			t.Errorf("%d deliveries, want 2", n)
		}
		if err := h.Restart(context.Background()); err != nil { // ends both listeners
			t.Fatal(err)
		}
		h.AwaitKind(journal.RetryCancelled)
	}
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		app, faults := functions.New(), 0
		app.Queue("Take", "orders", func(_ context.Context, m functions.QueueMessage) error { return first(m.Text()) }, failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app, StorageFault: func(p services.StorageFault) error {
			if p.Op == "Receive" && !p.After && faults > 0 {
				faults--
				return errors.New("not authorized")
			}
			return nil
		}})
		check(t, h, func(body string) { h.Send("orders", body) }, func() { faults = 1 })
	})
	t.Run("Service Bus", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.ServiceBusQueue("Take", "bus", func(_ context.Context, m functions.ServiceBusMessage) error { return first(m.Text()) }, failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		check(t, h, func(body string) {
			h.SendServiceBus("bus", &servicebus.Message{Body: []byte(body)})
		}, func() { disableForAMoment(t, h, servicebus.Queue{Name: "bus"}) })
	})
	t.Run("Service Bus sessions", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.ServiceBusQueue("Take", "bus", func(_ context.Context, m functions.ServiceBusMessage) error { return first(m.Text()) }, functions.Sessions(), failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		check(t, h, func(body string) {
			h.SendServiceBus("bus", &servicebus.Message{Body: []byte(body), SessionID: &body})
		}, func() { disableForAMoment(t, h, servicebus.Queue{Name: "bus", RequiresSession: true}) })
	})
	t.Run("blob", func(t *testing.T) {
		t.Parallel()
		app, faults := functions.New(), 0
		app.Blob("Take", "inbox/{name}", func(_ context.Context, b functions.Blob) error { return first(b.Text()) }, failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app, StorageFault: func(p services.StorageFault) error {
			if p.Op == "Receive" && !p.After && faults > 0 && strings.HasPrefix(p.Queue, "azure-webjobs-blobtrigger-") {
				faults--
				return errors.New("not authorized")
			}
			return nil
		}})
		check(t, h, func(body string) { h.Upload("inbox/"+body, body) }, func() { faults = 1 })
	})
	t.Run("Cosmos DB", func(t *testing.T) {
		t.Parallel()
		app := functions.New()
		app.CosmosDB("Take", "shop", "orders", func(_ context.Context, d []functions.CosmosDocument) error { return first(d[0].ID()) }, functions.CreateLeases(), failing)
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		create := func() {
			if _, err := h.Services().Cosmos().CreateContainer(context.Background(), cosmos.ContainerSpec{Database: "shop", Name: "orders", Ranges: 2}); err != nil {
				t.Error(err)
			}
		}
		h.Clock().Do("create the container", create)
		h.Advance(10 * time.Second)
		check(t, h, func(body string) { h.WriteCosmos("shop", "orders", `{"id":"`+body+`"}`) }, func() {
			h.Clock().Do("replace the container", func() { // as the reader of the other range sees
				if err := h.Services().Cosmos().DeleteContainer(context.Background(), "shop", "orders"); err != nil {
					t.Error(err)
				}
				create()
			})
			h.Advance(10 * time.Second) // it is read from now on
		})
	})
}

// disableForAMoment makes the receivers of a queue fail.
func disableForAMoment(t *testing.T, h *hosttest.Host, q servicebus.Queue) {
	t.Helper()
	for _, q.Status = range []servicebus.Status{servicebus.StatusReceiveDisabled, servicebus.StatusActive} {
		h.Clock().Do("disable", func() {
			if _, err := h.Services().ServiceBus().UpdateQueue(context.Background(), q); err != nil {
				t.Error(err)
			}
		})
		h.Advance(0)
	}
}

// An event hub that comes anew is read although an attempt of the former one goes on; only
// the partition of that attempt has to wait for it, since its events keep their order.
func TestHubFailsBesideAnAttempt(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventHub("Take", "hub", func(ctx context.Context, e functions.EventHubEvent) error {
		if e.Text() == "first" {
			return functions.Sleep(ctx, 20*time.Minute)
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	send := func(partition, body string) {
		t.Helper()
		h.Clock().Do("send", func() {
			if err := h.Services().EventHubs().SendEvents(context.Background(), "hub", &eventhubsapi.SendOptions{PartitionID: partition}, &eventhubsapi.Event{Body: []byte(body)}); err != nil {
				t.Error(err)
			}
		})
	}
	send("0", "first")
	h.Clock().Do("remove the hub", func() {
		if err := h.Services().EventHubs().DeleteHub(context.Background(), "hub"); err != nil {
			t.Error(err)
		}
	})
	h.Advance(time.Second)
	h.CreateEventHub(eventhubs.Hub{Name: "hub", Partitions: 4})
	h.Advance(30 * time.Second)
	send("0", "next")
	send("1", "second")
	h.Advance(30 * time.Second)
	if h.ListenerError("Take") != nil {
		t.Error("the listener is said to wait for its next start")
	}
	sources := func() (out []string) {
		for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted }) {
			out = append(out, strings.TrimPrefix(r.Source, "hub/ConsumerGroups/$Default/Partitions/"))
		}
		return out
	}
	want := []string{"0", "1"}
	if diff := cmp.Diff(sources(), want); diff != "" {
		t.Errorf("attempts beside the first (-got +want):\n%s", diff)
	}
	h.Advance(20 * time.Minute)
	if diff := cmp.Diff(sources(), append(want, "0")); diff != "" {
		t.Errorf("attempts in all (-got +want):\n%s", diff)
	}
}

// A retry wait ends with the hub, as with a partition that another host takes; the hub that
// comes anew is read at once, that partition too.
func TestHubFailsBesideARetryWait(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.EventHub("Take", "hub", func(_ context.Context, e functions.EventHubEvent) error {
		if e.Text() == "first" {
			return errBroken
		}
		return nil
	}, functions.FixedDelay(retrycontext.Forever, 2*time.Hour))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.SendEvents("hub", "key", "first")
	h.AwaitKind(journal.RetryScheduled)
	h.Clock().Do("remove the hub", func() {
		if err := h.Services().EventHubs().DeleteHub(context.Background(), "hub"); err != nil {
			t.Error(err)
		}
	})
	h.AwaitKind(journal.RetryCancelled)
	h.CreateEventHub(eventhubs.Hub{Name: "hub", Partitions: 4})
	h.Advance(30 * time.Second)
	h.SendEvents("hub", "key", "second")
	h.Advance(30 * time.Second)
	h.WantSettled("Take", triggers.NotCheckpointed, triggers.Checkpointed)
}
