package telemetry_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// attributes are those of a span below some names, in their order.
func attributes(s *traces.Span, below ...string) []string {
	var out []string
	for _, a := range s.Attributes {
		if slices.ContainsFunc(below, func(name string) bool { return strings.HasPrefix(a.Key, name) }) {
			out = append(out, a.Key+"="+text(a.Value))
		}
	}
	slices.Sort(out)
	return out
}

func text(v *common.AnyValue) string {
	if list := v.GetArrayValue(); list != nil {
		var texts []string
		for _, one := range list.Values {
			texts = append(texts, text(one))
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	return attribute(&traces.Span{Attributes: []*common.KeyValue{{Key: "x", Value: v}}}, "x")
}

// Names of spans and destinations are few, whatever partitions, subscriptions, groups,
// blobs and paths there are; these are attributes of their own (docs: semantic conventions
// of OpenTelemetry for messaging and FaaS spans).
func TestNamesAreFew(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		trigger, source, batch string
		want                   []string // the name, and attributes
	}{
		"queue":               {"queueTrigger", "orders", "", []string{"process orders", "messaging.destination.name=orders", "messaging.message.id=m1"}},
		"entity":              {"serviceBusTrigger", "orders", "", []string{"process orders", "messaging.destination.name=orders", "messaging.message.id=m1"}},
		"dead letters":        {"serviceBusTrigger", "orders/$DeadLetterQueue", "", []string{"process orders/$DeadLetterQueue", "messaging.destination.name=orders/$DeadLetterQueue", "messaging.message.id=m1"}},
		"subscription":        {"serviceBusTrigger", "shop/news/Subscriptions/a", "", []string{"process shop/news", "messaging.destination.name=shop/news", "messaging.destination.subscription.name=a", "messaging.message.id=m1"}},
		"its dead letters":    {"serviceBusTrigger", "news/subscriptions/a/$DeadLetterQueue", "", []string{"process news", "messaging.destination.name=news", "messaging.destination.subscription.name=a/$DeadLetterQueue", "messaging.message.id=m1"}},
		"partition of a hub":  {"eventHubTrigger", "readings/$Default/3", "", []string{"process readings", "messaging.consumer.group.name=$Default", "messaging.destination.name=readings", "messaging.destination.partition.id=3", "messaging.message.id=m1"}},
		"batch":               {"eventHubTrigger", "readings/audit/0", `["m1","m2"]`, []string{"process readings", "messaging.batch.message_count=2", "messaging.consumer.group.name=audit", "messaging.destination.name=readings", "messaging.destination.partition.id=0", "redeliver.message_ids=[m1 m2]"}},
		"event subscription":  {"eventGridTrigger", "shop/index", "", []string{"process shop", "messaging.destination.name=shop", "messaging.destination.subscription.name=index", "messaging.message.id=m1"}},
		"events from outside": {"eventGridTrigger", "INDEX", "", []string{"process INDEX", "messaging.destination.name=INDEX", "messaging.message.id=m1"}},
		"blob":                {"blobTrigger", "pics/2030/a.jpg", "", []string{"process pics", "faas.document.collection=pics", "faas.document.name=2030/a.jpg", "faas.document.operation=edit"}},
		"change feed":         {"cosmosDBTrigger", "shop/orders", "", []string{"process shop/orders", "faas.document.collection=shop/orders", "faas.document.operation=edit"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := collectHTTP(t)
			export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: functions.New()}, func(h *hosttest.Host) {
				r := journal.Record{Kind: journal.Received, Function: "F", Trigger: test.trigger, Source: test.source, Delivery: "F/d1", MessageID: "m1"}
				if test.batch != "" {
					r.Beside.Batch, r.Fields = test.batch, []journal.Field{{Key: "messages", Value: "2"}}
				}
				h.Journal().Append(r)
				r.Kind, r.Decision, r.Beside, r.Fields = journal.Settled, "completed", journal.Beside{}, nil
				h.Journal().Append(r)
			})
			s := c.spans[0]
			got := append([]string{s.Name}, attributes(s, "messaging.destination.", "messaging.consumer.", "messaging.message.", "messaging.batch.", "redeliver.message_ids", "faas.document.")...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The span of a request has the attributes that the conventions require of a server, and
// its status (docs: semantic conventions of OpenTelemetry for HTTP server spans).
func TestSpansOfRequests(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	handlers := functions.New()
	handlers.HTTP("Order", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/orders/refused":
			w.WriteHeader(http.StatusBadRequest)
		case "/api/orders/broken":
			w.WriteHeader(http.StatusBadGateway)
		case "/api/orders/fails":
			functions.Fail(r.Context(), errors.New("no"))
		}
	}, functions.Route("orders/{id}"))
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: handlers}, func(h *hosttest.Host) {
		for _, path := range []string{"7?code=secret", "refused", "broken", "fails"} {
			h.Request("GET", "/api/orders/"+path, "")
		}
		h.Request("BREW", "/api/orders/8", "")
	})
	of := func(path, method string, more ...string) []string {
		list := append([]string{"http.route=/api/orders/{id}", "url.path=/api/orders/" + path, "url.scheme=http", "server.address=localhost", "server.port=7071", method}, more...)
		slices.Sort(list)
		return list
	}
	want := [][]string{
		append([]string{"GET /api/orders/{id}", "STATUS_CODE_UNSET"}, of("7", "http.request.method=GET", "http.response.status_code=200")...),
		append([]string{"GET /api/orders/{id}", "STATUS_CODE_UNSET"}, of("refused", "http.request.method=GET", "http.response.status_code=400")...),
		append([]string{"GET /api/orders/{id}", "STATUS_CODE_ERROR"}, of("broken", "http.request.method=GET", "http.response.status_code=502", "error.type=502")...),
		append([]string{"GET /api/orders/{id}", "STATUS_CODE_ERROR"}, of("fails", "http.request.method=GET", "http.response.status_code=500", "error.type=error")...),
		append([]string{"HTTP /api/orders/{id}", "STATUS_CODE_UNSET"}, of("8", "http.request.method=_OTHER", "http.request.method_original=BREW", "http.response.status_code=200")...),
	}
	var got [][]string
	for _, s := range c.spans {
		if s.Kind == traces.Span_SPAN_KIND_SERVER {
			got = append(got, append([]string{s.Name, s.Status.GetCode().String()}, attributes(s, "http.", "url.", "server.", "error.")...))
		} else if list := attributes(s, "http.", "url."); list != nil {
			t.Errorf("an attempt has %q", list)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Messages are linked to the deliveries before by their identity: each of a batch, not
// another one of the same ID, and one that has another number since it was redriven.
func TestLinksOfIdentities(t *testing.T) {
	t.Parallel()
	c := collectHTTP(t)
	export(t, read(t, openTelemetry, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.url), &hosttest.Options{Handlers: functions.New()}, func(h *hosttest.Host) {
		delivery := func(name string, number int64, batch, members string) {
			r := journal.Record{Kind: journal.Received, Function: "F", Trigger: "serviceBusTrigger", Source: "parcels", Delivery: name, MessageID: "m", MessageNumber: number, Beside: journal.Beside{Batch: batch, Members: members}}
			h.Journal().Append(r)
			r.Kind, r.Decision, r.Beside = journal.Settled, "abandoned", journal.Beside{}
			h.Journal().Append(r)
		}
		delivery("d1", 1, "", "")
		delivery("d2", 2, "", "")
		delivery("d3", 1, `["m","m","n"]`, "[1,2,3]")
		delivery("d4", 2, "", "")
		h.Journal().Append(journal.Record{
			Kind: journal.Enqueued, Service: journal.ServiceBus, Source: "parcels", MessageID: "m", MessageNumber: 4,
			Fields: []journal.Field{{Key: "previous_entity", Value: "parcels/$DeadLetterQueue"}, {Key: "previous_number", Value: "1"}},
		})
		delivery("d5", 4, "", "")
	})
	names := map[string]string{}
	got := map[string][]string{}
	for _, s := range c.spans {
		names[string(s.SpanId)] = attribute(s, "redeliver.delivery")
	}
	for _, s := range c.spans {
		for _, l := range s.Links {
			got[names[string(s.SpanId)]] = append(got[names[string(s.SpanId)]], names[string(l.SpanId)])
		}
	}
	if diff := cmp.Diff(map[string][]string{"d3": {"d1", "d2"}, "d4": {"d3"}, "d5": {"d3"}}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}
