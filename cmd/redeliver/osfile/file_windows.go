package osfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// The two ways to take a lock: by one process alone, or shared.
const (
	Exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	Shared    = 0
)

// Try takes a lock on f until it is closed, and reports false when another
// process has one that does not go with it. It never waits, unlike the locks
// of go-internal/lockedfile: the caller then names the process that uses the
// app.
func Try(f *os.File, how uint32) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// replaceTries is how often Replace tries: for half a second.
const replaceTries = 50

// Replace gives a file the name of another one, and its place. Windows refuses that
// while a process reads the other one, and commands do so for a moment.
func Replace(fresh, name string) error {
	var err error
	for range replaceTries {
		if err = os.Rename(fresh, name); !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(10 * time.Millisecond) // real time: other processes
	}
	return err
}
