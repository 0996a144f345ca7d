package hubs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// Where entities are made on use, a client of Event Hubs makes a hub, and a client of
// Service Bus a queue. A read of a hub's properties makes none, and neither does a
// partition of an unknown hub.
func TestMadeByItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ns.AutoCreate(true)
	queues := servicebus.New(w.clk, &servicebus.Options{Switches: servicebus.Switches{AutoCreateEntitiesOnUse: true}})
	w.address = serve(t, hubs.New(w.clk, w.ns, bus.New(w.clk, queues, nil)))
	w.connection = fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", w.address)
	has := func(hub string) (ok bool) {
		w.do(func(context.Context) error { ok = w.ns.Has(hub); return nil })
		return ok
	}

	// Reading, and sending to a partition.
	p := w.producer("read")
	if props, err := p.GetEventHubProperties(w.ctx, nil); err == nil {
		t.Errorf("properties of no hub: %+v", props)
	}
	zero := "0"
	if _, err := p.NewEventDataBatch(w.ctx, &azeventhubs.EventDataBatchOptions{PartitionID: &zero}); err == nil {
		t.Error("a batch for a partition of no hub: no error")
	}
	if has("read") {
		t.Error("a reader made the hub")
	}

	// Sending.
	p = w.producer("events")
	b, err := p.NewEventDataBatch(w.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddEventData(&azeventhubs.EventData{Body: []byte("a")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.SendEventDataBatch(w.ctx, b, nil); err != nil {
		t.Fatal(err)
	}
	if !has("events") {
		t.Error("no hub was made for an event")
	}
	// Their clients claim rights first, which makes no queue of the name.
	w.do(func(ctx context.Context) error {
		page, err := queues.ListQueues(ctx)
		if len(page) > 0 {
			t.Errorf("clients of Event Hubs made %d queues, the first %q", len(page), page[0].Name)
		}
		return err
	})

	// A client of Service Bus.
	c, err := azservicebus.NewClientFromConnectionString(w.connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	s, err := c.NewSender("messages", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SendMessage(w.ctx, &azservicebus.Message{Body: []byte("b")}, nil); err != nil {
		t.Fatal(err)
	}
	if has("messages") {
		t.Error("a client of Service Bus made a hub")
	}
}

// The client's description of itself decides, in any language.
func TestClientsOfEventHubs(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		properties map[string]any
		hub        bool
	}{
		{map[string]any{"product": "MSGolangClient", "user-agent": "azsdk-go-azeventhubs/v2.0.2 (go1.26; linux)"}, true},
		{map[string]any{"product": "MSJSClient", "user-agent": "azsdk-js-azureeventhubs/6.0.0 (NODE-VERSION v22)"}, true},
		{map[string]any{"product": "azsdk-python-eventhub", "user-agent": "azsdk-python-eventhub/5.15.0 Python/3.12"}, true},
		{map[string]any{"product": "azure-messaging-eventhubs", "user-agent": "azsdk-java-azure-messaging-eventhubs/5.20.0"}, true},
		{map[string]any{"product": ".NET.Azure.Messaging.Event-Hubs"}, true},
		{map[string]any{"product": "MSGolangClient", "user-agent": "azsdk-go-azservicebus/v1.9.0"}, false},
		{map[string]any{"user-agent": int64(3)}, false},
		{nil, false},
	} {
		w := &world{T: t, clk: clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), nil), ctx: t.Context()}
		w.ns = eventhubs.New(w.clk, nil)
		w.ns.AutoCreate(true)
		queues := servicebus.New(w.clk, &servicebus.Options{Switches: servicebus.Switches{AutoCreateEntitiesOnUse: true}})
		address := serve(t, hubs.New(w.clk, w.ns, bus.New(w.clk, queues, nil)))
		conn, err := goamqp.Dial(w.ctx, "amqp://"+address, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous(), Properties: test.properties})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		session, err := conn.NewSession(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		sender, err := session.NewSender(w.ctx, "new", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.Send(w.ctx, goamqp.NewMessage([]byte("a")), nil); err != nil {
			t.Fatal(err)
		}
		w.do(func(context.Context) error {
			if got := w.ns.Has("new"); got != test.hub {
				t.Errorf("%d: hub made: %v, want %v", i, got, test.hub)
			}
			return nil
		})
	}
}

// Where a hub and a queue have one name, a client of Event Hubs means the hub, and one of
// Service Bus the queue (spec messaging 1.11).
func TestOneName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queues := servicebus.New(w.clk, nil)
	w.do(func(ctx context.Context) error {
		_, err := queues.CreateQueue(ctx, servicebusapi.Queue{Name: "both"})
		return errors.Join(err, w.ns.CreateHub(ctx, eventhubs.Hub{Name: "Both", Partitions: 1}))
	})
	w.address = serve(t, hubs.New(w.clk, w.ns, bus.New(w.clk, queues, nil)))
	w.connection = fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", w.address)

	p := w.producer("both")
	b, err := p.NewEventDataBatch(w.ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddEventData(&azeventhubs.EventData{Body: []byte("an event")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.SendEventDataBatch(w.ctx, b, nil); err != nil {
		t.Fatal(err)
	}
	c, err := azservicebus.NewClientFromConnectionString(w.connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	s, err := c.NewSender("both", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SendMessage(w.ctx, &azservicebus.Message{Body: []byte("a message")}, nil); err != nil {
		t.Fatal(err)
	}
	r, err := c.NewReceiverForQueue("both", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReceiveMessages(w.ctx, 2, nil)
	if err != nil || len(got) != 1 || string(got[0].Body) != "a message" {
		t.Errorf("the queue gives %d messages, %v", len(got), err)
	}
	props, err := p.GetPartitionProperties(w.ctx, "0", nil)
	if err != nil || props.LastEnqueuedSequenceNumber != 0 || props.IsEmpty {
		t.Errorf("the partition: %+v, %v", props, err)
	}
}
