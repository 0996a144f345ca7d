package durable

import (
	"encoding/json"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/triggers"
)

// inputOf is the value of an activity: of a text its contents, of anything else its JSON,
// and nothing for null (spec durable 3.8; ext: DurableActivityContext.cs).
func inputOf(input string) bindings.Value {
	input = strings.TrimSpace(input)
	var text string
	switch {
	case input == "" || input == "null":
		return bindings.Value{}
	case input[0] == '"' && json.Unmarshal([]byte(input), &text) == nil:
		return bindings.StringValue(text)
	}
	return bindings.StringValue(input)
}

// given is what an activity is given: of the protobuf protocol the JSON as it is, a text with
// its quotes (spec durable 10.1).
func given(protocol durable.Protocol, input string) bindings.Value {
	value := inputOf(input)
	if protocol == durable.Protobuf && !value.IsNull() {
		return bindings.StringValue(input)
	}
	return value
}

// describe fills an activity's metadata: its instance, its value as text and as JSON, and the
// members of a value that is an object. Without a value there is the instance alone.
func describe(metadata map[string]any, a *durable.Activity, binding string, value bindings.Value) {
	if !value.IsNull() {
		bindings.ApplyJSON(metadata, []byte(a.Input))
		metadata[binding] = value.Text
		metadata["data"] = json.RawMessage(a.Input)
	}
	metadata["instanceId"] = a.Instance
}

// stateOf is the JSON of what an orchestrator or entity has returned. A text may hold it
// (spec durable 3.4).
func stateOf(v *bindings.Value) string {
	if v != nil && v.Kind == bindings.String && json.Valid([]byte(v.Text)) {
		return v.Text
	}
	return resultOf(v)
}

// resultOf is the JSON of what an activity has returned: JSON as it is, a text as a JSON
// string, bytes in base64, nothing as null.
func resultOf(v *bindings.Value) string {
	if v == nil {
		return "null"
	}
	var value any
	switch v.Kind {
	case bindings.JSON:
		if json.Valid([]byte(v.Text)) {
			return v.Text
		}
		value = v.Text
	case bindings.String:
		value = v.Text
	case bindings.Bytes:
		value = v.Data
	case bindings.Int:
		value = v.Int
	case bindings.Double:
		value = v.Double
	case bindings.Strings, bindings.BytesList:
		list := make([]json.RawMessage, len(v.List))
		for i := range v.List {
			list[i] = json.RawMessage(resultOf(&v.List[i]))
		}
		value = list
	default:
		return "null"
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil { // a number that JSON has no word for
		return "null"
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// ByHand is the message of an activity that is called by hand: the input is JSON, or else a
// text.
func ByHand(protocol durable.Protocol, binding, input string) triggers.Message {
	a := &durable.Activity{Input: input}
	if !json.Valid([]byte(input)) {
		raw, _ := json.Marshal(input) // texts can always be written
		a.Input = string(raw)
	}
	m := triggers.Message{Metadata: map[string]any{}, Value: given(protocol, a.Input)}
	describe(m.Metadata, a, binding, m.Value)
	return m
}
