package trace_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/trace"
	"github.com/redeliver/redeliver/triggers"
)

const (
	one = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	two = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

var start = time.Unix(1e9, 0)

// What senders write into messages of each kind is the parent of the delivery, through the
// journal too; a batch from several has links.
func TestSenders(t *testing.T) {
	t.Parallel()
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	message := func(name string, value any) triggers.Message {
		return triggers.Message{Metadata: map[string]any{name: value}}
	}
	cloud := func(parent string) triggers.Message {
		return triggers.Message{Value: bindings.StringValue(`{"id":"1","traceparent":"` + parent + `"}`)}
	}
	for name, test := range map[string]struct {
		ev          triggers.Event
		want, links string
	}{
		"nothing":         {triggers.Event{Messages: []triggers.Message{{}}}, "", ""},
		"no message":      {triggers.Event{}, "", ""},
		"Service Bus":     {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`{"Diagnostic-Id":"`+one+`","n":5}`))}}, one, ""},
		"both names":      {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`{"Diagnostic-Id":"`+two+`","traceparent":"`+one+`"}`))}}, one, ""},
		"Event Hubs":      {triggers.Event{Messages: []triggers.Message{message("Properties", raw(`{"traceparent":"`+one+`","tracestate":"a=1"}`))}}, one + " a=1", ""},
		"cloud event":     {triggers.Event{Messages: []triggers.Message{message("traceparent", two)}}, two, ""},
		"request":         {triggers.Event{Messages: []triggers.Message{{Value: bindings.Value{HTTP: &bindings.HTTPRequest{Header: http.Header{"Traceparent": {one}, "Tracestate": {"a=1", "b=2"}}}}}}}, one + " a=1,b=2", ""},
		"odd state":       {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`{"traceparent":"`+one+`","tracestate":"a=1\r\nX-Other: 2"}`))}}, one, ""},
		"long state":      {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`{"traceparent":"`+one+`","tracestate":"`+strings.Repeat("x", 513)+`"}`))}}, one, ""},
		"other form":      {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`{"Diagnostic-Id":"|a.b."}`))}}, "", ""},
		"one span":        {triggers.Event{Batch: true, Messages: []triggers.Message{message("PropertiesArray", raw(`[{"traceparent":"`+one+`"},{"traceparent":"`+one+`"}]`)), {}}}, one, ""},
		"several spans":   {triggers.Event{Batch: true, Messages: []triggers.Message{message("PropertiesArray", raw(`[{"traceparent":"`+one+`"},{},{"traceparent":"`+two+`"}]`)), {}}}, "", one + " " + two},
		"batch of events": {triggers.Event{Batch: true, Messages: []triggers.Message{cloud(one), cloud(two)}}, "", one + " " + two},
		"damaged":         {triggers.Event{Messages: []triggers.Message{message("ApplicationProperties", raw(`[`))}}, "", ""},
	} {
		run := trace.NewRun("i", 0, start)
		test.ev.Delivery = "d1"
		sender, links := trace.Senders(&journal.Record{Fields: run.Fields(&test.ev)})
		got := ""
		if sender.Trace != (trace.ID{}) {
			got = strings.TrimSpace(sender.String() + " " + sender.State)
		}
		var list []string
		for _, l := range links {
			list = append(list, l.String())
		}
		if got != test.want || strings.Join(list, " ") != test.links {
			t.Errorf("%s: %q, links %q", name, got, list)
		}
		handed, state := run.HandlerContext(&test.ev, 2)
		p := trace.Parse(handed)
		id, span := run.Delivery("d1", sender)
		if p.Trace != id || p.Span != run.Attempt("d1", 2) || p.Span == span || state != sender.State {
			t.Errorf("%s: handed %s, %s", name, handed, state)
		}
		if p.Sampled != (test.want == "" || strings.HasPrefix(test.want, one)) {
			t.Errorf("%s: handed %s", name, handed)
		}
	}
}

// Names differ between runs, deliveries and attempts, and are the same each time.
func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[any]bool{}
	for range 2 {
		for _, run := range []*trace.Run{trace.NewRun("i", 0, start), trace.NewRun("i", 1, start), trace.NewRun("j", 0, start), trace.NewRun("i", 0, start.Add(1))} {
			for _, delivery := range []string{"d1", "d2"} {
				id, span := run.Delivery(delivery, trace.Parent{})
				seen[id], seen[span] = true, true
				seen[run.Attempt(delivery, 1)], seen[run.Attempt(delivery, 2)] = true, true
			}
		}
	}
	if len(seen) != 4*2*4 {
		t.Errorf("%d names, want %d", len(seen), 4*2*4)
	}
	var none *trace.Run
	if handed, _ := none.HandlerContext(&triggers.Event{}, 1); handed != "" || none.Fields(&triggers.Event{}) != nil {
		t.Errorf("no run hands out %q", handed)
	}
}

// Without telemetry a request hands its caller's trace on, with a span of its own; a message
// of a service, and a request without a context, have none.
func TestHandedWithoutTelemetry(t *testing.T) {
	t.Parallel()
	const sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	event := func(header http.Header) *triggers.Event {
		return &triggers.Event{Delivery: "d1", Messages: []triggers.Message{{Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{Header: header}}}}}
	}
	var none *trace.Run
	handed, state := none.HandlerContext(event(http.Header{"Traceparent": {sent}, "Tracestate": {"k=v"}}), 1)
	again, _ := none.HandlerContext(event(http.Header{"Traceparent": {sent}}), 2)
	if !strings.HasPrefix(handed, sent[:36]) || !strings.HasSuffix(handed, "-00") || handed[36:52] == sent[36:52] || state != "k=v" || again[:52] == handed[:52] {
		t.Errorf("handed on %q, %q and %q", handed, state, again)
	}
	properties := triggers.Message{Metadata: map[string]any{"ApplicationProperties": json.RawMessage(`{"traceparent":"` + sent + `"}`)}}
	for name, ev := range map[string]*triggers.Event{"request": event(http.Header{}), "message": {Messages: []triggers.Message{properties}}} {
		if handed, _ := none.HandlerContext(ev, 1); handed != "" {
			t.Errorf("%s: %q", name, handed)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		one: one, two: two,
		"cc" + one[2:] + "-what-comes": one, // a later version
		one + "-x":                     "", "ff" + one[2:]: "", "": "", "00-0-0-00": "", one[:54]: "",
		strings.ToUpper(one): "", "0g" + one[2:]: "", strings.Replace(one, "b7ad", "zzzz", 1): "",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": "",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": "",
	} {
		got := trace.Parse(text).String()
		if trace.Parse(text) == (trace.Parent{}) {
			got = ""
		}
		if got != want {
			t.Errorf("Parse(%q) = %q, want %q", text, got, want)
		}
	}
}
