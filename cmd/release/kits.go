package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kits packs the test kits of other languages that the repository has: host/kit/python as a
// wheel. A kit of another language gets its function here.
func (r *release) kits(d *dist) error {
	return r.pythonKit(d)
}

// pythonKit packs the modules below host/kit/python that begin with an underscore or the
// kit's name, as one wheel for all platforms.
func (r *release) pythonKit(d *dist) error {
	version, err := pythonVersion(r.version)
	if err != nil {
		return err
	}
	w := wheel{
		name: r.names.PypiKit.Name, version: version, python: "3.9", about: "Test kit of Redeliver: Azure Functions tests with every delivery, retry and the clock under control.",
		home: "https://" + r.names.Repository.Name, license: r.license,
	}
	folder := filepath.Join(r.root, "host", "kit", "python")
	modules := filepath.Join(folder, w.module())
	err = filepath.WalkDir(modules, func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() || strings.Contains(name, "__pycache__") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(folder, name)
		w.files = append(w.files, entry{name: filepath.ToSlash(within), mode: 0o644, data: data})
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // the repository has no such kit
	case err != nil:
		return err
	}
	if w.readme, err = os.ReadFile(filepath.Join(folder, "README.md")); err != nil {
		w.readme = r.readme
	}
	slices.SortFunc(w.files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	data, err := w.bytes(r.date)
	if err != nil {
		return err
	}
	return d.add("pypi/"+w.file(), "wheel", data, &publication{w.name, orderKits})
}
