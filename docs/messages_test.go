package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources returns the program's sources, in Go and of its workers.
func sources(t *testing.T, folders ...string) string {
	t.Helper()
	var b strings.Builder
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "catalogue" || d.Name() == "node_modules" || d.Name() == "ui"):
				return filepath.SkipDir
			case strings.HasSuffix(name, "_test.go"):
			case slices.Contains([]string{".go", ".py", ".js"}, filepath.Ext(name)):
				b.WriteString(read(t, name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// What a reader finds under troubleshooting is what the program prints: each part of a message,
// between what differs from case to case, stands in its sources.
func TestTroubleshooting(t *testing.T) {
	t.Parallel()
	program := sources(t, "../cmd/redeliver", "../host", "../triggers", "../bindings", "../functions", "../schemas")
	found := 0
	for _, m := range regexp.MustCompile("(?m)^### R-\\d+: `(.+)`$").FindAllStringSubmatch(read(t, "help/troubleshooting.md"), -1) {
		for part := range strings.SplitSeq(m[1], "…") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			found++
			if !strings.Contains(program, part) && !strings.Contains(program, strings.ReplaceAll(part, `"`, `\"`)) {
				t.Errorf("help/troubleshooting.md: the program does not say %q (%s)", part, m[1])
			}
		}
	}
	if found < 60 {
		t.Errorf("%d parts of messages were found", found)
	}
}
