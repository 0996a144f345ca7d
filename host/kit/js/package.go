// Package js makes the npm package @redeliver/testing, the test kit, of its sources: those in
// this folder, and those of the worker that the kit shares with it (package shim), which are
// nowhere a second time.
//
// Read [Files] and [Tarball]. docs/kits/javascript.md says what the kit is for; index.d.ts has
// its types. Command pack is what "make kits" runs.
package js

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/shim"
)

//go:embed *.js *.mjs *.d.ts *.d.mts package.json lib/*.js
var sources embed.FS // read only

// program are the files of the worker that only the program has.
var program = []string{"worker.js", "wire.js", "package.json"} // read only

// Files are the files of the package, by slash path.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	worker, ok := shim.Of(languages.Node)
	if !ok {
		return nil, fmt.Errorf("there is no worker for %s", languages.Node)
	}
	for folder, from := range map[string]fs.FS{"": sources, "lib/worker/": worker.Files} {
		err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || folder != "" && slices.Contains(program, name) {
				return err
			}
			files[folder+name], err = fs.ReadFile(from, name)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Write writes the package into a folder, which may be node_modules/@redeliver/testing.
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

// TarballName is the name of the file.
func TarballName(version string) string { return "redeliver-testing-" + version + ".tgz" }

// Tarball writes the package as npm installs it. The same version of the same sources has the
// same bytes.
func Tarball(w io.Writer, version string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	files["package.json"] = bytes.Replace(files["package.json"], []byte(`"version": "0.0.0"`), []byte(`"version": "`+version+`"`), 1)
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(files[name]); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
