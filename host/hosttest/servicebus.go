package hosttest

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// ServiceBusConnection is the connection string of the embedded Service Bus
// namespace, as the kit gives it to the app in AzureWebJobsServiceBus.
const ServiceBusConnection = "Endpoint=sb://127.0.0.1;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"

// SendServiceBus sends messages to a queue or a topic, all or none.
// Deliveries that they start run before SendServiceBus returns; time does
// not move. Entities that functions name are there; others are made with
// host.Host.ServiceBus.
func (h *Host) SendServiceBus(entity string, messages ...*servicebus.Message) {
	h.tb.Helper()
	var err error
	h.do("send to "+entity, func() { err = h.Services().ServiceBus().Send(context.Background(), entity, messages...) })
	if err != nil {
		h.tb.Fatalf("hosttest: send to %q: %v", entity, err)
	}
}

// ServiceBusMessages returns the messages of a queue, a subscription or one of
// their sub-queues ("orders/$DeadLetterQueue"), in any state, at most 256.
func (h *Host) ServiceBusMessages(path string) []*servicebus.Received {
	h.tb.Helper()
	var messages []*servicebus.Received
	var err error
	h.do("peek "+path, func() { messages, err = h.Services().ServiceBus().Peek(context.Background(), path, nil, 0, 256) })
	if err != nil {
		h.tb.Fatalf("hosttest: peek %q: %v", path, err)
	}
	return messages
}
