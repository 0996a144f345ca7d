package blob_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
)

// The table of spec storage 10.
func TestBlobPatternMatch(t *testing.T) {
	t.Parallel()
	type params = map[string]string
	tests := []struct {
		pattern, container, name string
		want                     params // nil: no match
	}{
		{"ccc/{name}.csv", "ccc", "foo.alpha.csv", params{"name": "foo.alpha"}},
		{"ccc/{a}.{b}", "ccc", "foo.alpha.beta.csv", params{"a": "foo.alpha.beta", "b": "csv"}},
		{"ccc/{name}.txt", "ccc", "bob.txtoutput", nil},
		{"ccc/{name}", "ccc", "d/e.txt", params{"name": "d/e.txt"}},
		{"ccc/{{20140101}}-{name}", "ccc", "{20140101}-x", params{"name": "x"}},
		{"ccc/input-{name}", "ccc", "Input-x", nil},
		{"ccc/input-{name}", "ccc", "input-x", params{"name": "x"}},
		{"ccc", "ccc", "any/thing", params{}},
		{"ccc", "ddd", "any", nil},
		{"ccc/fixed.txt", "ccc", "fixed.txt", params{}},
		{"ccc/fixed.txt", "ccc", "fixedxtxt", nil},
		{"ccc/{{x}}", "ccc", "{x}", params{}},
		{"ccc/{a}/{b}", "ccc", "1/2/3", params{"a": "1/2", "b": "3"}},
		{"ccc/{name}.csv", "CCC", "x.csv", params{"name": "x"}},
		{"$web/{name}", "$web", "index.html", params{"name": "index.html"}},
	}
	for _, tt := range tests {
		t.Run(tt.pattern+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := blob.ParsePattern(tt.pattern)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := p.Match(tt.container, tt.name)
			if ok != (tt.want != nil) {
				t.Fatalf("Match = %v, %v, want %v", got, ok, tt.want)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("parameters (-got +want):\n%s", diff)
			}
		})
	}
}

func TestBlobPatternErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ pattern, want string }{
		{"{c}/x", "Container paths cannot contain {resolve} tokens."},
		{`ccc\x`, "container/blob"},
		{`ccc/a\b`, "container/blob"},
		{"", "container/blob"},
		{"ccc/", "container/blob"},
		{"CC_C/x", "lower-case"},
		{"cc/x", "3 to 63"},
		{"ccc/{a.b}", "The parameter name 'a.b' is invalid."},
		{"ccc/{a", "Missing closing bracket at position 5."},
		{"ccc/a}", "Missing opening bracket at position 6."},
		{"ccc/dir/", "must not end"},
		{"ccc/x.", "must not end"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			t.Parallel()
			_, err := blob.ParsePattern(tt.pattern)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParseBlobPattern(%q) = %v, want ... %s", tt.pattern, err, tt.want)
			}
		})
	}
}

func TestParseBlobPath(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, container, name string }{
		{"ccc/a/b.txt", "ccc", "a/b.txt"},
		{"https://acct.blob.core.windows.net/ccc/a%20b.txt", "ccc", "a b.txt"},
		{"http://127.0.0.1:10000/devstoreaccount1/ccc/d/e", "ccc", "d/e"},
		{"http://localhost:10000/devstoreaccount1/ccc/d", "ccc", "d"},
		{"$root/x", "$root", "x"},
	}
	for _, tt := range tests {
		container, name, err := blob.ParsePath(tt.path)
		if err != nil || container != tt.container || name != tt.name {
			t.Errorf("ParseBlobPath(%q) = %q, %q, %v, want %q, %q", tt.path, container, name, err, tt.container, tt.name)
		}
	}
	for _, path := range []string{"v", "", "/x", "ccc/"} {
		_, _, err := blob.ParsePath(path)
		want := "Invalid blob path specified : '" + path + "'. Blob identifiers must be in the format 'container/blob'."
		if err == nil || err.Error() != want || !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ParseBlobPath(%q) = %v, want %q", path, err, want)
		}
	}
	for _, path := range []string{"Ccc/x", "ccc/x.", `ccc/a\b`, "ccc/" + strings.Repeat("a", 1025)} {
		if _, _, err := blob.ParsePath(path); !errors.Is(err, bindings.ErrInvalidName) {
			t.Errorf("ParseBlobPath(%.20q) = %v, want an invalid name", path, err)
		}
	}
}

func FuzzBlobPattern(f *testing.F) {
	for _, s := range []string{"ccc/{name}.csv", "ccc", "ccc/{{x}}-{y}", "{c}/x", "ccc/{a}.{b}"} {
		f.Add(s, "foo.bar")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := blob.ParsePattern(pattern)
		if err != nil {
			return
		}
		if params, ok := p.Match(p.Container(), name); ok && len(params) != len(p.Parameters()) {
			t.Errorf("%q matches %q with %v, want a value for each of %v", pattern, name, params, p.Parameters())
		}
	})
}
