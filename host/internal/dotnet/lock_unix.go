//go:build !windows

package dotnet

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock on f until it is closed, and reports false when another process, or
// another part of this one, has it.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
