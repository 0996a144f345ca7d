//go:build !windows

// Package osfile has what operating systems do with files in different ways: locks, and
// taking the place of another file.
package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// The two ways to take a lock: by one process alone, or shared.
const (
	Exclusive = unix.LOCK_EX
	Shared    = unix.LOCK_SH
)

// Try takes a lock on f until it is closed, and reports false when another
// process has one that does not go with it. It never waits, unlike the locks
// of go-internal/lockedfile: the caller then names the process that uses the
// app.
func Try(f *os.File, how int) (bool, error) {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Replace gives a file the name of another one, and its place.
func Replace(fresh, name string) error { return os.Rename(fresh, name) }
