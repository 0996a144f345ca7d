package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The apps of the README are those that the script runs, word for word.
func TestReadmeApps(t *testing.T) {
	t.Parallel()
	script, err := txtar.ParseFile(filepath.Join("testdata", "twofiles.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if len(script.Files) != 4 {
		t.Errorf("%d files, want two apps of two", len(script.Files))
	}
	for _, f := range script.Files {
		if !strings.Contains(string(readme), "\n"+string(f.Data)+"```\n") {
			t.Errorf("README.md does not hold %s", f.Name)
		}
	}
}
