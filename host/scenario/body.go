package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// A body is text, or JSON that is sent as its compact text.
type body struct {
	raw json.RawMessage
}

func (b *body) UnmarshalJSON(raw []byte) error {
	b.raw = bytes.Clone(raw)
	return nil
}

// text is the body as it is sent.
func (b body) text() string { return textOf(b.raw) }

func textOf(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return s
	}
	return string(raw)
}

func texts(list []body) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = b.text()
	}
	return out
}

// contained is what a body must have in it, of {contains: ...}; not ok: it must be equal.
func (b body) contained() (part json.RawMessage, ok bool) {
	var object map[string]json.RawMessage
	if len(b.raw) == 0 || b.raw[0] != '{' || json.Unmarshal(b.raw, &object) != nil || len(object) != 1 {
		return nil, false
	}
	part, ok = object["contains"]
	return part, ok
}

// matches compares a body with one that is expected: as JSON where JSON is expected.
func (b body) matches(got string) bool {
	if part, ok := b.contained(); ok {
		if part[0] == '"' {
			return strings.Contains(got, textOf(part))
		}
		want, have := decoded(part), decoded([]byte(got))
		return want != nil && have != nil && covers(want, have, false)
	}
	if len(b.raw) > 0 && (b.raw[0] == '{' || b.raw[0] == '[') {
		want, have := decoded(b.raw), decoded([]byte(got))
		return want != nil && have != nil && covers(want, have, true)
	}
	return b.text() == got
}

// covered compares a document of which only some properties are expected.
func (b body) covered(got string) bool {
	if _, ok := b.contained(); ok {
		return b.matches(got)
	}
	return covers(decoded(b.raw), decoded([]byte(got)), false)
}

// decoded is the one value of JSON that a text is; nil for any other text.
func decoded(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return v
}

// covers compares values of JSON. Unless it is exact, objects may have more than what
// is wanted.
func covers(want, have any, exact bool) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		if !ok || exact && len(object) != len(want) {
			return false
		}
		for key, value := range want {
			if got, ok := object[key]; !ok || !covers(value, got, exact) {
				return false
			}
		}
		return true
	case []any:
		list, ok := have.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i, value := range want {
			if !covers(value, list[i], exact) {
				return false
			}
		}
		return true
	case json.Number:
		n, ok := have.(json.Number)
		if !ok {
			return false
		}
		if n == want {
			return true
		}
		if whole(n) && whole(want) {
			return false // as numbers of 64 bits large ones would be equal
		}
		a, errA := want.Float64()
		b, errB := n.Float64()
		return errA == nil && errB == nil && a == b
	}
	return want == have
}

// whole reports whether a number is written as a whole one, which has one form; -0 has two.
func whole(n json.Number) bool { return n != "-0" && !strings.ContainsAny(string(n), ".eE") }
