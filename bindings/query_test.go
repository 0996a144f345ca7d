package bindings_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
)

// A query is read as the platform reads it (aspnetcore: QueryStringEnumerable.cs).
func TestQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]map[string]string{
		"":                      {},
		"?":                     {},
		"?&&":                   {},
		"?a=1&b=2":              {"a": "1", "b": "2"},
		"?a=1&a=2&a":            {"a": "1,2,"},
		"?Id=1&id=2&ID=3":       {"id": "1,2,3"}, // as it came the second time
		"?flag&=x":              {"flag": "", "": "x"},
		"?a=b=c?d":              {"a": "b=c?d"},
		"?a=1;b=2":              {"a": "1;b=2"}, // no separator
		"?a=x+y%2B%20z":         {"a": "x y+ z"},
		"?a=10%":                {"a": "10%"},
		"?a=%zz%4%%41":          {"a": "%zz%4%A"},
		"?%C3%A9=%e2%82%ac":     {"é": "€"},
		"?a=%ff%C3%A9%fe&%ff=1": {"a": "%ffé%fe", "%ff": "1"},
		"?a=%E2%82&b=%e2%41":    {"a": "%E2%82", "b": "%e2A"},
		"?a=\xff&\xfe=é":        {"a": "\uFFFD", "\uFFFD": "é"},
		"?a=%EF%BF%BD":          {"a": "\uFFFD"},
	} {
		r := &bindings.HTTPRequest{URL: "http://localhost:7071/api/x" + query}
		if diff := cmp.Diff(want, r.Query()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("a=%E2%82&b=%zz;+é\xff%")
	f.Fuzz(func(t *testing.T, query string) {
		r := &bindings.HTTPRequest{URL: "http://h/?" + query}
		for name, value := range r.Query() {
			if !utf8.ValidString(name) || !utf8.ValidString(value) {
				t.Errorf("%q gives %q: %q", query, name, value)
			}
		}
	})
}

// A text is written as package json writes it, with or without what has to be escaped.
func TestParametersAsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "a b~!", `quote " and \`, "<a&b>", "ä", "\u2028", "\x00\x1f\x7f", "bad \xff"} {
		want, _ := json.Marshal(map[string]string{text: text})
		for _, marshal := range []func(bindings.Parameters) ([]byte, error){bindings.Parameters.MarshalJSON, func(ps bindings.Parameters) ([]byte, error) { return json.Marshal(ps) }} {
			if got, err := marshal(bindings.Parameters{{Name: text, Value: text}}); err != nil || string(got) != string(want) {
				t.Errorf("%q = %s, %v; want %s", text, got, err, want)
			}
		}
	}
	if got, _ := (bindings.Parameters{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}).MarshalJSON(); string(got) != `{"a":"1","b":"2"}` {
		t.Errorf("two parameters = %s", got)
	}
}
