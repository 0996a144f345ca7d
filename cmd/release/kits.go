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

// kits packs the test kits: a program of the repository writes the files of each ("go run
// ./host/kit/pack LANGUAGE FOLDER"). One of another language gets its line here. A tree without
// the program has no kits.
func (r *release) kits(d *dist) error {
	if _, err := os.Stat(filepath.Join(r.root, "host", "kit", "pack")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, k := range []struct {
		language string
		pack     func(*dist, []entry) error
	}{{"python", r.pythonKit}, {"js", r.npmKit}, {"java", r.javaKit}, {"csharp", r.nugetKit}} {
		if _, err := exec.LookPath("javac"); k.language == "java" && err != nil && r.snapshot {
			fmt.Fprintln(os.Stderr, "release: warning: there is no JDK here: the test kit for Java is left out of this snapshot")
			continue
		}
		if _, err := exec.LookPath("dotnet"); k.language == "csharp" && err != nil && r.snapshot {
			fmt.Fprintln(os.Stderr, "release: warning: there is no .NET SDK here: the test kit in C# is left out of this snapshot")
			continue
		}
		files, err := r.kitFiles(k.language)
		if err == nil {
			err = k.pack(d, files)
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
