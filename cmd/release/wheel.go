package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed pypi/__init__.py
var pypiInit string // read only

//go:embed pypi/__main__.py
var pypiMain string // read only

// wheel is a package of Python, as the binary distribution format (PEP 427) has it.
type wheel struct {
	name    string // as in "redeliver-cli"
	version string // as PEP 440 writes it
	python  string // the oldest version that it runs with
	about   string
	home    string
	readme  []byte
	license []byte
	tags    []string // of platforms; none for one that is the same everywhere
	files   []entry

	requires, classifiers []string
	entryPoints           string // the file; empty for none
}

// module is the name as it stands in the names of files.
func (w wheel) module() string { return strings.ReplaceAll(w.name, "-", "_") }

// platformTag is the last part of the tag: all platforms, sorted as pip compresses them.
func (w wheel) platformTag() string {
	if len(w.tags) == 0 {
		return "any"
	}
	return strings.Join(w.tags, ".")
}

// file is the name of the wheel's file.
func (w wheel) file() string {
	return fmt.Sprintf("%s-%s-py3-none-%s.whl", w.module(), w.version, w.platformTag())
}

// bytes is the wheel. RECORD is the last entry, with the hash of every other.
func (w wheel) bytes(when time.Time) ([]byte, error) {
	info := fmt.Sprintf("%s-%s.dist-info/", w.module(), w.version)
	entries := slices.Clone(w.files)
	entries = append(entries,
		entry{name: info + "METADATA", mode: 0o644, data: w.metadata()},
		entry{name: info + "WHEEL", mode: 0o644, data: w.wheel()},
		entry{name: info + "licenses/LICENSE", mode: 0o644, data: w.license})
	if w.entryPoints != "" {
		entries = append(entries, entry{name: info + "entry_points.txt", mode: 0o644, data: []byte(w.entryPoints)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var record strings.Builder
	for _, e := range entries {
		h := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(h[:]), len(e.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(entries, entry{name: info + "RECORD", mode: 0o644, data: []byte(record.String())}), when)
}

func (w wheel) metadata() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\n", w.name, w.version, w.about)
	fmt.Fprintf(&b, "Project-URL: Homepage, %s\nLicense-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=%s\n", w.home, w.python)
	for _, name := range w.requires {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", name)
	}
	for _, c := range w.classifiers {
		fmt.Fprintf(&b, "Classifier: %s\n", c)
	}
	b.WriteString("Description-Content-Type: text/markdown\n\n")
	b.Write(w.readme)
	return []byte(b.String())
}

func (w wheel) wheel() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Wheel-Version: 1.0\nGenerator: redeliver release\nRoot-Is-Purelib: %v\n", len(w.tags) == 0)
	for _, tag := range w.tags {
		fmt.Fprintf(&b, "Tag: py3-none-%s\n", tag)
	}
	if len(w.tags) == 0 {
		b.WriteString("Tag: py3-none-any\n")
	}
	return []byte(b.String())
}

// prerelease is the end of a version before a release.
var prerelease = regexp.MustCompile(`-(alpha|beta|rc|dev)\.(\d+)$`) // read only

// pythonVersion is a version as PEP 440 writes it: 0.4.0-rc.1 is 0.4.0rc1.
func pythonVersion(version string) (string, error) {
	words := map[string]string{"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}
	m := prerelease.FindStringSubmatch(version)
	switch {
	case m != nil:
		return strings.TrimSuffix(version, m[0]) + words[m[1]] + m[2], nil
	case strings.ContainsAny(version, "-+"):
		return "", fmt.Errorf("version %q: Python has no form of it; want 0.4.0, or 0.4.0-rc.1 (alpha, beta, dev likewise)", version)
	}
	return version, nil
}

// addWheel adds a wheel of this version with what all of them say.
func (r *release) addWheel(d *dist, order int, w wheel) (err error) {
	w.python, w.home, w.readme, w.license = "3.9", "https://"+r.names.Repository.Name, r.readme, r.license
	data, err := w.bytes(r.date)
	if err != nil {
		return err
	}
	return d.add("pypi/"+w.file(), "wheel", data, &publication{w.name, order})
}

// commandWheel packs the program of a platform. pip copies it into the folder of scripts, so
// that no Python starts before it.
func (r *release) commandWheel(d *dist, p platform, program []byte) error {
	version, err := pythonVersion(r.version)
	if err != nil {
		return err
	}
	w := wheel{name: r.names.PypiCommand.Name, version: version, about: tagline, tags: p.wheels}
	w.files = []entry{
		{name: fmt.Sprintf("%s-%s.data/scripts/%s", w.module(), version, p.program()), mode: 0o755, data: program},
		{name: w.module() + "/__init__.py", mode: 0o644, data: []byte(pypiInit)},
		{name: w.module() + "/__main__.py", mode: 0o644, data: []byte(pypiMain)},
	}
	return r.addWheel(d, orderCommands, w)
}
