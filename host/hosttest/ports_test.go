//clock:outside the clients are of the real world

package hosttest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// sendToPort sends a message with the SDK.
func sendToPort(connection, queue, body string) error {
	ctx := context.Background()
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		return err
	}
	defer client.Close(ctx)
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	return sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(body)}, nil)
}

// SDKs find the services of a virtual host at ports: those of the test, and those of its
// handlers, also after the host was started again.
func TestPorts(t *testing.T) {
	t.Parallel()
	var h *hosttest.Host
	handlers := functions.New()
	handlers.Queue("Relay", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		var err error
		h.Clock().Outside(ctx, "send", func() { err = sendToPort(h.Endpoints().ServiceBus, "parcels", string(m.Body)) })
		return err
	})
	handlers.ServiceBusQueue("Ship", "parcels", func(context.Context, functions.ServiceBusMessage) error { return nil })
	h = hosttest.New(t, &hosttest.Options{Handlers: handlers, Ports: true})
	before := h.Endpoints()
	for range 2 {
		h.Send("orders", "7")
		h.AwaitSettled("Ship", triggers.Completed)
		h.AwaitSettled("Relay", triggers.Deleted)
		if err := sendToPort(h.Endpoints().ServiceBus, "parcels", "8"); err != nil {
			t.Fatal(err)
		}
		h.AwaitSettled("Ship", triggers.Completed)
		h.StartAgain()
	}
	if h.Endpoints() != before || !strings.Contains(before.Storage, before.BlobURL) {
		t.Errorf("after a start: %+v, before %+v", h.Endpoints(), before)
	}
	resp, err := http.Get(before.QueueURL + "/devstoreaccount1?comp=list")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode < 400 {
		t.Errorf("a stranger gets %d %s", resp.StatusCode, text)
	}
	if h := hosttest.New(t, &hosttest.Options{Handlers: functions.New(), Unjudged: true}); h.Endpoints() != (hosttest.Endpoints{}) {
		t.Errorf("without ports: %+v", h.Endpoints())
	}
}
