package grid_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const event = `{"id":"1","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":{}}`

type sink struct{ bodies []string }

func (s *sink) Deliver(_ context.Context, r *eventgrid.Request) (*eventgrid.Response, error) {
	s.bodies = append(s.bodies, string(r.Body))
	return &eventgrid.Response{Status: 200}, nil
}

// server is a Grid with a topic for each schema, behind its handler.
type server struct {
	testing.TB
	clk     *clock.Virtual
	grid    *eventgrid.Grid
	sink    *sink
	handler http.Handler
}

var key = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func newServer(tb testing.TB, opts *grid.Options) *server {
	d := &server{TB: tb, clk: clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil), sink: &sink{}}
	d.grid = eventgrid.New(d.clk, &eventgrid.Options{Function: func(string) eventgrid.Endpoint { return d.sink }})
	tb.Cleanup(d.grid.Close)
	d.handler = grid.Handler(d.clk, d.grid, opts)
	d.clk.Do("create", func() {
		for name, schema := range map[string]eventgrid.Schema{"orders": "", "cloud": eventgrid.CloudEventSchema} {
			if err := d.grid.CreateTopic(context.Background(), eventgrid.Topic{Name: name, Key: key, InputSchema: schema}); err != nil {
				tb.Fatal(err)
			}
			if _, err := d.grid.Subscribe(context.Background(), name, eventgrid.Subscription{Name: "s", Function: "F"}); err != nil {
				tb.Fatal(err)
			}
		}
	})
	return d
}

