package main

import (
	"fmt"
	"os"
	"os/exec"
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
	r := &release{version: "0.4.0-rc.1", root: root, names: names, snapshot: true}
	if err := r.kits(d); err != nil {
		t.Fatal(err)
	}
	const want = "pypi/redeliver_testing-0.4.0rc1-py3-none-any.whl"
	const tarball = "npm/redeliver-testing-0.4.0-rc.1.tgz"
	if len(d.files) < 2 || d.files[0].Path != want || d.files[0].Publish.Name != names.PypiKit.Name || d.files[1].Path != tarball || d.files[1].Publish.Name != names.NpmKit.Name {
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
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip("there is no JDK here: the kit for Java is not packed")
	}
	const maven = "maven/io/github/redeliver/redeliver-testing/0.4.0-rc.1/redeliver-testing-0.4.0-rc.1"
	for end, file := range map[string]string{".jar": "io/github/redeliver/testing/RedeliverHost.class", "-sources.jar": "io/github/redeliver/testing/RedeliverHost.java", "-javadoc.jar": "io/github/redeliver/testing/RedeliverHost.html"} {
		jar := read(t, d.dir, maven+end)
		list, files := unzip(t, jar)
		if list[1] != "META-INF/MANIFEST.MF" || files[file].data == nil || files["META-INF/LICENSE"].data == nil && r.license != nil || string(read(t, d.dir, maven+end+".sha256")) != sum(jar) {
			t.Errorf("%s has %q", end, list)
		}
		for _, name := range list {
			if end != "-javadoc.jar" && !strings.HasPrefix(name, "META-INF/") && !strings.HasPrefix(name, "io/github/redeliver/") {
				t.Errorf("%s has %s", end, name)
			}
		}
	}
	pom := string(read(t, d.dir, maven+".pom"))
	for _, want := range []string{"<artifactId>redeliver-binary</artifactId>", "<classifier>${redeliver.platform}</classifier>", "<redeliver.platform>linux-x86_64</redeliver.platform>", "<packaging>jar</packaging>"} {
		if !strings.Contains(pom, want) {
			t.Errorf("the POM lacks %s:\n%s", want, pom)
		}
	}
	// The same sources make the same bytes.
	again := &dist{dir: t.TempDir()}
	if err := r.kits(again); err != nil {
		t.Fatal(err)
	}
	for _, f := range d.files {
		if string(read(t, d.dir, f.Path)) != string(read(t, again.dir, f.Path)) {
			t.Errorf("%s has other bytes the second time", f.Path)
		}
	}
}

// A release of a version is refused before anything is compiled where a tool is missing; a
// snapshot goes without the kit.
func TestToolsOfKits(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const want = "there is no javac on the PATH: packing the test kit for Java takes a JDK; SNAPSHOT=1 leaves it out\n" +
		"there is no dotnet on the PATH: packing the test kit for C# takes a .NET SDK; SNAPSHOT=1 leaves it out"
	if err := checkTools(); err == nil || err.Error() != want {
		t.Errorf("the tools: %v, want %s", err, want)
	}
}
