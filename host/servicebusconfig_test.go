package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/kinds/served"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// entities is a file of Service Bus entities.
func entities(queues string) string {
	return `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [` + queues + `], "Topics": []}], "Logging": {"Type": "File"}}}`
}

const namesEntities = `{"version": "2.0", "redeliver": {"serviceBus": {"config": "bus/Config.json"}}}`

func failing(queue string, opts ...functions.ServiceBusOption) *functions.App {
	app := functions.New()
	app.ServiceBusQueue("Orders", queue, func(context.Context, functions.ServiceBusMessage) error { return errors.New("no") }, opts...)
	return app
}

// The file decides how often a message is delivered, and not the functions. It does
// so again after a change of the file, and after a reset.
func TestServiceBusConfig(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Files:    map[string]string{"host.json": namesEntities, "bus/Config.json": entities(`{"Name": "Orders", "Properties": {"MaxDeliveryCount": 3}}`)},
		Handlers: failing("orders"),
	})
	dead := func() int { return len(h.ServiceBusMessages("orders/$DeadLetterQueue")) }
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("a")})
	for range 3 {
		h.AwaitSettled("Orders", triggers.Abandoned)
	}
	if n := dead(); n != 1 {
		t.Fatalf("%d dead letters after 3 deliveries, want 1", n)
	}
	if err := h.Edit("bus/Config.json", entities(`{"Name": "Orders", "Properties": {"MaxDeliveryCount": 1}}, {"Name": "more"}`)); err != nil {
		t.Fatal(err)
	}
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("b")})
	h.AwaitSettled("Orders", triggers.Abandoned)
	if n := dead(); n != 2 {
		t.Errorf("%d dead letters, want 2", n)
	}
	if err := h.Edit("bus/Config.json", entities(`{"Name": "Orders", "Properties": {"MaxDeliveryCount": 0}}`)); err == nil || !strings.Contains(err.Error(), "bus/Config.json:1:") {
		t.Errorf("a bad file: %v", err)
	}
	h.Reset()
	h.Clock().Do("look", func() {
		q, err := h.Services().ServiceBus().GetQueue(context.Background(), "orders")
		if err != nil || q.Name != "Orders" || q.MaxDeliveryCount != 1 {
			t.Errorf("after a reset: %+v, %v", q, err)
		}
	})
}

// For a function that receives from the embedded namespace, check reports the
// deliveries and locks of the file.
func TestServiceBusConfigChecked(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "testdata", "broken", "servicebus-config-lints")
	for _, test := range []struct {
		name, connection, deliveries, lints string
	}{
		{"embedded", "", "1 10 3", "L-1 L-1 L-1 L-6 L-7"},
		{"elsewhere", "Endpoint=sb://mine.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=b", "10 10 10", "L-1 L-1 L-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			if test.connection != "" {
				env["AzureWebJobsServiceBus"] = test.connection
			}
			a, err := app.Load(dir, &app.Options{InProcess: true, Kinds: served.Facts(), Env: env})
			if err != nil {
				t.Fatal(err)
			}
			report := app.Check(a)
			var deliveries, lints []string
			for _, f := range report.Functions { // Once, Short, Thrice
				deliveries = append(deliveries, fmt.Sprint(f.Deliveries))
			}
			for _, l := range report.Lints {
				lints = append(lints, l.ID)
			}
			if got := strings.Join(deliveries, " "); got != test.deliveries {
				t.Errorf("deliveries %s, want %s", got, test.deliveries)
			}
			if got := strings.Join(lints, " "); got != test.lints {
				t.Errorf("lints %s, want %s", got, test.lints)
			}
			for _, e := range report.Errors {
				t.Errorf("error: %+v", e)
			}
		})
	}
}

// A disagreement of file and function about sessions is found before anything runs.
func TestServiceBusConfigSessions(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{
		Files:    map[string]string{"host.json": namesEntities, "bus/Config.json": entities(`{"Name": "orders", "Properties": {"RequiresSession": true}}`)},
		Handlers: failing("orders"), InError: []string{"Orders"},
	})
	f := h.App().Function("Orders")
	if f == nil || len(f.Faults) != 1 || !strings.Contains(f.Faults[0].Reason, "RequiresSession true") {
		t.Errorf("function: %+v", f)
	}
}

// A namespace that outlived the host gets the file's settings; what is decided at
// creation stops the start.
func TestServiceBusConfigDurable(t *testing.T) {
	t.Parallel()
	dir, folder := t.TempDir(), t.TempDir()
	start := func(queues string) (*servicebus.QueueInfo, error) {
		t.Helper()
		file := filepath.Join(folder, "entities.json")
		for name, text := range map[string]string{"host.json": `{"version": "2.0"}`, "entities.json": entities(queues)} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		db, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}()
		clk := clock.NewVirtual(hosttest.Start, nil)
		h, err := host.New(folder, &host.Options{
			Clock: clk, Store: db, Handlers: functions.New(), Entities: app.EntityFiles{ServiceBus: file},
			Env: []string{"AzureWebJobsStorage=UseDevelopmentStorage=true"},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := h.Start(context.Background()); err != nil {
			return nil, err
		}
		var q *servicebus.QueueInfo
		clk.Do("look", func() { q, err = h.Services().ServiceBus().GetQueue(context.Background(), "orders") })
		return q, err
	}
	if q, err := start(`{"Name": "orders", "Properties": {"MaxDeliveryCount": 3}}`); err != nil || q.MaxDeliveryCount != 3 {
		t.Fatalf("first start: %+v, %v", q, err)
	}
	if q, err := start(`{"Name": "orders", "Properties": {"MaxDeliveryCount": 7}}`); err != nil || q.MaxDeliveryCount != 7 {
		t.Fatalf("second start: %+v, %v", q, err)
	}
	_, err := start(`{"Name": "orders", "Properties": {"RequiresSession": true}}`)
	load, ok := errors.AsType[*host.LoadError](err)
	if !ok || len(load.Faults) != 1 {
		t.Fatalf("a queue that would need sessions: %v", err)
	}
	if got, want := fmt.Sprint(load.Faults[0].Path), "UserConfig.Namespaces[0].Queues[0].Properties.RequiresSession"; got != want {
		t.Errorf("fault at %s, want %s", got, want)
	}
	if q, err := start(``); err != nil || q.MaxDeliveryCount != 7 || q.RequiresSession {
		t.Errorf("a queue that the file does not mention: %+v, %v", q, err)
	}
}