func (d *server) send(method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, bytes.NewBufferString(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	d.clk.Advance(0)
	return w
}

const events = "/orders/api/events?api-version=2018-01-01"

// Requests that are published or refused, with the service's status and code.
func TestPublish(t *testing.T) {
	t.Parallel()
	without := func(field string) string {
		var fields map[string]any
		if err := json.Unmarshal([]byte(event), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, field)
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return "[" + string(raw) + "]"
	}
	with := func(more string) string { return "[" + strings.TrimSuffix(event, "}") + "," + more + "}]" }
	large := func(n int) string { return with(`"x":"` + strings.Repeat("x", n-len(with(`"x":""`))+2) + `"`) }
	ce := `{"id":"1","source":"/s","type":"t","specversion":"1.0"}`
	for name, test := range map[string]struct {
		target, body string
		header       []string
		status       int
		want         string // in the body
	}{
		"one":                   {events, "[" + event + "]", nil, 200, ""},
		"two":                   {events, "[" + event + "," + event + "]", nil, 200, ""},
		"none":                  {events, "[]", nil, 400, "no events"},
		"path as clients go":    {"/orders/api/events/api/events", "[" + event + "]", nil, 200, ""},
		"short path":            {"/Orders", "[" + event + "]", nil, 200, ""},
		"another version":       {"/orders/api/events?api-version=2020-01-01", "[]", nil, 400, "api-version"},
		"an object":             {events, event, nil, 400, "no JSON array of events: found an object"},
		"a text":                {events, ` "x"`, nil, 400, "no JSON array of events: found a text"},
		"no JSON":               {events, "x", nil, 400, "no JSON array"},
		"half":                  {events, "[" + event, nil, 400, "no JSON array"},
		"null":                  {events, "null", nil, 400, "no JSON array"},
		"empty":                 {events, "", nil, 400, "no JSON array"},
		"a number":              {events, "[1]", nil, 400, "event 0: it is no JSON object"},
		"no id":                 {events, without("id"), nil, 400, "event 0: the field id is missing"},
		"no subject":            {events, without("subject"), nil, 400, "the field subject is missing"},
		"no eventType":          {events, without("eventType"), nil, 400, "the field eventType is missing"},
		"no eventTime":          {events, without("eventTime"), nil, 400, "the field eventTime is missing"},
		"eventTime is no time":  {events, strings.Replace("["+event+"]", "2030-01-01T00:00:00Z", "noon", 1), nil, 400, "must be a time"},
		"topic":                 {events, with(`"topic":"x"`), nil, 400, "the field topic is set by the service"},
		"topic null":            {events, with(`"topic":null`), nil, 200, ""},
		"metadataVersion 1":     {events, with(`"metadataVersion":"1"`), nil, 200, ""},
		"metadataVersion 2":     {events, with(`"metadataVersion":"2"`), nil, 400, "metadataVersion"},
		"64 KiB and one":        {events, large(64<<10 + 1), nil, 200, ""},
		"event of 1 MiB":        {events, large(1<<20 - len("[]")), nil, 200, ""},
		"CloudEvent of 1 MiB":   {"/cloud/api/events", strings.Replace(ce, "{", `{"data":"`+strings.Repeat("x", 1<<20-len(ce)-len(`"data":"",`))+`",`, 1), nil, 200, ""},
		"1 MiB and one":         {events, strings.Repeat(" ", 1<<20+1-2) + "[]", nil, 413, "The maximum size (1048576) has been exceeded."},
		"1 MiB":                 {events, strings.Repeat(" ", 1<<20-len(event)-2) + "[" + event + "]", nil, 200, ""},
		"unknown topic":         {"/nobody/api/events", "[]", nil, 404, `topic \"nobody\" does not exist`},
		"another path":          {"/orders/events/x", "[]", nil, 404, "the path is"},
		"CloudEvents elsewhere": {events, "[" + ce + "]", []string{"Content-Type", "application/cloudevents-batch+json"}, 400, "holds CloudEvents"},

		"no version":            {"/orders/api/events", "[" + event + "]", nil, 200, ""},
		"empty version":         {"/orders/api/events?api-version=", "[" + event + "]", nil, 200, ""},
		"byte order mark":       {events, "\ufeff[" + event + "]", nil, 200, ""},
		"Latin-1":               {events, strings.Replace("["+event+"]", `"s"`, "\"\xe4\"", 1), nil, 400, "not UTF-8"},
		"UTF-16":                {events, "[\x00{\x00}\x00]\x00", nil, 400, "no JSON array"},
		"spaces around":         {events, " \r\n\t[" + event + "]\n", nil, 200, ""},
		"two arrays":            {events, "[" + event + "][]", nil, 400, "no JSON array"},
		"no content type":       {events, "[" + event + "]", []string{"Content-Type", ""}, 200, ""},
		"plain text":            {events, "[" + event + "]", []string{"Content-Type", "text/plain"}, 200, ""},
		"no data":               {events, without("data"), nil, 200, ""},
		"data null":             {events, strings.Replace("["+event+"]", "{}", "null", 1), nil, 200, ""},
		"data is text":          {events, strings.Replace("["+event+"]", "{}", `"x"`, 1), nil, 200, ""},
		"data is a list":        {events, strings.Replace("["+event+"]", "{}", `[1]`, 1), nil, 200, ""},
		"id twice":              {events, with(`"id":"2"`), nil, 200, ""},
		"id twice, last null":   {events, with(`"id":null`), nil, 400, "the field id is missing"},
		"id is a number":        {events, with(`"id":7`), nil, 400, "the field id must be text; found 7"},
		"id is empty":           {events, with(`"id":""`), nil, 400, "the field id is empty"},
		"another case":          {events, strings.Replace("["+event+"]", `"id"`, `"ID"`, 1), nil, 400, "the field id is missing"},
		"second is bad":         {events, "[" + event + "," + without("id")[1:], nil, 400, "event 1: the field id is missing"},
		"time with offset":      {events, with(`"eventTime":"2030-01-01T01:00:00.1234567+01:00"`), nil, 200, ""},
		"time without offset":   {events, with(`"eventTime":"2030-01-01T00:00:00"`), nil, 200, ""},
		"time is a number":      {events, with(`"eventTime":1893456000`), nil, 400, "the field eventTime must be text"},
		"no such day":           {events, with(`"eventTime":"2030-02-30T00:00:00Z"`), nil, 400, "must be a time"},
		"topic empty":           {events, with(`"topic":""`), nil, 200, ""},
		"metadataVersion null":  {events, with(`"metadataVersion":null`), nil, 200, ""},
		"metadataVersion 1 (n)": {events, with(`"metadataVersion":1`), nil, 400, "metadataVersion"},
		"dataVersion":           {events, with(`"dataVersion":"2"`), nil, 200, ""},
		"dataVersion null":      {events, with(`"dataVersion":null`), nil, 200, ""},
		"dataVersion a number":  {events, with(`"dataVersion":2`), nil, 400, "dataVersion"},
		"extra field":           {events, with(`"more":{"a":[1]}`), nil, 200, ""},

		"structured array":         {"/cloud/api/events", "[" + ce + "]", []string{"Content-Type", "application/cloudevents+json"}, 400, "is an array"},
		"batch of one object":      {"/cloud/api/events", ce, []string{"Content-Type", "Application/CloudEvents-Batch+JSON;charset=UTF-8"}, 400, "is one event"},
		"batch, empty":             {"/cloud/api/events", "[]", []string{"Content-Type", "application/cloudevents-batch+json"}, 400, "no events"},
		"CloudEvent as JSON":       {"/cloud/api/events", ce, []string{"Content-Type", "application/json"}, 200, ""},
		"CloudEvents as JSON":      {"/cloud/api/events", "[" + ce + "]", []string{"Content-Type", "application/json; charset=utf-8"}, 200, ""},
		"CloudEvent no id":         {"/cloud/api/events", strings.Replace(ce, `"id":"1",`, "", 1), nil, 400, "the field id is missing"},
		"CloudEvent no type":       {"/cloud/api/events", strings.Replace(ce, `"type":"t",`, "", 1), nil, 400, "the field type is missing"},
		"CloudEvent no version":    {"/cloud/api/events", strings.Replace(ce, `,"specversion":"1.0"`, "", 1), nil, 400, "the field specversion is missing"},
		"CloudEvent bad time":      {"/cloud/api/events", strings.Replace(ce, "{", `{"time":"noon",`, 1), nil, 400, "must be a time"},
		"CloudEvent time null":     {"/cloud/api/events", strings.Replace(ce, "{", `{"time":null,`, 1), nil, 200, ""},
		"data and data_base64":     {"/cloud/api/events", strings.Replace(ce, "{", `{"data":1,"data_base64":"AA==",`, 1), nil, 400, "exclude each other"},
		"data_base64 is none":      {"/cloud/api/events", strings.Replace(ce, "{", `{"data_base64":"?",`, 1), nil, 400, "not base64"},
		"subject is a number":      {"/cloud/api/events", strings.Replace(ce, "{", `{"subject":1,`, 1), nil, 400, "the attribute subject must be text"},
		"datacontenttype list":     {"/cloud/api/events", strings.Replace(ce, "{", `{"datacontenttype":[],`, 1), nil, 400, "datacontenttype must be text"},
		"subject null":             {"/cloud/api/events", strings.Replace(ce, "{", `{"subject":null,`, 1), nil, 200, ""},
		"topic in a CloudEvent":    {"/cloud/api/events", strings.Replace(ce, "{", `{"topic":"x",`, 1), nil, 200, ""},
		"structured with headers":  {"/cloud/api/events", ce, []string{"Content-Type", "application/cloudevents+json", "ce-id", "other"}, 200, ""},
		"binary without version":   {"/cloud/api/events", `{"a":1}`, []string{"Content-Type", "application/json", "ce-id", "b", "ce-source", "/s", "ce-type", "t"}, 400, "missing"},
		"binary 0.3":               {"/cloud/api/events", `{"a":1}`, []string{"ce-specversion", "0.3", "ce-id", "b", "ce-source", "/s", "ce-type", "t"}, 400, "specversion"},
		"binary without source":    {"/cloud/api/events", `{"a":1}`, []string{"ce-specversion", "1.0", "ce-id", "b", "ce-type", "t"}, 400, "source is missing"},
		"binary without type":      {"/cloud/api/events", `{"a":1}`, []string{"ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s"}, 400, "type is missing"},
		"binary, no body":          {"/cloud/api/events", "", []string{"ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t"}, 200, ""},
		"binary, data in a header": {"/cloud/api/events", "", []string{"ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t", "ce-data", "x"}, 400, "no attribute"},
		"binary elsewhere":         {events, "{}", []string{"ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t"}, 400, "holds CloudEvents"},
		"binary too large":         {"/cloud/api/events", strings.Repeat("x", 1<<20), []string{"Content-Type", "text/plain", "ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t"}, 413, "the limit is 1048576"},

		"CloudEvent":                {"/cloud/api/events", ce, []string{"Content-Type", "application/cloudevents+json; charset=utf-8"}, 200, ""},
		"CloudEvents":               {"/cloud/api/events", "[" + ce + "," + ce + "]", []string{"Content-Type", "application/cloudevents-batch+json"}, 200, ""},
		"CloudEvent 0.3":            {"/cloud/api/events", strings.Replace(ce, "1.0", "0.3", 1), nil, 400, "specversion"},
		"CloudEvent without source": {"/cloud/api/events", strings.Replace(ce, "source", "sauce", 1), nil, 400, "the field source is missing"},
		"event for a cloud topic":   {"/cloud/api/events", "[" + event + "]", nil, 400, "missing"},
		"binary":                    {"/cloud/api/events", `{"a":1}`, []string{"Content-Type", "application/json", "ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t", "ce-ext", "x%20y"}, 200, ""},
		"binary without id":         {"/cloud/api/events", `{"a":1}`, []string{"Content-Type", "application/json", "ce-specversion", "1.0", "ce-source", "/s", "ce-type", "t"}, 400, "id is missing"},
		"binary, bad JSON":          {"/cloud/api/events", `{`, []string{"Content-Type", "application/json", "ce-specversion", "1.0"}, 400, "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			w := d.send("POST", test.target, test.body, append([]string{"aeg-sas-key", key, "Content-Type", "application/json"}, test.header...)...)
			if w.Header().Get("Api-Supported-Versions") != "2018-01-01" || len(w.Header().Get("X-Ms-Request-Id")) != 36 {
				t.Errorf("headers %v, want the service's own", w.Header())
			}
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Fatalf("%d %s, want %d and %q", w.Code, w.Body, test.status, test.want)
			}
			if w.Code == 200 {
				if w.Body.Len() != 0 {
					t.Errorf("body %q, want none", w.Body)
				}
				return
			}
			var refusal struct {
				Error struct{ Code, Message string }
			}
			if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
			if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || refusal.Error.Code == "" || refusal.Error.Message == "" {
				t.Errorf("body %q, want an error with code and message", w.Body)
			}
			if len(d.sink.bodies) != 0 {
				t.Errorf("delivered %q", d.sink.bodies)
			}
		})
	}
}

