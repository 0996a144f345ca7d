// Package python makes the Python package redeliver-testing, the test kit, of its sources:
// those in the folder redeliver_testing, and those of the worker that the kit shares with it
// (package shim), which are nowhere a second time.
//
// Read [Files] and [Wheel]. docs/kits/python.md says what the kit is for; unasync.py writes
// the part of it that waits for nothing from the part that does. Command pack is what
// "make kits" runs.
package python

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/shim"
)

//go:embed redeliver_testing/*.py redeliver_testing/py.typed
var sources embed.FS // read only

// Folder is the package's own.
const Folder = "redeliver_testing"

// program are the files of the worker that only the program has.
var program = map[string]bool{"worker.py": true, "redeliver_worker/serve.py": true, "redeliver_worker/link.py": true} // read only

// Files are the files of the package, by slash path.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	read := func(from fs.FS, as func(name string) string) error {
		return fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || as(name) == "" {
				return err
			}
			text, err := fs.ReadFile(from, name)
			files[as(name)] = text
			return err
		})
	}
	if err := read(sources, func(name string) string { return name }); err != nil {
		return nil, err
	}
	worker, ok := shim.Of(languages.Python)
	if !ok {
		return nil, fmt.Errorf("there is no worker for %s", languages.Python)
	}
	return files, read(worker.Files, func(name string) string {
		if program[name] {
			return ""
		}
		if rest, ok := strings.CutPrefix(name, "redeliver_worker/"); ok {
			return Folder + "/_worker/" + rest
		}
		return Folder + "/" + name
	})
}

// Write writes the package into a folder, which may then be in PYTHONPATH.
func Write(dir string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
