package schemas_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redeliver/redeliver/schemas"
)

const positioned = `{
  "retry": {
    "maxRetryCount": -4,
    "maxRetryCount": 5,
  },
  "bindings": [
    { "name": "a" },
    { "name": "ü", "queueName": "b" }
  ],
  "Values": { "A.B": 1, "C[0]": 2, "": 3 },
	"tab": 1,
  "Upper": { "Case": 1 }
}`

func TestDocumentPos(t *testing.T) {
	t.Parallel()
	d := parse(t, "a.json", positioned)
	for path, want := range map[string][2]int{
		"":                               {1, 1},
		"retry":                          {2, 12},
		"retry.maxRetryCount":            {4, 22},
		"retry.strategy":                 {2, 12}, // the nearest parent
		"retry.strategy.x[0]":            {2, 12},
		"missing":                        {1, 1},
		"bindings":                       {6, 15},
		"bindings[1]":                    {8, 5},
		"bindings[1].queueName":          {8, 33}, // columns count characters
		"bindings[2].name":               {6, 15},
		"bindings.name":                  {6, 15},
		`Values["A.B"]`:                  {10, 22},
		`Values["C[0]"]`:                 {10, 33},
		`Values[""]`:                     {10, 40},
		"tab":                            {11, 9},
		"upper.case":                     {12, 22}, // in any letter case
		`retry["maxRetryCount"]`:         {4, 22},
		"bindings[99999999999999999999]": {6, 15},
		"[":                              {1, 1},
	} {
		line, col := d.Pos(path)
		if got := [2]int{line, col}; got != want {
			t.Errorf("Pos(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestDocumentFault(t *testing.T) {
	t.Parallel()
	d := parse(t, "Orders/function.json", positioned)
	f := d.Fault("retry.maxRetryCount", d.Found("retry.maxRetryCount"), "-1 or more", "out of range")
	want := &schemas.Fault{File: "Orders/function.json", Line: 4, Column: 22, Path: "retry.maxRetryCount", Found: "5", Allowed: "-1 or more", Reason: "out of range"}
	if diff := cmp.Diff(f, want); diff != "" {
		t.Errorf("Fault (-got +want)\n%s", diff)
	}
	if got, want := f.Error(), "Orders/function.json:4:22: retry.maxRetryCount: found 5: out of range; allowed: -1 or more"; got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
	if got, want := (&schemas.Fault{File: "environment", Reason: "x"}).Error(), "environment: x"; got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}

func TestDocumentValue(t *testing.T) {
	t.Parallel()
	d := parse(t, "a.json", `{"b":1.50,"a":[true,null,"x"],"b":{"c":1},"B":2}`)
	want := map[string]any{"a": []any{true, nil, "x"}, "b": map[string]any{"c": json.Number("1")}, "B": json.Number("2")}
	if diff := cmp.Diff(d.Value(), any(want)); diff != "" {
		t.Errorf("Value (-got +want)\n%s", diff)
	}
	if got, want := string(d.JSON()), `{"b":{"c":1},"a":[true,null,"x"],"B":2}`; got != want {
		t.Errorf("JSON = %s, want %s", got, want)
	}
	if v, ok := d.Lookup("a[1]"); v != nil || !ok {
		t.Errorf("Lookup(a[1]) = %v, %v; want nil, true", v, ok)
	}
	if v, ok := d.Lookup("a[3]"); v != nil || ok {
		t.Errorf("Lookup(a[3]) = %v, %v; want nil, false", v, ok)
	}
}

func TestDocumentFound(t *testing.T) {
	t.Parallel()
	d := parse(t, "a.json", `{"o":{},"p":{"x":1},"l":[],"m":[1],"s":"a\"b","n":-1.50,"b":true,"z":null,"long":"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg"}`)
	for path, want := range map[string]string{
		"o": "{}", "p": "an object", "l": "[]", "m": "a list", "s": `"a\"b"`, "n": "-1.50", "b": "true", "z": "null", "none": "",
		"long": `"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff…"`,
	} {
		if got := d.Found(path); got != want {
			t.Errorf("Found(%q) = %s, want %s", path, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ parent, key, want string }{
		{"", "retry", "retry"}, {"retry", "delayInterval", "retry.delayInterval"}, {"Values", "A.B", `Values["A.B"]`}, {"", "A.B", `["A.B"]`}, {"x", `q"`, `x["q\""]`}, {"x", "", `x[""]`}, {"x", "$return", "x.$return"},
	} {
		if got := schemas.JoinPath(c.parent, c.key); got != c.want {
			t.Errorf("JoinPath(%q, %q) = %s, want %s", c.parent, c.key, got, c.want)
		}
	}
	if got, want := schemas.JoinPath(schemas.IndexPath("bindings", 1), "name"), "bindings[1].name"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	at := func(file string, line, col int, reason string) *schemas.Fault {
		return &schemas.Fault{File: file, Line: line, Column: col, Reason: reason}
	}
	faults := []*schemas.Fault{at("b", 3, 1, "1"), at("b", 0, 0, "2"), at("a", 9, 9, "3"), at("b", 2, 7, "4"), at("b", 2, 5, "5"), at("a", 1, 1, "6"), at("b", 2, 5, "7")}
	schemas.Sort(faults)
	got := ""
	for _, f := range faults {
		got += f.Reason
	}
	if want := "5741263"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}