// A CloudEvent in binary mode is delivered in structured mode.
func TestBinaryMode(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	for _, test := range [][3]string{
		{"application/json", `{"a":1}`, `"data":{"a":1},"datacontenttype":"application/json"`},
		{"text/plain", "hi", `"data":"hi","datacontenttype":"text/plain"`},
		{"text/plain", "\xff", `"data_base64":"/w==","datacontenttype":"text/plain"`},
		{"application/xml", "<a/>", `"data":"\u003ca/\u003e","datacontenttype":"application/xml"`},
		{"application/vnd.shop+json", "[1]", `"data":[1],"datacontenttype":"application/vnd.shop+json"`},
		{"application/octet-stream", "\x00\x01", `"data_base64":"AAE=","datacontenttype":"application/octet-stream"`},
	} {
		d.sink.bodies = nil
		w := d.send("POST", "/cloud/api/events", test[1], "aeg-sas-key", key, "Content-Type", test[0], "ce-specversion", "1.0", "ce-id", "b", "ce-source", "/s", "ce-type", "t", "ce-ext", "x%20y")
		want := `{` + test[2] + `,"ext":"x y","id":"b","source":"/s","specversion":"1.0","type":"t"}`
		if w.Code != 200 || len(d.sink.bodies) != 1 || d.sink.bodies[0] != want {
			t.Errorf("%d, delivered %q, want %s", w.Code, d.sink.bodies, want)
		}
	}
}

