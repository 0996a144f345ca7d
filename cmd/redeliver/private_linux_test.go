package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
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

// An app whose folder cannot be written is told so, with what to do about it.
func TestOwnUnwritable(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{false, true} {
		dir := t.TempDir()
		locked := dir
		if used {
			owner, err := own(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(owner.publish(runInfo{PID: 1, Address: "http://localhost:1"}), owner.lock.Close()); err != nil {
				t.Fatal(err)
			}
			locked = filepath.Join(dir, stateDir)
			if err := os.Chmod(filepath.Join(locked, "lock"), 0o400); err != nil {
				t.Fatal(err)
			}
		}
		readOnly(t, locked)
		owner, err := own(dir)
		if err == nil {
			_ = owner.release()
		}
		var hint *hintedError
		if !errors.As(err, &hint) || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), locked) || hint.hint == "" {
			t.Errorf("own = %v, want that %q cannot be written, with a hint", err, locked)
		}
	}
}

// The folder of an app belongs to its user alone, and so does what download and state
// save write.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, stateDir), 0o755); err != nil {
		t.Fatal(err)
	}
	owner, err := own(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.release()
	saved := filepath.Join(dir, "saved")
	if _, err := writeFile(saved, bytes.NewReader([]byte("text"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{saved, filepath.Join(dir, stateDir)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if owner.exposed != nil {
		t.Errorf("exposed: %v", owner.exposed)
	}
}
