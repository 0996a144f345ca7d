package functions

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// Input is the value of a trigger or of an input binding.
type Input struct {
	Name  string
	Value bindings.Value
}

// IsNull reports whether there is nothing, such as a blob that does not exist.
func (in Input) IsNull() bool { return in.Value.IsNull() }

// Text returns the value as text: the characters of a string, the text of JSON,
// bytes as they are, a number in decimal, a batch as a JSON array, with a
// string for each element that is not JSON. It is empty for everything else.
func (in Input) Text() string {
	switch v := in.Value; v.Kind {
	case bindings.String, bindings.JSON:
		return v.Text
	case bindings.Bytes:
		return string(v.Data)
	case bindings.Request:
		if v.HTTP != nil {
			return string(v.HTTP.Body)
		}
	case bindings.Int:
		return strconv.FormatInt(v.Int, 10)
	case bindings.Double:
		return strconv.FormatFloat(v.Double, 'g', -1, 64)
	case bindings.Strings, bindings.BytesList:
		return in.array()
	}
	return ""
}

// Elements returns the elements of a batch, each as an input of its own; of any
// other value the input itself.
func (in Input) Elements() []Input {
	if in.Value.Kind != bindings.Strings && in.Value.Kind != bindings.BytesList {
		return []Input{in}
	}
	out := make([]Input, len(in.Value.List))
	for i, v := range in.Value.List {
		out[i] = Input{Name: in.Name, Value: v}
	}
	return out
}

// array is a batch as a JSON array.
func (in Input) array() string {
	b := []byte{'['}
	for i, e := range in.Elements() {
		if i > 0 {
			b = append(b, ',')
		}
		text := e.Bytes()
		if !json.Valid(text) {
			text, _ = json.Marshal(string(text)) // a string can be written
		}
		b = append(b, text...)
	}
	return string(append(b, ']'))
}

// Bytes returns the bytes of [Input.Text].
func (in Input) Bytes() []byte {
	if in.Value.Kind == bindings.Bytes {
		return in.Value.Data
	}
	return []byte(in.Text())
}

// Decode reads the value as JSON into the value that target points to, as
// json.Unmarshal does. Batches are JSON arrays of their elements, with a
// string for each element that is not JSON. Into a *[][]byte a batch is
// read as it is, and into a *[]string too unless all its elements are JSON
// strings.
func (in Input) Decode(target any) error {
	err := json.Unmarshal(in.Bytes(), target)
	if in.Value.Kind == bindings.Strings || in.Value.Kind == bindings.BytesList {
		switch target := target.(type) {
		case *[][]byte:
			*target, err = [][]byte{}, nil
			for _, e := range in.Elements() {
				*target = append(*target, e.Bytes())
			}
		case *[]string:
			if err == nil {
				break
			}
			*target, err = []string{}, nil
			for _, e := range in.Elements() {
				*target = append(*target, e.Text())
			}
		}
	}
	if err != nil {
		return fmt.Errorf("input %q: %w", in.Name, err)
	}
	return nil
}

// Trigger holds the values of an attempt of a function of [App.Handle]: the
// trigger's own, and the input bindings.
type Trigger struct {
	Input
	// Inputs are the input bindings in the order of function.json, without the
	// trigger.
	Inputs []Input
	// Metadata is the trigger metadata.
	Metadata Metadata
}

func newTrigger(r *call.Request) *Trigger {
	t := &Trigger{Metadata: r.Metadata}
	for i, in := range r.Inputs {
		if i == 0 {
			t.Input = Input{Name: in.Name, Value: in.Value}
			continue
		}
		t.Inputs = append(t.Inputs, Input{Name: in.Name, Value: in.Value})
	}
	return t
}

// triggerInput returns the value of the trigger; null if there is none.
func triggerInput(r *call.Request) Input {
	if len(r.Inputs) == 0 {
		return Input{}
	}
	return Input{Name: r.Inputs[0].Name, Value: r.Inputs[0].Value}
}

// decoded returns what decode reads from a request: once for all attempts of a delivery
// in the host's own process, so it must not be anything that a handler may change.
func decoded[T any](r *call.Request, decode func(*call.Request) T) T {
	if r.Decoded == nil {
		return decode(r)
	}
	v, ok := (*r.Decoded).(T)
	if !ok {
		v = decode(r)
		*r.Decoded = v
	}
	return v
}

// valueText is the text of a metadata value; JSON strings lose their quotes.
func valueText(v bindings.Value) string {
	if v.Kind == bindings.JSON {
		var s string
		if json.Unmarshal([]byte(v.Text), &s) == nil {
			return s
		}
	}
	return Input{Value: v}.Text()
}
