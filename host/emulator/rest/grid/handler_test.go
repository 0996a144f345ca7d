package grid_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
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

// door is a Grid with a topic for each schema, behind its handler.
type door struct {
	testing.TB
	clk     *clock.Virtual
	grid    *eventgrid.Grid
	sink    *sink
	handler http.Handler
}

var key = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func newDoor(tb testing.TB, opts *grid.Options) *door {
	d := &door{TB: tb, clk: clock.NewVirtual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), nil), sink: &sink{}}
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

func (d *door) send(method, target, body string, header ...string) *httptest.ResponseRecorder {
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

// What is published and what is refused, with the service's status and code.
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
		"none":                  {events, "[]", nil, 200, ""},
		"path as clients go":    {"/orders/api/events/api/events", "[" + event + "]", nil, 200, ""},
		"short path":            {"/Orders", "[" + event + "]", nil, 200, ""},
		"another version":       {"/orders/api/events?api-version=2020-01-01", "[]", nil, 400, "api-version"},
		"an object":             {events, event, nil, 400, "no JSON array"},
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
		"64 KiB":                {events, large(64 << 10), nil, 200, ""},
		"64 KiB and one":        {events, large(64<<10 + 1), nil, 413, "65537 bytes"},
		"1 MiB and one":         {events, strings.Repeat(" ", 1<<20+1-2) + "[]", nil, 413, "larger than 1048576"},
		"1 MiB":                 {events, strings.Repeat(" ", 1<<20-2) + "[]", nil, 200, ""},
		"unknown topic":         {"/nobody/api/events", "[]", nil, 404, `topic \"nobody\" does not exist`},
		"another path":          {"/orders/events/x", "[]", nil, 404, "the path is"},
		"CloudEvents elsewhere": {events, "[" + ce + "]", []string{"Content-Type", "application/cloudevents-batch+json"}, 400, "holds CloudEvents"},

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
			d := newDoor(t, nil)
			w := d.send("POST", test.target, test.body, append([]string{"aeg-sas-key", key}, test.header...)...)
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
	d := newDoor(t, nil)
	for _, test := range [][3]string{
		{"application/json", `{"a":1}`, `"data":{"a":1},"datacontenttype":"application/json"`},
		{"text/plain", "hi", `"data":"hi","datacontenttype":"text/plain"`},
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

func token(resource, expiry, key string) string {
	signed := "r=" + url.QueryEscape(resource) + "&e=" + url.QueryEscape(expiry)
	raw, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		raw = []byte(key)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(signed))
	return signed + "&s=" + url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// Keys and tokens.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	const resource, later, past = "https://localhost/orders/api/events", "1/1/2031 12:00:00 AM", "12/31/2029 11:59:59 PM"
	good := token(resource, later, key)
	for name, test := range map[string]struct {
		opts   *grid.Options
		header []string
		status int
	}{
		"key":                   {nil, []string{"aeg-sas-key", key}, 200},
		"wrong key":             {nil, []string{"aeg-sas-key", key + "x"}, 401},
		"nothing":               {nil, nil, 401},
		"nothing, open":         {&grid.Options{Open: true}, nil, 200},
		"wrong key, open":       {&grid.Options{Open: true}, []string{"aeg-sas-key", "x"}, 401},
		"token":                 {nil, []string{"aeg-sas-token", good}, 200},
		"Authorization":         {nil, []string{"Authorization", "SharedAccessSignature " + good}, 200},
		"for the topic":         {nil, []string{"aeg-sas-token", token("https://localhost/Orders", later, key)}, 200},
		"for another topic":     {nil, []string{"aeg-sas-token", token("https://localhost/other/api/events", later, key)}, 401},
		"signed by another key": {nil, []string{"aeg-sas-token", token(resource, later, "x")}, 401},
		"changed":               {nil, []string{"aeg-sas-token", strings.Replace(good, "2031", "2032", 1)}, 401},
		"no signature":          {nil, []string{"aeg-sas-token", "r=x&e=y"}, 401},
		"no expiry":             {nil, []string{"aeg-sas-token", token(resource, "soon", key)}, 401},
		"expired":               {nil, []string{"aeg-sas-token", token(resource, past, key)}, 200},
		"expired, strict":       {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, past, key)}, 401},
		"later, strict":         {&grid.Options{StrictDates: true}, []string{"aeg-sas-token", token(resource, "2031-01-01 00:00:00+00:00", key)}, 200},
		"bearer over HTTP":      {nil, []string{"Authorization", "Bearer x"}, 401},
		"basic":                 {nil, []string{"Authorization", "Basic x"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, test.opts)
			if w := d.send("POST", events, "["+event+"]", test.header...); w.Code != test.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, test.status)
			}
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	d := newDoor(t, nil)
	if w := d.send("GET", events, ""); w.Code != 405 {
		t.Errorf("GET: %d, want 405", w.Code)
	}
	if w := d.send("GET", "/orders/validate?subscription=s&id=x", ""); w.Code != 404 {
		t.Errorf("validation of nothing: %d, want 404", w.Code)
	}
}

func FuzzPublish(f *testing.F) {
	f.Add("orders", "", "["+event+"]")
	f.Add("cloud", "application/cloudevents+json", `{"id":"1","source":"/s","type":"t","specversion":"1.0","data_base64":"AA=="}`)
	f.Add("cloud", "text/plain", "x")
	f.Fuzz(func(t *testing.T, topic, contentType, body string) {
		d := newDoor(t, &grid.Options{Open: true})
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
