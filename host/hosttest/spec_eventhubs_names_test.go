package hosttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Two functions in one consumer group share the partitions; one with a group of its own
// has every event.
func TestEventHubConsumerGroups(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	seen := map[string]int{}
	add := func(name string, opts ...functions.EventHubOption) {
		handlers.EventHub(name, "orders", func(context.Context, functions.EventHubEvent) error {
			seen[name]++
			return nil
		}, opts...)
	}
	add("A")
	add("B")
	add("Own", functions.ConsumerGroup("own"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	h.Advance(time.Minute) // both know
	for range 8 {
		h.SendEvents("orders", "", "e")
	}
	if diff := cmp.Diff(map[string]int{"A": 4, "B": 4, "Own": 8}, seen); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A function whose consumer group does not exist is in error, with one text for all
// partitions, and starts when the group has been made; groups that functions name are
// made unless autoCreateEntities is none.
func TestEventHubConsumerGroupIsMissing(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	read := 0
	handlers.EventHub("Read", "orders", func(context.Context, functions.EventHubEvent) error { read++; return nil }, functions.ConsumerGroup("audit"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: map[string]string{
		"host.json": `{"version":"2.0","redeliver":{"autoCreateEntities":"none","eventHubs":{"hubs":[{"name":"orders"}]}}}`,
	}})
	errs := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError })
	if len(errs) != 1 || errs[0].Function != "Read" || !strings.Contains(errs[0].Error, `"orders/ConsumerGroups/audit" could not be found`) {
		t.Errorf("function errors %+v", errs)
	}
	h.SendEvents("orders", "", "a")
	var err error
	h.Clock().Inside("create", func() { err = h.Services().EventHubs().CreateConsumerGroup(context.Background(), "orders", "audit") })
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(2 * time.Second)
	if read != 1 {
		t.Errorf("%d events read once the group is there, want 1", read)
	}
}

// A name that the service does not take is the fault of its function; the others run.
func TestEventHubBadNames(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	nothing := func(context.Context, functions.EventHubEvent) error { return nil }
	handlers.EventHub("BadHub", "or ders", nothing)
	handlers.EventHub("BadGroup", "orders", nothing, functions.ConsumerGroup("a/b"))
	handlers.EventHub("Good", "orders", nothing)
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, InError: []string{"BadHub", "BadGroup"}})
	h.SendEvents("orders", "", "a")
	h.WantSettled("Good", triggers.Checkpointed)
	var got []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.FunctionError }) {
		name, _, _ := strings.Cut(r.Error[strings.Index(r.Error, "name "):], ":")
		got = append(got, r.Function+" "+name)
	}
	if diff := cmp.Diff([]string{`BadGroup name "a/b"`, `BadHub name "or ders"`}, got); diff != "" {
		t.Errorf("functions in error (-want +got):\n%s", diff)
	}
}

// A connection string of another service is told as what it is.
func TestEventHubConnectionOfStorage(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventHub("Read", "orders", func(context.Context, functions.EventHubEvent) error { return nil }, functions.Connection("AzureWebJobsStorage"))
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	if r := h.AwaitKind(journal.FunctionError); !strings.Contains(r.Error, `"AzureWebJobsStorage" names no namespace of this host`) {
		t.Errorf("function error %v", r)
	}
}

// A hub that a test makes, with groups of its own; groups of host.json come to a hub
// that is there.
func TestCreateEventHub(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: functions.New()})
	h.CreateEventHub(eventhubs.Hub{Name: "Mine", Partitions: 3, Retention: time.Hour, ConsumerGroups: []string{"audit"}})
	h.SendEvents("mine", "", "a")
	if err := h.Edit("host.json", `{"version":"2.0","redeliver":{"eventHubs":{"hubs":[{"name":"mine","partitionCount":2,"consumerGroups":["audit","late"]}]}}}`); err != nil {
		t.Fatal(err)
	}
	var list []eventhubs.Hub
	h.Clock().Inside("list", func() { list, _ = h.Services().EventHubs().Hubs(context.Background()) })
	want := []eventhubs.Hub{{Name: "Mine", Partitions: 3, Retention: time.Hour, ConsumerGroups: []string{"audit", "late"}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("hubs (-want +got):\n%s", diff)
	}
}

// A hub and a queue may have one name, since they are two services on the platform (spec
// messaging 1.11). Each function has its own.
func TestHubAndQueueOfOneName(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.EventHub("Clicks", "orders", func(_ context.Context, e functions.EventHubEvent) error { return is("click", e.Body) })
	handlers.ServiceBusQueue("Take", "orders", func(_ context.Context, m functions.ServiceBusMessage) error { return is("order", m.Body) })
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers})
	h.SendEvents("orders", "", "click")
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("order")})
	h.WantSettled("Clicks", triggers.Checkpointed)
	h.WantSettled("Take", triggers.Completed)
	h.WantAttempts("Clicks", 1)
	h.WantAttempts("Take", 1)
}

func is(want string, body []byte) error {
	if string(body) != want {
		return fmt.Errorf("got %q, want %q", body, want)
	}
	return nil
}
