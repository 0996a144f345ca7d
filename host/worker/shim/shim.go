package shim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/redeliver/redeliver/host/internal/home"
)

// A Shim is one of these workers.
type Shim struct {
	// Runtime is the language's name on the platform, "node".
	Runtime string
	// Files are the worker's files, Entry the one that is run.
	Files fs.FS
	Entry string
}

// all are the shims that there are.
var all []Shim // appended to by the files of the shims, at initialization only

// Of returns the shim for a runtime.
func Of(runtime string) (s Shim, ok bool) {
	for _, s := range all {
		if s.Runtime == runtime {
			return s, true
		}
	}
	return Shim{}, false
}

// Install writes the files that are not there, or are others, into a folder of the user for
// these very files, outside of any app, and returns the path of the entry. Several programs
// may do so at once, of several versions too.
func (s Shim) Install() (entry string, err error) {
	name, err := s.folder()
	if err != nil {
		return "", err
	}
	dir, err := home.Folder("workers", name)
	if err != nil {
		return "", fmt.Errorf("there is no folder for the worker for %s: %w", s.Runtime, err)
	}
	return s.extract(dir)
}

// folder is the name of the folder for the files of the shim: others have another one.
func (s Shim) folder() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(s.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(s.Files, name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return err
	})
	return s.Runtime + "-" + hex.EncodeToString(sum.Sum(nil)[:8]), err
}

// extract is Install into a folder.
func (s Shim) extract(dir string) (entry string, err error) {
	err = fs.WalkDir(s.Files, ".", func(name string, e fs.DirEntry, err error) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(path, 0o700)
		}
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return err
		}
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			return nil
		}
		return replace(path, text)
	})
	if err != nil {
		return "", fmt.Errorf("write the worker for %s: %w", s.Runtime, err)
	}
	return filepath.Join(dir, filepath.FromSlash(s.Entry)), nil
}

// Write writes files of the shim below a folder, each where place says, with slashes; those
// for which it says "" are left out. The test kits take the worker's library so.
func (s Shim) Write(dir string, place func(name string) string) error {
	return fs.WalkDir(s.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || place(name) == "" {
			return err
		}
		text, err := fs.ReadFile(s.Files, name)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(place(name)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, text, 0o644)
	})
}

// replace writes a file whole, or not at all.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
