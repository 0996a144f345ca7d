package bindings_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
)

func TestResolveSettings(t *testing.T) {
	t.Parallel()
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"key": "1", "empty": "", "loop": "%key%"}[strings.ToLower(name)]
		return v, ok
	}
	tests := []struct{ in, want, fault string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"q%KEY%-test{x}", "q1-test{x}", ""},
		{"%key%%key%-%empty%", "11-", ""},
		{"%loop%", "%key%", ""},
		{"a%x%", "", "'%x%' does not resolve to a value."},
		{"%%", "", "'%%' does not resolve to a value."},
		{"ab%key", "", "The '%' at position 2 does not have a closing '%'"},
		{"é%key%%", "", "The '%' at position 6 does not have a closing '%'"},
	}
	for _, tt := range tests {
		got, err := bindings.ResolveSettings(tt.in, lookup)
		if tt.fault == "" && (err != nil || got != tt.want) {
			t.Errorf("ResolveSettings(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
		if tt.fault != "" && (err == nil || err.Error() != tt.fault) {
			t.Errorf("ResolveSettings(%q) error = %v, want %q", tt.in, err, tt.fault)
		}
	}
}
