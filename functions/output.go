package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// returnName is the binding name of a function's return value.
const returnName = "$return"

// SetOutput gives an output binding its value; a second call replaces the first.
// The host writes outputs after the handler returned without an error, and a
// failed write is a failed attempt, which is retried: the handler runs again.
//
// A string, a []byte, a json.RawMessage or a bindings.Value is taken as it is;
// []string and [][]byte are one message per element; nil is no message; anything
// else is marshalled to JSON. A queue takes one message per element of a JSON
// array, as on the platform.
//
// It fails when no output of that name is declared (names ignore case), when v
// has no JSON form, and when the attempt is over.
func SetOutput(ctx context.Context, name string, v any) error {
	c := current(ctx)
	if c == nil {
		return fmt.Errorf("output %q: the context is not a handler's", name)
	}
	i := slices.IndexFunc(c.request.Outputs, func(o string) bool { return strings.EqualFold(o, name) })
	if i < 0 {
		if len(c.request.Outputs) == 0 {
			return fmt.Errorf("output %q is not declared: function %q has no outputs", name, c.request.Function)
		}
		return fmt.Errorf("output %q is not declared: function %q has %s",
			name, c.request.Function, strings.Join(c.request.Outputs, ", "))
	}
	value, err := outputValue(v)
	if err != nil {
		return fmt.Errorf("output %q: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return fmt.Errorf("output %q: %w", name, errOver)
	}
	c.setLocked(c.request.Outputs[i], value)
	return nil
}

// SetReturn is [SetOutput] for the binding named $return.
func SetReturn(ctx context.Context, v any) error { return SetOutput(ctx, returnName, v) }

func (c *invocation) setLocked(name string, v bindings.Value) {
	if name == returnName {
		c.answer.Return = &v
		return
	}
	if c.answer.Outputs == nil {
		c.answer.Outputs = make(map[string]bindings.Value)
	}
	c.answer.Outputs[name] = v
}

func outputValue(v any) (bindings.Value, error) {
	switch v := v.(type) {
	case nil:
		return bindings.Value{}, nil
	case bindings.Value:
		return v, nil
	case string:
		return bindings.StringValue(v), nil
	case []byte:
		return bindings.BytesValue(slices.Clone(v)), nil
	case json.RawMessage:
		if !json.Valid(v) {
			return bindings.Value{}, fmt.Errorf("not JSON: %q", v)
		}
		return bindings.JSONValue(v), nil
	case []string:
		list := make([]bindings.Value, len(v))
		for i, s := range v {
			list[i] = bindings.StringValue(s)
		}
		return bindings.Value{Kind: bindings.Strings, List: list}, nil
	case [][]byte:
		list := make([]bindings.Value, len(v))
		for i, b := range v {
			list[i] = bindings.BytesValue(slices.Clone(b))
		}
		return bindings.Value{Kind: bindings.BytesList, List: list}, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return bindings.Value{}, err
	}
	return bindings.JSONValue(raw), nil
}
