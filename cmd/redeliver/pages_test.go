package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// elsewhere are pages whose commands are run by other tests: each kit's own.
var elsewhere = []string{"docs/kits/python.md", "docs/kits/javascript.md", "docs/kits/csharp.md", "docs/kits/java.md"} // read only

// pages returns the pages that readers are given: README.md, and docs without the specification.
func pages(t *testing.T) (list []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "spec":
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			name, err := filepath.Rel(root, path)
			list = append(list, filepath.ToSlash(name))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(list, "README.md")
}

// What a page tells its reader to type prints what the page shows: every console block of every
// page is run, but for those that say why they are not.
func TestPages(t *testing.T) {
	dir, found := t.TempDir(), 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		commands := func(s pageStep) bool { return s.file == "" && !strings.HasPrefix(s.text, "needs ") }
		if slices.Contains(elsewhere, page) || !slices.ContainsFunc(pageSteps(string(text)), commands) {
			continue
		}
		found++
		script := fmt.Sprintf("[windows] skip 'the commands are for a shell of Unix'\n[!exec:python3] skip 'there is no python3 in PATH'\n[!exec:perl] skip 'there is no perl in PATH'\nenv LANG=C.UTF-8\nrun-page %s\n", page)
		name := strings.NewReplacer("/", "-", ".md", ".txtar").Replace(page)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("%d pages with commands were found", found)
	}
	testscript.Run(t, scripts(dir))
}
