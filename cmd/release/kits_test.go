package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The kit in Python is packed by its own program, under the name and the version of the
// release.
func TestPythonKit(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	d := &dist{dir: t.TempDir()}
	r := &release{version: "0.4.0-rc.1", root: root, names: names}
	if err := r.kits(d); err != nil {
		t.Fatal(err)
	}
	const want = "pypi/redeliver_testing-0.4.0rc1-py3-none-any.whl"
	if len(d.files) != 1 || d.files[0].Path != want || d.files[0].Publish.Name != names.PypiKit.Name {
		t.Fatalf("files %+v, want %s", d.files, want)
	}
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(want)))
	if err != nil {
		t.Fatal(err)
	}
	_, files := unzip(t, data)
	const info = "redeliver_testing-0.4.0rc1.dist-info/"
	checkRecord(t, want, info, files)
	metadata := string(files[info+"METADATA"].data)
	for _, line := range []string{"Name: " + names.PypiKit.Name, "Version: 0.4.0rc1", "Requires-Dist: " + names.PypiCommand.Name} {
		if !strings.Contains(metadata, line+"\n") {
			t.Errorf("METADATA lacks %q:\n%s", line, metadata)
		}
	}
}
