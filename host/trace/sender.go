package trace

import (
	"encoding/json"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers"
)

// senderOf is the context of the sender of a delivery: of its only message, or of all the
// messages of a batch, when they came from one span.
func senderOf(ev *triggers.Event) Parent {
	all := sendersOf(ev)
	if len(all) == 0 {
		return Parent{}
	}
	for _, p := range all {
		if p.Trace != all[0].Trace || p.Span != all[0].Span {
			return Parent{}
		}
	}
	return all[0]
}

// sendersOf is the context of each message; of a batch's, where its binding data has all of
// them in one list.
func sendersOf(ev *triggers.Event) (out []Parent) {
	if len(ev.Messages) == 0 {
		return nil
	}
	for _, name := range [...]string{"ApplicationPropertiesArray", "PropertiesArray"} {
		if raw, ok := ev.Messages[0].Metadata[name].(json.RawMessage); ok {
			var list []map[string]any
			if json.Unmarshal(raw, &list) != nil {
				return nil
			}
			for _, properties := range list {
				out = append(out, fromProperties(properties))
			}
			return out
		}
	}
	for i := range ev.Messages {
		out = append(out, fromMessage(&ev.Messages[i], ev.Batch))
	}
	return out
}

// fromMessage looks at the headers of a request, at the properties of a message of Service
// Bus or Event Hubs, and at the attributes of a cloud event (docs: Distributed Tracing
// extension of CloudEvents), which any body that is a JSON object may have as well.
func fromMessage(m *triggers.Message, batch bool) Parent {
	if req := m.Value.HTTP; req != nil {
		p := Parse(req.Header.Get("traceparent"))
		if p.Trace != (ID{}) {
			p.State = stateOf(strings.Join(req.Header.Values("tracestate"), ","))
		}
		return p
	}
	for _, name := range [...]string{"ApplicationProperties", "Properties"} {
		if raw, ok := m.Metadata[name].(json.RawMessage); ok {
			var properties map[string]any
			_ = json.Unmarshal(raw, &properties) // what is no object has none
			return fromProperties(properties)
		}
	}
	parent, _ := m.Metadata["traceparent"].(string)
	state, _ := m.Metadata["tracestate"].(string)
	if batch { // the binding data are of all
		parent, state = attributes(m.Value)
	}
	p := Parse(parent)
	if p.Trace != (ID{}) {
		p.State = stateOf(state)
	}
	return p
}

// mostState is the length of a tracestate that everybody passes on (W3C Trace Context).
const mostState = 512

// stateOf is a tracestate that a handler can be given in a header; another one is left out.
func stateOf(text string) string {
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	if len(text) > mostState || strings.ContainsFunc(text, odd) {
		return ""
	}
	return text
}

func attributes(v bindings.Value) (traceParent, traceState string) {
	text := v.Data
	if v.Text != "" {
		text = []byte(v.Text)
	}
	var event struct{ TraceParent, TraceState string }
	_ = json.Unmarshal(text, &event) // what is no object has none
	return event.TraceParent, event.TraceState
}

// fromProperties takes traceparent before the older Diagnostic-Id of Azure's clients, which
// has the same form today.
func fromProperties(properties map[string]any) (p Parent) {
	var state string
	for name, value := range properties {
		text, ok := value.(string)
		if !ok {
			continue
		}
		switch strings.ToLower(name) {
		case "traceparent":
			if parsed := Parse(text); parsed.Trace != (ID{}) {
				p = parsed
			}
		case "diagnostic-id":
			if p.Trace == (ID{}) {
				p = Parse(text)
			}
		case "tracestate":
			state = text
		}
	}
	if p.Trace != (ID{}) {
		p.State = stateOf(state)
	}
	return p
}
