package functions

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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
// bytes as they are, a number in decimal. It is empty for everything else.
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
	}
	return ""
}

// Bytes returns what [Input.Text] returns, as bytes.
func (in Input) Bytes() []byte {
	if in.Value.Kind == bindings.Bytes {
		return in.Value.Data
	}
	return []byte(in.Text())
}

// Decode reads the value as JSON into the value that target points to, as
// json.Unmarshal does. Batches are JSON arrays of their elements.
func (in Input) Decode(target any) error {
	raw := in.Bytes()
	if in.Value.Kind == bindings.Strings || in.Value.Kind == bindings.BytesList {
		var b strings.Builder
		for i, v := range in.Value.List {
			b.WriteByte("[,"[min(i, 1)])
			b.WriteString(Input{Value: v}.Text())
		}
		if len(in.Value.List) == 0 {
			b.WriteByte('[')
		}
		b.WriteByte(']')
		raw = []byte(b.String())
	}
	if err := json.Unmarshal(raw, target); err != nil {
		return fmt.Errorf("input %q: %w", in.Name, err)
	}
	return nil
}

// Trigger is what woke a function of [App.Handle]: the trigger's own value, and
// the input bindings.
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
