package web_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/web"
)

const (
	hookPath  = "/runtime/webhooks/EventGrid?functionName="
	hookEvent = `{"id":"1","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":{}}`
)

func eventGridApp() *functions.App {
	app := functions.New()
	app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		if e.ID == "bad" {
			return errors.New("out of stock")
		}
		return nil
	})
	app.CloudEvent("OnCloud", func(context.Context, functions.CloudEvent) error { return nil })
	app.EventGrid("Off", func(context.Context, functions.EventGridEvent) error { return nil }, functions.Disabled())
	app.Queue("Other", "orders", nothing)
	return app
}

// The web hook of Event Grid, request by request.
//
// Source: spec 5.7; azure-sdk-for-net, Extensions.EventGrid tests/TestListener.cs.
func TestEventGridHook(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), eventGridApp(), nil)
	origin := withHeader("WebHook-Request-Origin", "eventgrid.azure.net")
	kind := func(k string) func(*http.Request) { return withHeader("aeg-event-type", k) }
	validation := `{"id":"1","data":{"validationCode":"abc","validationUrl":"u"},"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent"}`
	for name, test := range map[string]struct {
		method, function, body string
		edit                   []func(*http.Request)
		status                 int
		want                   string // in the body
	}{
		"one event":                    {"POST", "OnOrder", "[" + hookEvent + "]", []func(*http.Request){kind("Notification")}, 202, ""},
		"an object":                    {"POST", "onorder", hookEvent, []func(*http.Request){kind("Notification")}, 202, ""},
		"no event":                     {"POST", "OnOrder", "[]", []func(*http.Request){kind("Notification")}, 202, ""},
		"one of two fails":             {"POST", "OnOrder", "[" + hookEvent + "," + strings.Replace(hookEvent, `"1"`, `"bad"`, 1) + "]", []func(*http.Request){kind("Notification")}, 500, "out of stock"},
		"no JSON":                      {"POST", "OnOrder", "x", []func(*http.Request){kind("Notification")}, 400, ""},
		"validation":                   {"POST", "OnOrder", "[" + validation + "]", []func(*http.Request){kind("SubscriptionValidation")}, 200, `{"validationResponse":"abc"}`},
		"validation, data as text":     {"POST", "OnOrder", `{"id":"1","data":"{\"validationCode\":\"abc\"}"}`, []func(*http.Request){kind("SubscriptionValidation")}, 200, `{"validationResponse":"abc"}`},
		"validation for CloudEvents":   {"POST", "OnCloud", "[" + validation + "]", []func(*http.Request){kind("SubscriptionValidation")}, 409, ""},
		"validation without a code":    {"POST", "OnOrder", "[" + hookEvent + "]", []func(*http.Request){kind("SubscriptionValidation")}, 400, ""},
		"options":                      {"OPTIONS", "OnCloud", "", []func(*http.Request){origin}, 200, ""},
		"options for events":           {"OPTIONS", "OnOrder", "", []func(*http.Request){origin}, 409, ""},
		"through a tunnel":             {"POST", "OnOrder", hookEvent, []func(*http.Request){kind("Notification"), withHeader("Host", "shop.tunnel.example")}, 202, ""},
		"a page of another origin":     {"POST", "OnOrder", hookEvent, []func(*http.Request){kind("Notification"), withHeader("Origin", "http://evil.example")}, 403, ""},
		"a page of a rebound name":     {"POST", "OnOrder", hookEvent, []func(*http.Request){kind("Notification"), withHeader("Host", "evil.example"), withHeader("Origin", "http://evil.example")}, 403, ""},
		"options without origin":       {"OPTIONS", "OnCloud", "", nil, 400, ""},
		"unsubscribe":                  {"POST", "OnOrder", "[]", []func(*http.Request){kind("Unsubscribe")}, 202, ""},
		"another type":                 {"POST", "OnOrder", "[]", []func(*http.Request){kind("Other")}, 400, ""},
		"no type":                      {"POST", "OnOrder", "[" + hookEvent + "]", nil, 400, ""},
		"unknown function":             {"POST", "Nobody", "[]", []func(*http.Request){kind("Notification")}, 404, "cannot find function: 'Nobody'"},
		"a function of another kind":   {"POST", "Other", "[]", []func(*http.Request){kind("Notification")}, 404, "cannot find function: 'Other'"},
		"a function that is disabled":  {"POST", "Off", "[]", []func(*http.Request){kind("Notification")}, 404, "cannot find function: 'Off'"},
		"a method that is not its own": {"GET", "OnOrder", "", []func(*http.Request){kind("Notification")}, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.want(test.status, test.method, hookPath+test.function, test.body, test.edit...)
			if !strings.Contains(a.Body, test.want) {
				t.Errorf("body %q, want %q", a.Body, test.want)
			}
			if name == "options" && a.Header.Get("WebHook-Allowed-Origin") != "eventgrid.azure.net" {
				t.Errorf("headers %v", a.Header)
			}
		})
	}
	d.want(202, "POST", "/admin/extensions/EventGridExtensionConfig?functionname=OnOrder", "["+hookEvent+"]", kind("Notification"))
}

