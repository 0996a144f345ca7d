package telemetry

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/host/journal"
)

// The semantic conventions of OpenTelemetry for triggers: faas.trigger, and messaging.system
// where messages come from one.
var conventions = map[string]struct{ trigger, system string }{ // read only
	"httpTrigger":       {"http", ""},
	"timerTrigger":      {"timer", ""},
	"queueTrigger":      {"pubsub", "azure_queue_storage"},
	"serviceBusTrigger": {"pubsub", "servicebus"},
	"eventHubTrigger":   {"pubsub", "eventhubs"},
	"eventGridTrigger":  {"pubsub", "eventgrid"},
	"blobTrigger":       {"datasource", ""},
	"cosmosDBTrigger":   {"datasource", ""},
}

func faasTrigger(trigger string) string {
	if c, ok := conventions[trigger]; ok {
		return c.trigger
	}
	return "other"
}

func kindOf(trigger string) oteltrace.SpanKind {
	switch faasTrigger(trigger) {
	case "http":
		return oteltrace.SpanKindServer
	case "pubsub", "datasource":
		return oteltrace.SpanKindConsumer
	}
	return oteltrace.SpanKindInternal
}

// spanName is the name of the span of a delivery.
func spanName(r *journal.Record) string {
	switch kindOf(r.Trigger) {
	case oteltrace.SpanKindServer:
		return r.Source // method and path
	case oteltrace.SpanKindConsumer:
		return "process " + r.Source
	}
	return r.Function + " delivery"
}

// messaging are the attributes of a delivery from a messaging system.
func messaging(r *journal.Record) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("faas.name", r.Function), attribute.String("redeliver.source", r.Source)}
	system := conventions[r.Trigger].system
	if system == "" {
		return list
	}
	list = append(list, attribute.String("messaging.system", system), attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.operation.name", "process"), attribute.String("messaging.destination.name", r.Source))
	if r.MessageID != "" {
		list = append(list, attribute.String("messaging.message.id", r.MessageID))
	}
	for _, f := range r.Fields {
		if n, err := strconv.Atoi(f.Value); f.Key == "messages" && err == nil { // of a batch
			list = append(list, attribute.Int("messaging.batch.message_count", n))
		}
	}
	if system == "servicebus" && r.DeliveryCount > 0 {
		list = append(list, attribute.Int64("messaging.servicebus.message.delivery_count", r.DeliveryCount))
	}
	return list
}
