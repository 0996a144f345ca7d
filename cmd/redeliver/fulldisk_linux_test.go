package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
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
		if err := os.MkdirAll(filepath.Join(dir, app, remote.StateDir), 0o700); err != nil {
			t.Fatal(err)
		}
		owner, err := remote.Own(filepath.Join(dir, app))
		if err != nil {
			t.Fatal(err)
		}
		if app == "a" {
			err = owner.Publish(remote.RunInfo{PID: 1, Secret: remote.NewSecret(), Address: "http://localhost:1", EventGrid: strings.Repeat("x", 300)})
		}
		if err := errors.Join(err, owner.Release()); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.ReadRun(filepath.Join(dir, app)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the run file of a host that has ended: %v", err)
		}
	}
	fill()
	for range 3 {
		owner, err := remote.Own(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		want := remote.RunInfo{PID: 2, Secret: remote.NewSecret(), Address: "http://localhost:2", Started: time.Now().UTC()}
		if err := owner.Publish(want); err != nil {
			t.Fatal(err)
		}
		if got, err := remote.ReadRun(filepath.Join(dir, "a")); err != nil || got.PID != 2 || got.Secret != want.Secret {
			t.Errorf("the run file says %+v, %v", got, err)
		}
		if err := owner.Release(); err != nil {
			t.Fatal(err)
		}
	}
	owner, err := remote.Own(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Release()
	var hint *cli.HintedError
	if err := owner.Publish(remote.RunInfo{PID: 3, Address: "http://localhost:3"}); !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &hint) {
		t.Errorf("the first run file on a full disk: %v", err)
	}
}