// The web hook of blob functions with the source EventGrid.
func TestBlobHook(t *testing.T) {
	t.Parallel()
	app2 := functions.New()
	app2.Handle("OnBlob", func(context.Context, *functions.Trigger) error { return nil })
	app2.Blob("Scanned", "other/{name}", func(context.Context, functions.Blob) error { return nil })
	d := open(t, app(plainHostJSON, "OnBlob/function.json",
		`{"bindings":[{"type":"blobTrigger","name":"b","direction":"in","path":"uploads/{name}","source":"EventGrid","dataType":"string"}]}`), app2, nil)
	notification := withHeader("aeg-event-type", "Notification")
	event := `[{"id":"1","subject":"/blobServices/default/containers/uploads/blobs/a","eventType":"Microsoft.Storage.BlobCreated","data":{"eTag":"0x1","blobType":"BlockBlob"}}]`
	d.want(202, "POST", "/runtime/webhooks/blobs?functionName=OnBlob", event, notification)
	d.want(202, "POST", "/runtime/webhooks/blobs?functionName=OnBlob", strings.Replace(event, "Created", "Deleted", 1), notification)
	d.want(500, "POST", "/runtime/webhooks/blobs?functionName=OnBlob", strings.Replace(event, "/blobServices", "x", 1), notification)
	d.want(404, "POST", "/runtime/webhooks/blobs?functionName=Scanned", event, notification)
	d.want(400, "POST", "/runtime/webhooks/blobs?functionName=OnBlob", event)
}

// With keys, the web hook opens to its system key and to the master key only.
func TestEventGridHookKeys(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), eventGridApp(), &web.Options{EnableAuth: true})
	keys, err := web.OpenKeys(web.KeysFile(d.host.Dir()))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"master//": 202, "system//eventgrid_extension": 202, "system//blobs_extension": 401, "system//durabletask_extension": 401, "host//default": 401}
	for _, k := range keys.All() {
		name := k.Kind + "/" + k.Function + "/" + k.Name
		for _, code := range []string{"code", "Code"} {
			d.want(want[name], "POST", hookPath+"OnOrder&"+code+"="+k.Value, "["+hookEvent+"]", withHeader("aeg-event-type", "Notification"))
		}
		d.want(want[name], "POST", hookPath+"OnOrder", "["+hookEvent+"]", withHeader("aeg-event-type", "Notification"), withHeader("X-Functions-Key", k.Value))
	}
	d.want(401, "POST", hookPath+"OnOrder", "[]")
	d.want(401, "POST", hookPath+"OnOrder&code="+keys.All()[0].Value, "[]", withHeader("X-Functions-Key", ""))
}
