//go:build unix

package plugin

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeMark makes the mark of a folder and holds it until it is closed. It has its name
// only when it is held.
func takeMark(name string) (*os.File, error) {
	f, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// abandoned reports whether a mark is free.
func abandoned(name string) bool {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close() // the lock with it
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
