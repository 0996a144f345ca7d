package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// A kit is a test kit with the tool that packing it takes.
type kit struct {
	language, name string
	tool, from     string // a program and what brings it; empty: packing takes none but Go
	pack           func(*release, *dist, []entry) error
}

// kitTable has a row for each test kit.
var kitTable = []kit{
	{"python", "Python", "", "", (*release).pythonKit},
	{"js", "JavaScript", "", "", (*release).npmKit},
	{"java", "Java", "javac", "a JDK", (*release).javaKit},
	{"csharp", "C#", "dotnet", "a .NET SDK", (*release).nugetKit},
}

// lacks says that the tool of a kit is not here; nil where it is.
func (k kit) lacks() error {
	if k.tool == "" {
		return nil
	}
	if _, err := exec.LookPath(k.tool); err != nil {
		return fmt.Errorf("there is no %s on the PATH: packing the test kit for %s takes %s", k.tool, k.name, k.from)
	}
	return nil
}

// checkTools refuses a release on a machine that cannot pack all of it, before anything is
// compiled.
func checkTools() error {
	var missing []error
	for _, k := range kitTable {
		if err := k.lacks(); err != nil {
			missing = append(missing, fmt.Errorf("%w; SNAPSHOT=1 leaves it out", err))
		}
	}
	return errors.Join(missing...)
}

// kits packs the test kits: a program of the repository writes the files of each ("go run
// ./host/kit/pack LANGUAGE FOLDER"). A tree without the program has no kits. A snapshot goes
// without those whose tools are not here.
func (r *release) kits(d *dist) error {
	if _, err := os.Stat(filepath.Join(r.root, "host", "kit", "pack")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, k := range kitTable {
		if err := k.lacks(); err != nil && r.snapshot {
			fmt.Fprintf(os.Stderr, "release: warning: %v; this snapshot goes without\n", err)
			continue
		}
		files, err := r.kitFiles(k.language)
		if err == nil {
			err = k.pack(r, d, files)
		}
		if err != nil {
			return fmt.Errorf("test kit %s: %w", k.language, err)
		}
	}
	return nil
}

// kitFiles are the files of a kit's package.
func (r *release) kitFiles(language string) (list []entry, err error) {
	dir, err := os.MkdirTemp("", "kit")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := output(r.root, "go", "run", "./host/kit/pack", language, dir); err != nil {
		return nil, err
	}
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		list = append(list, entry{name: filepath.ToSlash(name), mode: 0o644, data: data})
		return err
	})
	return list, err
}

// kitAbout is what a kit is, in a sentence.
const kitAbout = "Tests function apps with the real rules of delivery, retries and poison messages, in virtual time"

// pythonKit packs the kit as a wheel with a plugin for pytest.
func (r *release) pythonKit(d *dist, files []entry) error {
	version, err := pythonVersion(r.version)
	if err != nil {
		return err
	}
	return r.addWheel(d, orderKits, wheel{
		name: r.names.PypiKit.Name, version: version, about: kitAbout, files: files,
		requires: []string{r.names.PypiCommand.Name}, classifiers: []string{"Framework :: Pytest", "Typing :: Typed"},
		entryPoints: "[pytest11]\nredeliver = redeliver_testing.plugin\n",
	})
}

// npmKit packs the kit with the package.json that stands beside its sources.
func (r *release) npmKit(d *dist, files []entry) error {
	m := r.npmManifest(r.names.NpmKit.Name, kitAbout)
	var rest []entry
	for _, f := range files {
		if f.name != "package.json" {
			rest = append(rest, f)
		} else if err := json.Unmarshal(f.data, &m); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	m.Name, m.Version = r.names.NpmKit.Name, r.version
	m.PeerDependencies = map[string]string{r.names.NpmCommand.Name: r.version} // whoever has it, has this version; others name a program
	m.PeerDependenciesMeta = map[string]npmPeer{r.names.NpmCommand.Name: {Optional: true}}
	return r.npmPackage(d, m, orderKits, append(rest, entry{name: "README.md", mode: 0o644, data: r.readme})...)
}
