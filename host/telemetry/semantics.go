package telemetry

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/trace"
)

// The semantic conventions of OpenTelemetry for triggers: faas.trigger, messaging.system
// where messages come from one, and the parts of a source.
var conventions = map[string]struct {
	trigger, system string
	apart           func(source string) place // nil: the source is a name
}{ // read only
	"httpTrigger":       {"http", "", nil},
	"timerTrigger":      {"timer", "", nil},
	"queueTrigger":      {"pubsub", "azure_queue_storage", nil},
	"serviceBusTrigger": {"pubsub", "servicebus", entityPlace},
	"eventHubTrigger":   {"pubsub", "eventhubs", partitionPlace},
	"eventGridTrigger":  {"pubsub", "eventgrid", subscriptionPlace},
	"blobTrigger":       {"datasource", "", blobPlace},
	"cosmosDBTrigger":   {"datasource", "", nil},
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

// spanName is the name of the span of a delivery. There are few names: they have no
// partition, blob or path of a request in them.
func spanName(r *journal.Record) string {
	switch kindOf(r.Trigger) {
	case oteltrace.SpanKindServer:
		q := trace.RequestOf(r)
		return strings.TrimSpace(methodName(q.Method) + " " + q.Route)
	case oteltrace.SpanKindConsumer:
		return "process " + placeOf(r).name
	}
	return r.Function + " delivery"
}

// A place is where a message came from: a source, taken apart. Names of destinations and
// collections are few.
type place struct {
	name, subscription, group, partition string
	document                             string // in the collection of that name
}

func placeOf(r *journal.Record) place {
	if apart := conventions[r.Trigger].apart; apart != nil {
		return apart(r.Source)
	}
	return place{name: r.Source}
}

// entityPlace takes queue, queue/$DeadLetterQueue, topic/Subscriptions/name, ... apart.
func entityPlace(source string) place {
	parts := strings.Split(source, "/")
	i := slices.IndexFunc(parts, func(s string) bool { return strings.EqualFold(s, "subscriptions") })
	if i < 1 || i+1 == len(parts) {
		return place{name: source}
	}
	return place{name: strings.Join(parts[:i], "/"), subscription: strings.Join(parts[i+1:], "/")}
}

// partitionPlace takes hub/group/partition apart.
func partitionPlace(source string) place {
	if parts := strings.Split(source, "/"); len(parts) == 3 {
		return place{name: parts[0], group: parts[1], partition: parts[2]}
	}
	return place{name: source}
}

// subscriptionPlace takes topic/subscription apart; events from outside name the
// subscription alone.
func subscriptionPlace(source string) place {
	topic, subscription, _ := strings.Cut(source, "/")
	return place{name: topic, subscription: subscription}
}

func blobPlace(source string) place {
	container, name, _ := strings.Cut(source, "/")
	return place{name: container, document: name}
}

// about are the attributes of a delivery that its attempts have too.
func about(r *journal.Record) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("faas.name", r.Function), attribute.String("redeliver.source", r.Source)}
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	from := placeOf(r)
	if faasTrigger(r.Trigger) == "datasource" {
		add("faas.document.collection", from.name)
		add("faas.document.name", from.document)
		add("faas.document.operation", "edit") // or insert, which neither service tells apart
	}
	system := conventions[r.Trigger].system
	if system == "" {
		return list
	}
	add("messaging.system", system)
	add("messaging.operation.type", "process")
	add("messaging.operation.name", "process")
	add("messaging.destination.name", from.name)
	add("messaging.destination.subscription.name", from.subscription)
	add("messaging.destination.partition.id", from.partition)
	add("messaging.consumer.group.name", from.group)
	if r.Beside.Batch == "" {
		add("messaging.message.id", r.MessageID)
	} else {
		list = append(list, attribute.StringSlice("redeliver.message_ids", memberIDs(r)))
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

// mostMembers limits the members of a batch that a span names.
const mostMembers = 128

func memberIDs(r *journal.Record) (ids []string) {
	room := mostOfText
	for _, m := range explain.Members(r) {
		if len(ids) == mostMembers || room == 0 {
			break
		}
		ids = append(ids, taken(m.ID, &room))
	}
	return ids
}

// methods are the names of methods that the conventions know.
var methods = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"} // read only

// methodName is a method in the name of a span.
func methodName(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "HTTP"
}

// request are the attributes of a request over HTTP: those that the conventions require of
// a server, and where it was asked.
func request(r *journal.Record) (list []attribute.KeyValue) {
	q := trace.RequestOf(r)
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	if slices.Contains(methods, q.Method) {
		add("http.request.method", q.Method)
	} else {
		add("http.request.method", "_OTHER")
		add("http.request.method_original", q.Method)
	}
	add("url.path", q.Path)
	add("url.scheme", q.Scheme)
	add("http.route", q.Route)
	host, port := q.Host, ""
	if name, number, err := net.SplitHostPort(q.Host); err == nil {
		host, port = name, number
	}
	add("server.address", host)
	if n, err := strconv.Atoi(port); err == nil {
		list = append(list, attribute.Int("server.port", n))
	}
	return list
}
