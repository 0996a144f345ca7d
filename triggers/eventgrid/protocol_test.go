package eventgrid_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/eventgrid"
)

// The web hook, request by request, for a function of each schema.
//
// Source: azure-sdk-for-net, HttpRequestProcessor.cs and TestListener.cs (the text of
// the CloudEvents handshake).
func TestProtocol(t *testing.T) {
	t.Parallel()
	const (
		inArray = `[{"id":"i","topic":"/t","subject":"","data":{"validationCode":"code","validationUrl":"url"},"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","eventTime":"2021-06-04T23:02:03.3136561Z","metadataVersion":"1","dataVersion":"2"}]`
		inText  = `{"source":"/s","type":"Microsoft.EventGrid.SubscriptionValidationEvent","id":"i","time":"2021-06-04T23:02:03.3136561Z","specversion":"1.0","data":"{\r\n  \"validationCode\": \"code\",\r\n  \"validationUrl\": \"url\"}"}`
		cloud   = `{"id":"1","source":"/s","type":"t","specversion":"1.0"}`
	)
	kind := func(k string, more ...string) http.Header {
		h := http.Header{"Aeg-Event-Type": {k}}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	code := `{"validationResponse":"code"}`
	for name, test := range map[string]struct {
		method string
		header http.Header
		body   string
		schema eventgrid.Schema
		status int
		want   string // of the body
		runs   int
	}{
		"validation in an array":          {"POST", kind("SubscriptionValidation"), inArray, eventgrid.EventGrid, 200, code, 0},
		"validation, data twice encoded":  {"POST", kind("SubscriptionValidation"), inText, eventgrid.AnySchema, 200, code, 0},
		"validation, object in object":    {"POST", kind("SubscriptionValidation"), strings.Trim(inArray, "[]"), eventgrid.AnySchema, 200, code, 0},
		"validation, header in lower":     {"POST", kind("subscriptionvalidation"), inArray, eventgrid.AnySchema, 200, code, 0},
		"validation for CloudEvents":      {"POST", kind("SubscriptionValidation"), inText, eventgrid.CloudEvents, 409, "bound to CloudEvents", 0},
		"validation, text that is none":   {"POST", kind("SubscriptionValidation"), `{"data":"x"}`, eventgrid.AnySchema, 400, "no validation code", 0},
		"validation, nothing":             {"POST", kind("SubscriptionValidation"), ``, eventgrid.AnySchema, 400, "no event", 0},
		"validation, no data":             {"POST", kind("SubscriptionValidation"), `[{}]`, eventgrid.AnySchema, 400, "", 0},
		"options":                         {"OPTIONS", http.Header{"Webhook-Request-Origin": {"eventgrid.azure.net"}}, "", eventgrid.CloudEvents, 200, "", 0},
		"options, any schema":             {"options", http.Header{"Webhook-Request-Origin": {"x"}, "Webhook-Request-Rate": {"120"}}, "", eventgrid.AnySchema, 200, "", 0},
		"options for events":              {"OPTIONS", http.Header{"Webhook-Request-Origin": {"x"}}, "", eventgrid.EventGrid, 409, "Event Grid schema", 0},
		"options without origin":          {"OPTIONS", nil, "", eventgrid.CloudEvents, 400, "", 0},
		"array":                           {"POST", kind("Notification"), `[{"id":"1"},{"id":"2"}]`, eventgrid.EventGrid, 202, "", 2},
		"single object":                   {"POST", kind("Notification"), ` {"id":"1"} `, eventgrid.EventGrid, 202, "", 1},
		"byte order mark":                 {"POST", kind("Notification"), "\ufeff[{}]", eventgrid.EventGrid, 202, "", 1},
		"header in another case":          {"POST", kind("NOTIFICATION"), `[{}]`, eventgrid.AnySchema, 202, "", 1},
		"CloudEvents, batch":              {"POST", kind("Notification", "Content-Type", "application/cloudevents-batch+json"), "[" + cloud + "," + cloud + "]", eventgrid.CloudEvents, 202, "", 2},
		"CloudEvent, structured":          {"POST", kind("Notification", "Content-Type", "application/cloudevents+json; charset=utf-8"), cloud, eventgrid.CloudEvents, 202, "", 1},
		"CloudEvents without the type":    {"POST", http.Header{"Content-Type": {"application/cloudevents-batch+json"}}, "[" + cloud + "]", eventgrid.CloudEvents, 400, "", 0},
		"CloudEvent in binary mode":       {"POST", http.Header{"Ce-Specversion": {"1.0"}, "Ce-Id": {"1"}, "Ce-Type": {"t"}, "Ce-Source": {"/s"}}, "{}", eventgrid.CloudEvents, 400, "", 0},
		"empty array":                     {"POST", kind("Notification"), `[]`, eventgrid.EventGrid, 202, "", 0},
		"nothing":                         {"POST", kind("Notification"), ``, eventgrid.EventGrid, 400, "neither an event nor an array", 0},
		"text":                            {"POST", kind("Notification"), `"x"`, eventgrid.EventGrid, 400, "neither an event nor an array", 0},
		"array of text":                   {"POST", kind("Notification"), `[{},"x"]`, eventgrid.EventGrid, 400, "event 1 is no JSON object", 0},
		"half an object":                  {"POST", kind("Notification"), `{"id":`, eventgrid.EventGrid, 400, "event 0 is no JSON object", 0},
		"unsubscribe":                     {"POST", kind("Unsubscribe"), ``, eventgrid.EventGrid, 202, "", 0},
		"another type":                    {"POST", kind("SubscriptionDeleted"), `[{}]`, eventgrid.EventGrid, 400, "", 0},
		"no type":                         {"POST", nil, `[{}]`, eventgrid.EventGrid, 400, "", 0},
		"a type that only begins so":      {"POST", kind("Notifications"), `[{}]`, eventgrid.EventGrid, 400, "", 0},
		"events of the other schema, too": {"POST", kind("Notification"), "[" + cloud + "]", eventgrid.EventGrid, 202, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := 0
			s := newStage(t, &eventgrid.Options{Schema: test.schema}, func(context.Context, *triggers.Event) triggers.Result {
				runs++
				return triggers.Result{}
			})
			resp, err := s.serve(&bindings.HTTPRequest{Method: test.method, Header: test.header, Body: []byte(test.body)})
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != test.status || !strings.Contains(string(resp.Body), test.want) || test.want == "" && len(resp.Body) > 0 && test.status < 300 {
				t.Errorf("answer %d %q, want %d %q", resp.StatusCode, resp.Body, test.status, test.want)
			}
			if runs != test.runs {
				t.Errorf("%d runs, want %d", runs, test.runs)
			}
			if origin := test.header.Get("Webhook-Request-Origin"); test.status == 200 && origin != "" && resp.Header.Get("Webhook-Allowed-Origin") != origin {
				t.Errorf("allowed origin %q, want %q", resp.Header.Get("Webhook-Allowed-Origin"), origin)
			}
			if test.want == code && (!json.Valid(resp.Body) || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json")) {
				t.Errorf("answer %q of type %q, want JSON", resp.Body, resp.Header.Get("Content-Type"))
			}
		})
	}
}
