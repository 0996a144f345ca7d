package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/readonlytest"
)

// readOnly makes a directory one that this process may not write.
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

// An app whose folder cannot be written runs, with its state in a folder of the user; a
// state that is there already, and cannot be written, is another user's.
func TestOwnUnwritable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	fresh := t.TempDir()
	readOnly(t, fresh)
	owner, err := remote.Own(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Publish(remote.RunInfo{PID: 1, Address: "http://localhost:1"}); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(fresh, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{fresh, link} { // the other commands find it
		if info, err := remote.ReadRun(dir); err != nil || info.PID != 1 || !remote.Owned(dir) {
			t.Errorf("readRun(%q) = %+v, %v, owned %v", dir, info, err, remote.Owned(dir))
		}
	}
	other := t.TempDir()
	readOnly(t, other)
	if remote.Owned(other) {
		t.Error("a host of another app counts")
	}
	if err := owner.Release(); err != nil {
		t.Error(err)
	}

	used := t.TempDir()
	if owner, err = remote.Own(used); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(owner.Publish(remote.RunInfo{PID: 1, Address: "http://localhost:1"}), owner.Lock.Close()); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(used, remote.StateDir)
	if err := os.Chmod(filepath.Join(locked, "lock"), 0o400); err != nil {
		t.Fatal(err)
	}
	readOnly(t, locked)
	owner, err = remote.Own(used)
	if err == nil {
		_ = owner.Release()
	}
	var hint *cli.HintedError
	if !errors.As(err, &hint) || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), locked) || hint.Hint == "" {
		t.Errorf("own = %v, want that %q cannot be written, with a hint", err, locked)
	}
}