// Other methods than POST.
func TestMethods(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "PATCH"} {
		w := d.send(method, events, "")
		if w.Code != 405 || w.Header().Get("Allow") != "OPTIONS, POST" {
			t.Errorf("%s: %d, allowed %q; want 405", method, w.Code, w.Header().Get("Allow"))
		}
	}
	for topic, schema := range map[string]string{"orders": "EventGridEvent", "cloud": "CloudEventV10"} {
		w := d.send("OPTIONS", "/"+topic+"/api/events", "")
		if w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Aeg-Input-Event-Schema") != schema || w.Header().Get("Allow") != "OPTIONS, POST" {
			t.Errorf("OPTIONS of %s: %d %v", topic, w.Code, w.Header())
		}
	}
	if w := d.send("OPTIONS", "/nobody/api/events", ""); w.Code != 404 {
		t.Errorf("OPTIONS of no topic: %d, want 404", w.Code)
	}
	if w := d.send("GET", "/orders/validate?subscription=s&id=x", ""); w.Code != 404 {
		t.Errorf("validation of nothing: %d, want 404", w.Code)
	}
	if w := d.send("POST", "/orders/validate?subscription=s&id=x", ""); w.Code != 404 {
		t.Errorf("POST to the validation: %d, want 404", w.Code)
	}
}

