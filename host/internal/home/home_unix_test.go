//go:build unix

package home_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/redeliver/redeliver/host/internal/home"
	"github.com/redeliver/redeliver/host/readonlytest"
)

// The folder is the user's own, and where the best place will not do the next one serves.
// It sets the environment, so that it does not run beside others.
func TestFolder(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, cache string) (inCache bool){
		"a home":  func(*testing.T, string) bool { return true },
		"no home": func(t *testing.T, _ string) bool { t.Setenv("HOME", ""); t.Setenv("XDG_CACHE_HOME", ""); return false },
		"a home that is missing, and cannot be made": func(t *testing.T, cache string) bool {
			file(t, filepath.Dir(cache))
			return false
		},
		"a read-only home": func(t *testing.T, cache string) bool {
			folder(t, filepath.Dir(cache), 0o700)
			readOnly(t, filepath.Dir(cache))
			return false
		},
		"a read-only folder of an earlier version": func(t *testing.T, cache string) bool {
			folder(t, filepath.Join(cache, "redeliver", "workers", "node"), 0o700)
			readOnly(t, cache)
			return false
		},
		"a folder that others can write": func(t *testing.T, cache string) bool {
			folder(t, filepath.Join(cache, "redeliver"), 0o777)
			return true
		},
		"a link in the place of the folder": func(t *testing.T, cache string) bool {
			folder(t, cache, 0o700)
			if err := os.Symlink(t.TempDir(), filepath.Join(cache, "redeliver")); err != nil {
				t.Fatal(err)
			}
			return false
		},
		"a folder of another user": func(t *testing.T, cache string) bool {
			dir := filepath.Join(cache, "redeliver")
			folder(t, dir, 0o777)
			if err := os.Chown(dir, os.Getuid()+1, -1); err != nil {
				t.Skipf("only root can give a folder away: %v", err)
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			temporary, cache := t.TempDir(), filepath.Join(t.TempDir(), "me", ".cache")
			t.Setenv("TMPDIR", temporary)
			t.Setenv("XDG_CACHE_HOME", cache)
			want := filepath.Join(temporary, "redeliver-"+strconv.Itoa(os.Getuid()))
			if prepare(t, cache) {
				want = filepath.Join(cache, "redeliver")
			}
			got, err := home.Folder("workers", "node")
			if err != nil || got != filepath.Join(want, "workers", "node") {
				t.Fatalf("Folder = %q, %v, want it below %q", got, err, want)
			}
			if err := os.WriteFile(filepath.Join(got, "file"), nil, 0o600); err != nil {
				t.Error(err)
			}
			for _, dir := range []string{want, got} {
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v, %v", dir, info.Mode(), err)
				}
			}
		})
	}
}

// Where nothing can be written each place says why.
func TestNoFolder(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_CACHE_HOME", temporary)
	file(t, filepath.Join(temporary, "redeliver"))
	file(t, filepath.Join(temporary, "redeliver-"+strconv.Itoa(os.Getuid())))
	if got, err := home.Folder("workers"); err == nil {
		t.Errorf("Folder = %q, want an error", got)
	}
}

func folder(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(path, 0o700), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readOnly(t *testing.T, dir string) {
	t.Helper()
	undo, err := readonlytest.Make(dir)
	if errors.Is(err, readonlytest.ErrCannot) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(undo)
}
