package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestControlList compares the package comment's list with the routes.
func TestControlList(t *testing.T) {
	files, err := filepath.Glob("control*.go")
	if err != nil {
		t.Fatal(err)
	}
	operations, err := filepath.Glob("control/*.go")
	if err != nil {
		t.Fatal(err)
	}
	routes := append(calls(t, `(?m)^\s+handle\("([A-Z]+)", "([^"]+)"`, files...), calls(t, `(?m)^\tOp\[.*route:"([A-Z]+) ([^"]+)"`, operations...)...)
	slices.Sort(routes)
	listed := calls(t, `(?m)^//\t([A-Z]+) +(/[^ ?\n]+)`, "doc.go")
	if diff := cmp.Diff(routes, listed); diff != "" {
		t.Errorf("package comment (-routes +listed):\n%s", diff)
	}
}

func calls(t *testing.T, pattern string, files ...string) (out []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1]+" "+m[2])
		}
	}
	slices.Sort(out)
	return out
}
