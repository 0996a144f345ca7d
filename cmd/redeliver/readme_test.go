package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The apps of docs/start.md are those that the script runs, word for word.
func TestStartApps(t *testing.T) {
	t.Parallel()
	script, err := txtar.ParseFile(filepath.Join("testdata", "twofiles.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "start.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(script.Files) != 4 {
		t.Errorf("%d files, want two apps of two", len(script.Files))
	}
	for _, f := range script.Files {
		if !strings.Contains(string(page), "\n"+string(f.Data)+"```\n") {
			t.Errorf("docs/start.md does not hold %s", f.Name)
		}
	}
}

// The README is one page, that is read to its end.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 8192 {
		t.Errorf("README.md has %d bytes, want 8192 at most: the rest belongs to docs", len(text))
	}
}
