//go:build unix

package tempdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// noFollow opens no link that somebody has put in the place of a mark.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lock takes the lock of a file until it is closed, and reports whether nobody had it.
func lock(f *os.File) bool {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
