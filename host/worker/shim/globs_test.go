package shim_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Patterns of "main" find what they find on the platform, whose worker gives them to globby.
func TestNodePatterns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "globs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Files    []string
		Patterns map[string][]string
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range append(table.Files, "node_modules/package/index.js") {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Skipf("a file system that does not take the name %q: %v", name, err)
		}
	}
	globs, err := filepath.Abs(filepath.Join("node", "globs.js"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "node", "-e", `
const [globs, table, dir] = process.argv.slice(1);
const { glob } = require(globs);
const found = {};
for (const pattern of Object.keys(JSON.parse(require('fs').readFileSync(table)).patterns)) {
  found[pattern] = glob(dir, pattern).map((name) => require('path').relative(dir, name).split(require('path').sep).join('/')).sort();
}
console.log(JSON.stringify(found));
`, globs, filepath.Join("testdata", "globs.json"), dir)
	if err != nil {
		t.Skipf("there is no node here: %v %s", err, out)
	}
	var found map[string][]string
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(found) < 100 {
		t.Errorf("%d patterns", len(found))
	}
	if diff := cmp.Diff(table.Patterns, found); diff != "" {
		t.Errorf("files (-globby +here):\n%s", diff)
	}
}
