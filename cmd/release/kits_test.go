package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The kits are packed with their licence, under the names and the version of the release.
func TestKits(t *testing.T) {
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
	const tarball = "npm/redeliver-testing-0.4.0-rc.1.tgz"
	if len(d.files) != 2 || d.files[0].Path != want || d.files[0].Publish.Name != names.PypiKit.Name || d.files[1].Path != tarball || d.files[1].Publish.Name != names.NpmKit.Name {
		t.Fatalf("files %+v, want %s and %s", d.files, want, tarball)
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
	if points := string(files[info+"entry_points.txt"].data); points != "[pytest11]\nredeliver = redeliver_testing.plugin\n" || files[info+"licenses/LICENSE"].data == nil && r.license != nil {
		t.Errorf("entry_points.txt is %q", points)
	}
	_, files = untar(t, read(t, d.dir, tarball))
	if text := string(files["package/package.json"].data); !strings.Contains(text, fmt.Sprintf("\"name\": %q", names.NpmKit.Name)) || !strings.Contains(text, `"version": "0.4.0-rc.1"`) || !strings.Contains(text, `"default": "./index.mjs"`) || !strings.Contains(text, `"@redeliver/cli": "0.4.0-rc.1"`) {
		t.Errorf("package.json is %s", text)
	}
}
