package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// readManifest reads the list of a release.
func readManifest(dir string) (m manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", manifestFile, err)
	}
	return m, nil
}

// verify prints every file of a release, and names each that is not as the manifest says,
// is missing, or is not listed.
func verify(dir string, out io.Writer) error {
	m, err := readManifest(dir)
	if err != nil {
		return err
	}
	var errs []error
	listed := map[string]bool{manifestFile: true}
	for _, f := range m.Files {
		listed[f.Path] = true
		err := f.check(dir)
		if err == nil {
			fmt.Fprintf(out, "ok  %s  %d bytes  %s\n", f.SHA256[:12], f.Size, f.Path)
		}
		errs = append(errs, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, checksumsFile)); err != nil || string(text) != string(checksums(m.Files)) {
		errs = append(errs, fmt.Errorf("%s does not agree with %s", checksumsFile, manifestFile))
	}
	errs = append(errs, filepath.WalkDir(dir, func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		within, err := filepath.Rel(dir, name)
		if err == nil && !listed[filepath.ToSlash(within)] {
			errs = append(errs, fmt.Errorf("%s: is not listed", filepath.ToSlash(within)))
		}
		return err
	}))
	return errors.Join(errs...)
}

// check compares a file with its entry.
func (f distFile) check(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: is missing", f.Path)
	case err != nil:
		return err
	case int64(len(data)) != f.Size || sum(data) != f.SHA256:
		return fmt.Errorf("%s: has %d bytes with the hash %s, and %s says %d bytes with %s", f.Path, len(data), sum(data)[:12], manifestFile, f.Size, f.SHA256[:12])
	}
	return nil
}
