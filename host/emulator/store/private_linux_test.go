package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// readOnly makes a directory one that this process may not write: by its mode, or,
// for root, whom that does not stop, by a mount.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		return
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("root may write everywhere, and nothing can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("nothing can be mounted read-only: %v", err)
	}
}

// A directory that cannot be written is reported as such, with any owner before.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string){
		"Empty": func(string) {},
		"Used": func(dir string) {
			s, err := store.Open(dir, nil)
			must(t, err)
			must(t, s.Close())
			must(t, os.WriteFile(filepath.Join(dir, "OWNER"), []byte("1\nsomebody\n"), 0o600))
			must(t, os.Chmod(filepath.Join(dir, "LOCK"), 0o400))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			make(dir)
			readOnly(t, dir)
			s, err := store.Open(dir, nil)
			if err == nil {
				_ = s.Close()
			}
			var unwritable *store.UnwritableError
			if !errors.As(err, &unwritable) || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
				t.Fatalf("Open = %v, want an UnwritableError with the cause", err)
			}
			if !strings.Contains(err.Error(), filepath.Join(dir, "LOCK")) {
				t.Errorf("%q does not name the file", err)
			}
		})
	}
}

// Only the user may read the data, and files that an older version left open to
// others are closed.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "data")
	for round := range 2 {
		s := open(t, dir, new(store.Options).WithSegment(64<<10))
		must(t, s.Exposed())
		id := writeFile(t, s, pattern(100_000))
		must(t, apply(s, func(b *store.Batch) { b.Keep(id); b.Set([]byte("a"), pattern(50_000)) }))
		must(t, set(s, "b", strings.Repeat("x", 60_000)))
		must(t, s.Close()) // a file is made private after it was made
		seen := 0
		must(t, filepath.WalkDir(filepath.Dir(dir), func(path string, _ fs.DirEntry, err error) error {
			must(t, err)
			info, err := os.Stat(path)
			must(t, err)
			seen++
			if mode := info.Mode().Perm(); mode&0o077 != 0 {
				t.Errorf("round %d: %s has mode %v", round, path, mode)
			}
			return nil
		}))
		if seen < 10 {
			t.Errorf("only %d files were seen", seen)
		}
		must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if entry.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return os.Chmod(path, 0o644)
		}))
	}
}
