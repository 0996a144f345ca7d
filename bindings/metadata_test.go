package bindings_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
)

func TestApplyJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       map[string]any
	}{
		{"scalars become strings", `{"s":"x","i":12345678901234567890,"f":1.50,"t":true,"n":false}`,
			map[string]any{"Id": "1", "s": "x", "i": "12345678901234567890", "f": "1.5", "t": "True", "n": "False"}},
		{"objects stay, arrays and nulls go", `{"o": {"a":[1]},"a":[1],"n":null}`,
			map[string]any{"Id": "1", "o": json.RawMessage(`{"a":[1]}`)}},
		{"a property wins, in the known spelling", `{"id":"7"}`, map[string]any{"Id": "7"}},
		{"the last of two wins", `{"x":1,"X":2}`, map[string]any{"Id": "1", "x": "2"}},
		{"a text like a date is a date", `{"d":"2024-01-02T03:04:05Z"}`, map[string]any{"Id": "1", "d": "01/02/2024 03:04:05"}},
		{"not an object", `[{"x":1}]`, map[string]any{"Id": "1"}},
		{"not JSON", `{"x":1`, map[string]any{"Id": "1"}},
		{"text after it", `{"x":1} y`, map[string]any{"Id": "1"}},
		{"empty", ``, map[string]any{"Id": "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := map[string]any{"Id": "1"}
			bindings.ApplyJSON(got, []byte(tt.body))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("ApplyJSON(%s) (-got +want):\n%s", tt.body, diff)
			}
		})
	}
}

func FuzzApplyJSON(f *testing.F) {
	f.Add(`{"a":1,"A":{"b":null}}`)
	f.Fuzz(func(t *testing.T, body string) {
		m := map[string]any{"Id": "1"}
		bindings.ApplyJSON(m, []byte(body))
		if _, ok := m["Id"]; !ok {
			t.Errorf("ApplyJSON(%q) removed Id", body)
		}
		for name, v := range m {
			if raw, ok := v.(json.RawMessage); ok && !json.Valid(raw) {
				t.Errorf("ApplyJSON(%q) made %q of %s, which is no JSON", body, raw, name)
			}
		}
	})
}
