package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/explain"
)

// golden compares the lives of all messages with a file beside the scenario, or writes it.
func (r inspection) golden(at, name string) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		r.mismatch(at, "this is no file beside the scenario", "a path below its folder", quote(name), nil)
		return
	}
	path := filepath.Join(filepath.Dir(r.s.File), filepath.FromSlash(name))
	got := r.told()
	if r.update {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(got), 0o644)
		}
		if err != nil {
			r.mismatch(at, err.Error(), "", "", nil)
		}
		return
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.mismatch(at, fmt.Sprintf("there is no file %q; \"redeliver test --update\" writes it", name), "", "", nil)
	case err != nil:
		r.mismatch(at, err.Error(), "", "", nil)
	default:
		want := strings.ReplaceAll(string(text), "\r\n", "\n")
		if line, expected, found := firstDifference(want, got); line > 0 {
			r.mismatch(at, fmt.Sprintf("the timeline differs from line %d of %s", line, name), expected, found, r.all)
		}
	}
}

// told is the text of the lives of all messages.
func (r inspection) told() string {
	var b strings.Builder
	for i, l := range r.explain(explain.Subject{}) {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(l.Text())
	}
	return b.String()
}

// firstDifference finds the first line in which two texts differ; 0: they are equal.
func firstDifference(want, got string) (line int, expected, found string) {
	if want == got {
		return 0, "", ""
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		expected, found = "the end", "the end"
		if i < len(a) {
			expected = a[i]
		}
		if i < len(b) {
			found = b[i]
		}
		if expected != found {
			return i + 1, expected, found
		}
	}
	return 0, "", ""
}
