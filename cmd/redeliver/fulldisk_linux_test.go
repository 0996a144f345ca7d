package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fullDisk is a directory on a file system of its own, and what takes all of its room.
// Only root may mount one.
func fullDisk(t *testing.T) (dir string, fill func()) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		f, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 512))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// Where an app has run once it runs again on a full disk: its run file finds the room
// of the last one. Where none has run, it is said what is missing.
func TestRunFileOnAFullDisk(t *testing.T) {
	dir, fill := fullDisk(t)
	for _, app := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(dir, app, stateDir), 0o700); err != nil {
			t.Fatal(err)
		}
		owner, err := own(filepath.Join(dir, app))
		if err != nil {
			t.Fatal(err)
		}
		if app == "a" {
			err = owner.publish(runInfo{PID: 1, Secret: newSecret(), Address: "http://localhost:1", EventGrid: strings.Repeat("x", 300)})
		}
		if err := errors.Join(err, owner.release()); err != nil {
			t.Fatal(err)
		}
		if _, err := readRun(filepath.Join(dir, app)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the run file of a host that has ended: %v", err)
		}
	}
	fill()
	for range 3 {
		owner, err := own(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		want := runInfo{PID: 2, Secret: newSecret(), Address: "http://localhost:2", Started: time.Now().UTC()}
		if err := owner.publish(want); err != nil {
			t.Fatal(err)
		}
		if got, err := readRun(filepath.Join(dir, "a")); err != nil || got.PID != 2 || got.Secret != want.Secret {
			t.Errorf("the run file says %+v, %v", got, err)
		}
		if err := owner.release(); err != nil {
			t.Fatal(err)
		}
	}
	owner, err := own(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.release()
	var hint *hintedError
	if err := owner.publish(runInfo{PID: 3, Address: "http://localhost:3"}); !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &hint) {
		t.Errorf("the first run file on a full disk: %v", err)
	}
}
