package azure_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/messaging"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/azeventgrid"
	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// gridOptions are the options of a client that trusts the server.
func (d *gridBench) gridOptions(t *testing.T) *azeventgrid.ClientOptions {
	t.Helper()
	return &azeventgrid.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: d.client(t), Retry: policy.RetryOptions{MaxRetries: -1},
	}}
}

// keyClient publishes to a topic with a key.
func (d *gridBench) keyClient(t *testing.T, topic, key string) *azeventgrid.Client {
	t.Helper()
	c, err := azeventgrid.NewClientWithSharedKeyCredential(d.https+"/"+topic+"/api/events", azcore.NewKeyCredential(key), d.gridOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func goEvent(id string) azeventgrid.Event {
	return azeventgrid.Event{
		ID: to.Ptr(id), Subject: to.Ptr("/orders/" + id), EventType: to.Ptr("Shop.Ordered"),
		EventTime: to.Ptr(time.Date(2026, 7, 8, 9, 10, 11, 120_000_000, time.UTC)), Data: map[string]any{"amount": 7, "deep": []string{"ä"}}, DataVersion: to.Ptr("2.1"),
	}
}

const ordersResource = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.EventGrid/topics/orders"

// An event that azeventgrid publishes in the Event Grid schema reaches a function
// and a web hook with every field.
func TestGoEventGridSDK(t *testing.T) {
	t.Parallel()
	d, hook := openGridServer(t), openWebHook(t)
	if state, err := d.subscribe("orders", eventgrid.Subscription{Name: "hook", Endpoint: hook.url}); err != nil || state != eventgrid.Active {
		t.Fatalf("%s, %v", state, err)
	}
	if _, err := d.keyClient(t, "orders", gridKey).PublishEvents(t.Context(), []azeventgrid.Event{goEvent("1"), goEvent("2")}, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := hook.next(t)
		var events []map[string]any
		if err := json.Unmarshal(r.body, &events); err != nil || len(events) != 1 {
			t.Fatalf("%v in %s", err, r.body)
		}
		id, _ := events[0]["id"].(string)
		want := map[string]any{
			"id": id, "topic": ordersResource, "subject": "/orders/" + id, "eventType": "Shop.Ordered", "eventTime": "2026-07-08T09:10:11.12Z",
			"data": map[string]any{"amount": 7.0, "deep": []any{"ä"}}, "dataVersion": "2.1", "metadataVersion": "1",
		}
		if diff := cmp.Diff(want, events[0]); diff != "" {
			t.Errorf("web hook (-want +got):\n%s", diff)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "aeg-event-type": "Notification", "aeg-subscription-name": "HOOK",
			"aeg-delivery-count": "0", "aeg-data-version": "2.1", "aeg-metadata-version": "1",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	d.host.Advance(0)
	if orders, _ := d.received(); !cmp.Equal(orders, []string{"1", "2"}) {
		t.Fatalf("the function got %q", orders)
	}
	want := functions.EventGridEvent{
		ID: d.orders[0].ID, Topic: ordersResource, Subject: "/orders/" + d.orders[0].ID, EventType: "Shop.Ordered",
		EventTime: time.Date(2026, 7, 8, 9, 10, 11, 120_000_000, time.UTC), Data: json.RawMessage(`{"amount":7,"deep":["ä"]}`), DataVersion: "2.1", DeliveryCount: 1,
	}
	if diff := cmp.Diff(want, d.orders[0]); diff != "" {
		t.Errorf("function (-want +got):\n%s", diff)
	}
}

// So do its CloudEvents: with an object, text and bytes as data, every attribute and
// extensions.
func TestGoEventGridSDKCloudEvents(t *testing.T) {
	t.Parallel()
	d, hook := openGridServer(t), openWebHook(t)
	if _, err := d.subscribe("cloud", eventgrid.Subscription{Name: "hook", Endpoint: hook.url, MaxEventsPerBatch: 10}); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 8, 9, 10, 11, 0, time.UTC)
	events := []messaging.CloudEvent{
		{
			ID: "object", Source: "/shop", SpecVersion: "1.0", Type: "Shop.Ordered", Data: map[string]any{"amount": 7}, Time: &at, Subject: to.Ptr("s"),
			DataContentType: to.Ptr("application/json"), DataSchema: to.Ptr("https://shop/schema"), Extensions: map[string]any{"traceparent": "00-1-2-00", "number": 5.0, "yes": true},
		},
		{ID: "text", Source: "/shop", SpecVersion: "1.0", Type: "Shop.Ordered", Data: "grüße", Time: &at},
		{ID: "bytes", Source: "/shop", SpecVersion: "1.0", Type: "Shop.Ordered", Data: []byte{0, 1, 255}, DataContentType: to.Ptr("application/octet-stream"), Time: &at},
		{ID: "nothing", Source: "/shop", SpecVersion: "1.0", Type: "Shop.Ordered", Time: &at},
	}
	if _, err := d.keyClient(t, "cloud", gridKey).PublishCloudEvents(t.Context(), events, nil); err != nil {
		t.Fatal(err)
	}
	r := hook.next(t)
	if got := r.header.Get("Content-Type"); got != "application/cloudevents-batch+json; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	var got []messaging.CloudEvent
	if err := json.Unmarshal(r.body, &got); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
	// The client gives data that is JSON as its text.
	events[0].Data, events[1].Data, events[3].Data = []byte(`{"amount":7}`), []byte(`"grüße"`), nil
	if diff := cmp.Diff(events, got); diff != "" {
		t.Errorf("web hook (-want +got):\n%s\n%s", diff, r.body)
	}
	d.host.Advance(0)
	if _, clouds := d.received(); !cmp.Equal(clouds, []string{"bytes", "nothing", "object", "text"}) {
		t.Errorf("the function got %q", clouds)
	}
}

// The ways to be let in, with each client of azeventgrid, which sends a key over HTTPS
// only.
func TestGoEventGridSDKCredentials(t *testing.T) {
	t.Parallel()
	d := openGridServer(t)
	endpoint := d.https + "/orders/api/events"
	publish := func(id string, c *azeventgrid.Client, err error) error {
		t.Helper()
		if err == nil {
			_, err = c.PublishEvents(t.Context(), []azeventgrid.Event{goEvent(id)}, nil)
		}
		return err
	}
	must := func(id string, c *azeventgrid.Client, err error) {
		t.Helper()
		if err := publish(id, c, err); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	token := gridToken(endpoint, gridKey, time.Now().Add(time.Hour))
	sas, err := azeventgrid.NewClientWithSAS(endpoint, azcore.NewSASCredential(token), d.gridOptions(t))
	must("token", sas, err)
	bearer, err := azeventgrid.NewClient(endpoint, anybody{}, d.gridOptions(t))
	must("bearer", bearer, err)
	header, err := azeventgrid.NewClientWithSAS(endpoint, azcore.NewSASCredential("-"), d.headerOptions(t, "Authorization", "SharedAccessSignature "+token))
	must("header", header, err)
	key, err := azeventgrid.NewClientWithSharedKeyCredential(endpoint, azcore.NewKeyCredential(gridKey), d.gridOptions(t))
	must("key", key, err)
	plain, err := azeventgrid.NewClientWithSharedKeyCredential(d.http+"/orders/api/events", azcore.NewKeyCredential(gridKey), d.gridOptions(t))
	if err := publish("plain", plain, err); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("a key over HTTP: %v, want the client's own refusal", err)
	}
	d.host.Advance(0)
	if orders, _ := d.received(); !cmp.Equal(orders, []string{"bearer", "header", "key", "token"}) {
		t.Errorf("the function got %q", orders)
	}
}

// anybody is a credential of Entra ID that knows no directory.
type anybody struct{}

func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "eyJ0eXAiOiJKV1QifQ.e30.", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// headerOptions are gridOptions of a client whose requests carry a header in the
// place of its own credential.
func (d *gridBench) headerOptions(t *testing.T, name, value string) *azeventgrid.ClientOptions {
	opts := d.gridOptions(t)
	opts.Transport = headerTransport{opts.Transport, name, value}
	return opts
}

type headerTransport struct {
	policy.Transporter
	name, value string
}

func (h headerTransport) Do(req *http.Request) (*http.Response, error) {
	req.Header.Del("aeg-sas-token")
	req.Header.Set(h.name, h.value)
	return h.Transporter.Do(req)
}

// Every refusal is the client's *azcore.ResponseError, with the service's status and
// code.
func TestGoEventGridSDKErrors(t *testing.T) {
	t.Parallel()
	d := openGridServer(t)
	good := []any{map[string]any{"id": "1", "subject": "s", "eventType": "t", "eventTime": time.Now(), "data": nil}}
	without := func(field string) []any {
		event := maps.Clone(good[0].(map[string]any))
		delete(event, field)
		return []any{event}
	}
	with := func(field string, value any) []any {
		event := maps.Clone(good[0].(map[string]any))
		event[field] = value
		return []any{event}
	}
	token := func(topic, key string, expiry time.Time) *azeventgrid.Client {
		c, err := azeventgrid.NewClientWithSAS(d.https+"/orders/api/events", azcore.NewSASCredential(gridToken(d.https+"/"+topic+"/api/events", key, expiry)), d.gridOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	hour := time.Now().Add(time.Hour)
	other := base64.StdEncoding.EncodeToString([]byte("another"))
	orders := d.keyClient(t, "orders", gridKey)
	for name, test := range map[string]struct {
		client *azeventgrid.Client
		events []any
		status int
		code   string
	}{
		"wrong key":              {d.keyClient(t, "orders", other), good, 401, "Unauthorized"},
		"token of another key":   {token("orders", other, hour), good, 401, "Unauthorized"},
		"token of another topic": {token("other", gridKey, hour), good, 401, "Unauthorized"},
		"expired token":          {token("orders", gridKey, time.Now().Add(-time.Minute)), good, 401, "Unauthorized"},
		"unknown topic":          {d.keyClient(t, "nowhere", gridKey), good, 404, "ResourceNotFound"},
		"no id":                  {orders, without("id"), 400, "BadRequest"},
		"no subject":             {orders, without("subject"), 400, "BadRequest"},
		"no eventType":           {orders, without("eventType"), 400, "BadRequest"},
		"no eventTime":           {orders, without("eventTime"), 400, "BadRequest"},
		"preset topic":           {orders, with("topic", "t"), 400, "BadRequest"},
		"metadataVersion 2":      {orders, with("metadataVersion", "2"), 400, "BadRequest"},
		"event too large":        {orders, with("data", strings.Repeat("x", 1_050_000)), 413, "PayloadTooLarge"},
		"request too large":      {orders, slices.Repeat(with("data", strings.Repeat("x", 60_000)), 30), 413, "PayloadTooLarge"},
		"another schema":         {d.keyClient(t, "cloud", gridKey), good, 400, "BadRequest"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.client.PublishCustomEventEvents(t.Context(), test.events, nil)
			refused, ok := errors.AsType[*azcore.ResponseError](err)
			if !ok || refused.StatusCode != test.status || refused.ErrorCode != test.code {
				t.Fatalf("%v, want status %d and code %s", err, test.status, test.code)
			}
		})
	}
	if orders, clouds := d.received(); len(orders) != 0 || len(clouds) != 0 {
		t.Errorf("the functions got %q and %q", orders, clouds)
	}
}
