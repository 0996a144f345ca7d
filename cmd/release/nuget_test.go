package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The package of the program has one for each platform, and copies that of the machine.
func TestNugetProgram(t *testing.T) {
	t.Parallel()
	file, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for _, p := range platforms {
		programs[p.String()] = file
	}
	packed := func() []byte {
		d := &dist{dir: t.TempDir()}
		r := &release{version: "0.4.0-rc.1", names: names, platforms: platforms}
		if err := r.nugetProgram(d, programs); err != nil {
			t.Fatal(err)
		}
		const want = "nuget/Redeliver.Binary.0.4.0-rc.1.nupkg"
		if len(d.files) != 1 || d.files[0].Path != want || d.files[0].Publish.Name != names.NugetProgram.Name {
			t.Fatalf("files %+v, want %s", d.files, want)
		}
		return read(t, d.dir, want)
	}
	data := packed()
	if !slices.Equal(data, packed()) {
		t.Error("two packages of one release differ")
	}
	_, files := unzip(t, data)
	for _, name := range []string{"linux-x64/redeliver", "linux-arm64/redeliver", "osx-x64/redeliver", "osx-arm64/redeliver", "win-x64/redeliver.exe", "win-arm64/redeliver.exe"} {
		if len(files["tools/"+name].data) == 0 {
			t.Errorf("there is no program for %s", name)
		}
	}
	spec := string(files["Redeliver.Binary.nuspec"].data)
	for _, want := range []string{"<id>Redeliver.Binary</id>", "<version>0.4.0-rc.1</version>", `<license type="expression">Apache-2.0</license>`} {
		if !strings.Contains(spec, want) {
			t.Errorf("the description lacks %s:\n%s", want, spec)
		}
	}
	if targets := string(files["buildTransitive/Redeliver.Binary.targets"].data); !strings.Contains(targets, `CopyToOutputDirectory="PreserveNewest"`) || string(files["build/Redeliver.Binary.targets"].data) != targets {
		t.Errorf("the targets are %s", targets)
	}
}

// The kit's packages have both frameworks, need what they need, and have the same bytes
// wherever they are built.
func TestNugetKit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dotnet"); err != nil {
		if os.Getenv("REDELIVER_DOTNET") == "required" {
			t.Fatal(err)
		}
		t.Skip("there is no .NET SDK here: ", err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	names, err := readNames()
	if err != nil {
		t.Fatal(err)
	}
	r := &release{version: "0.4.0-rc.1", root: root, names: names}
	sources, err := r.kitFiles("csharp")
	if err != nil {
		t.Fatal(err)
	}
	packed := func() (string, *dist) {
		d := &dist{dir: t.TempDir()}
		if err := r.nugetKit(d, sources); err != nil {
			t.Fatal(err)
		}
		return d.dir, d
	}
	dir, first := packed()
	_, second := packed()
	if len(first.files) != 2 {
		t.Fatalf("files %+v", first.files)
	}
	for i, f := range first.files {
		if f != second.files[i] && f.SHA256 != second.files[i].SHA256 {
			t.Errorf("%s differs when it is built again", f.Path)
		}
		id := []string{names.NugetKit.Name, names.NugetKit.Name + ".Worker"}[i]
		_, files := unzip(t, read(t, dir, f.Path))
		for _, framework := range nugetFrameworks {
			for _, ending := range []string{".dll", ".xml"} {
				if len(files["lib/"+framework+"/"+id+ending].data) == 0 {
					t.Errorf("%s lacks %s%s for %s", f.Path, id, ending, framework)
				}
			}
		}
		spec := string(files[id+".nuspec"].data)
		want := []string{`<dependency id="Redeliver.Binary" version="0.4.0-rc.1" />`, `<dependency id="Redeliver.Testing" version="0.4.0-rc.1" />`}[i]
		if strings.Count(spec, want) != len(nugetFrameworks) {
			t.Errorf("%s: the description lacks %s:\n%s", f.Path, want, spec)
		}
		if hasTargets := len(files["buildTransitive/Redeliver.Testing.targets"].data) > 0; hasTargets != (i == 0) {
			t.Errorf("%s has targets: %v", f.Path, hasTargets)
		}
	}
}
