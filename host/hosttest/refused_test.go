package hosttest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A refused reload has changed no service: neither entities and hubs, of functions or of
// files, nor settings (D-15). When it is accepted, all of it is there.
func TestRefusedReloadChangesNothing(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	for _, name := range []string{"Bus", "Hub", "Out"} {
		handlers.Handle(name, func(context.Context, *functions.Trigger) error { return nil })
	}
	const config = `{"UserConfig":{"Namespaces":[{"Name":"sbemulatorns","Queues":[{"Name":"described","Properties":{"MaxDeliveryCount":%MAX%}}],"Topics":[]}]}}`
	bus := func(queue string) string {
		return `{"bindings":[{"type":"serviceBusTrigger","name":"m","queueName":"` + queue + `"}]}`
	}
	hub := func(name string) string {
		return `{"bindings":[{"type":"eventHubTrigger","name":"m","eventHubName":"` + name + `"}]}`
	}
	first := map[string]string{
		"Bus/function.json": bus("one"), "Hub/function.json": hub("readings"), "Out/function.json": bus("out"),
		"entities.json": strings.Replace(config, "%MAX%", "3", 1),
		"host.json":     `{"version":"2.0","redeliver":{"serviceBus":{"config":"entities.json"}}}`,
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: handlers, Files: first})
	edit := func(files map[string]string) error {
		t.Helper()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(h.Dir(), filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return h.Reload(context.Background())
	}
	next := map[string]string{
		"Bus/function.json": bus("two"),
		"Out/function.json": `{"bindings":[{"type":"serviceBusTrigger","name":"m","queueName":"out"},{"type":"serviceBus","direction":"out","name":"o","topicName":"news"},{"type":"eventHub","direction":"out","name":"e","eventHubName":"copies"}]}`,
		"entities.json":     strings.Replace(config, "%MAX%", "7", 1),
		"host.json":         `{"version":"2.0","redeliver":{"serviceBus":{"config":"entities.json"},"eventHubs":{"hubs":[{"name":"planned"}]},"strictSessionSend":true}}`,
		// A topic with the name of what another function receives from.
		"Hub/function.json": `{"bindings":[{"type":"serviceBusTrigger","name":"m","topicName":"two","subscriptionName":"all"}]}`,
	}
	err := edit(next)
	var load *host.LoadError
	if !errors.As(err, &load) || h.Generation() != 1 {
		t.Fatalf("Reload = %v with generation %d, want a refusal", err, h.Generation())
	}
	missing := func() (names []string) {
		ctx := context.Background()
		h.Clock().Do("look", func() {
			if _, err := h.Services().ServiceBus().GetQueue(ctx, "two"); errors.Is(err, bindings.ErrNotFound) {
				names = append(names, "two")
			}
			if _, err := h.Services().ServiceBus().GetTopic(ctx, "news"); errors.Is(err, bindings.ErrNotFound) {
				names = append(names, "news")
			}
			for _, hub := range []string{"copies", "planned"} {
				if !h.Services().EventHubs().Has(hub) {
					names = append(names, hub)
				}
			}
			if q, err := h.Services().ServiceBus().GetQueue(ctx, "described"); err != nil || q.MaxDeliveryCount != 7 {
				names = append(names, "settings of described")
			}
		})
		return names
	}
	if got := missing(); len(got) != 5 {
		t.Errorf("after a refused reload only %q are missing, want all that is new", got)
	}
	next["Hub/function.json"] = hub("readings")
	if err := edit(next); err != nil {
		t.Fatal(err)
	}
	if got := missing(); len(got) != 0 {
		t.Errorf("after an accepted reload %q are missing", got)
	}
}
