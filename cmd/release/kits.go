package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// kit is a test kit of another language. Its package is made by a program of the repository,
// "go run FOLDER VERSION DIR", which has its sources.
type kit struct {
	folder string // of the program
	kind   string
	name   string // of the package
}

// kits packs the test kits that the repository has. One of another language gets its row.
func (r *release) kits(d *dist) error {
	version, err := pythonVersion(r.version)
	if err != nil {
		return err
	}
	for _, k := range []struct {
		kit
		version, place string
	}{
		{kit{"host/kit/python/pack", "wheel", r.names.PypiKit.Name}, version, "pypi/"},
		{kit{"host/kit/js/pack", "npm", r.names.NpmKit.Name}, r.version, "npm/"},
	} {
		if _, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(k.folder))); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, err := k.files(r.root, k.version)
		if err != nil {
			return fmt.Errorf("test kit %s: %w", k.name, err)
		}
		for name, data := range files {
			if err := d.add(k.place+name, k.kind, data, &publication{k.name, orderKits}); err != nil {
				return err
			}
		}
	}
	return nil
}

// files runs the kit's program, and returns what it has written.
func (k kit) files(root, version string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "kit")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if _, err := output(root, "go", "run", "./"+k.folder, version, dir); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, f := range list {
		if out[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
	}
	return out, nil
}