// All events of a request or none.
func TestAllOrNone(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	w := d.send("POST", events, "["+event+","+strings.Replace(event, `"id"`, `"no"`, 1)+"]", "aeg-sas-key", key)
	if w.Code != 400 || len(d.sink.bodies) != 0 {
		t.Errorf("%d, delivered %q; want 400 and nothing", w.Code, d.sink.bodies)
	}
}

// Odd but good events as they are delivered: the last of several fields with one
// name, unknown fields, and fields that the service adds.
func TestOddEventsAsDelivered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ topic, body, want string }{
		"id twice": {
			"orders", `[{"id":"1","id":"2","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","dataVersion":"1"}]`,
			`[{"id":"2","topic":"TOPIC","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","dataVersion":"1","metadataVersion":"1"}]`,
		},
		"no dataVersion": {
			"orders", `[{"id":"1","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":[1]}]`,
			`[{"id":"1","topic":"TOPIC","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":[1],"dataVersion":"","metadataVersion":"1"}]`,
		},
		"null fields": {
			"orders", `[{"id":"1","topic":null,"subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":null,"dataVersion":null,"metadataVersion":null}]`,
			`[{"id":"1","topic":"TOPIC","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":null,"dataVersion":"","metadataVersion":"1"}]`,
		},
		"numbers and escapes": {
			"orders", `[{"id":"1","subject":"\u00e4/<b>","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":{"n":1.10e400,"big":12345678901234567890},"dataVersion":"1","more":true}]`,
			`[{"id":"1","topic":"TOPIC","subject":"\u00e4/<b>","eventType":"t","eventTime":"2030-01-01T00:00:00Z","data":{"n":1.10e400,"big":12345678901234567890},"dataVersion":"1","metadataVersion":"1","more":true}]`,
		},
		"extensions of a CloudEvent": {
			"cloud", `{"specversion":"1.0","id":"1","source":"/s","type":"t","ext":"x","n":7,"b":true,"data_base64":"AAE="}`,
			`{"specversion":"1.0","id":"1","source":"/s","type":"t","ext":"x","n":7,"b":true,"data_base64":"AAE="}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newServer(t, nil)
			w := d.send("POST", "/"+test.topic+"/api/events", test.body, "aeg-sas-key", key)
			want := strings.Replace(test.want, "TOPIC", "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver/providers/Microsoft.EventGrid/topics/orders", 1)
			if w.Code != 200 || len(d.sink.bodies) != 1 || d.sink.bodies[0] != want {
				t.Errorf("%d %s\n got %q\nwant %s", w.Code, w.Body, d.sink.bodies, want)
			}
		})
	}
}

func FuzzPublish(f *testing.F) {
	f.Add("orders", "", "["+event+"]")
	f.Add("cloud", "application/cloudevents+json", `{"id":"1","source":"/s","type":"t","specversion":"1.0","data_base64":"AA=="}`)
	f.Add("cloud", "text/plain", "x")
	f.Fuzz(func(t *testing.T, topic, contentType, body string) {
		d := newServer(t, &grid.Options{Open: true})
		w := d.send("POST", "/"+url.PathEscape(topic)+"/api/events", body, "Content-Type", contentType)
		if w.Code == 200 {
			for _, delivered := range d.sink.bodies {
				if !json.Valid([]byte(delivered)) {
					t.Errorf("delivered %q, which is no JSON", delivered)
				}
			}
		} else if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	})
}
