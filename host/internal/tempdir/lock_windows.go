package tempdir

import (
	"os"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// lock takes the lock of a file until it is closed, and reports whether nobody had it.
func lock(f *os.File) bool {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{}) == nil
}
