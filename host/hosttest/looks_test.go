package hosttest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// A look of the kit shows all that there is and all of it, whatever a request to the
// service may ask for at once: 32 messages of a queue, for instance.
func TestLooksHaveNoLimit(t *testing.T) {
	t.Parallel()
	const n = 1_100
	app := functions.New()
	app.Queue("Note", "notes", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "mail", strings.Repeat(m.Text(), 258<<10))
	}, functions.Binding(`{"type":"sendGrid","direction":"out","name":"mail"}`))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json":   `{"version": "2.0", "redeliver": {"serviceBus": {"config": "config.json"}}}`,
		"config.json": `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "parcels"}]}]}}`,
	}})
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
		h.SendServiceBus("parcels", &servicebus.Message{Body: []byte(want[i])})
	}
	for _, body := range want {
		h.Send("parcels", body)
	}
	h.WantQueue("parcels", want...)
	var got []string
	for _, m := range h.ServiceBusMessages("parcels") {
		got = append(got, string(m.Body))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d messages of Service Bus, want %d", len(got), n)
	}
	for range n {
		h.Send("notes", "x")
	}
	h.Advance(10 * time.Minute)
	mails := h.Outputs("Note")
	if len(mails) != n {
		t.Fatalf("%d outputs, want %d", len(mails), n)
	}
	if first := mails[0]; len(*first.Body) != first.Size {
		t.Errorf("%d of %d bytes of an output", len(*first.Body), first.Size)
	}
}
