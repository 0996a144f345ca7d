package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// SyncDir has nothing to do: names are durable with the file system's log.
func (osFS) SyncDir(string) error { return nil }

func (osFS) Free(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// hold takes a file for this process, for as long as it is open. It fails with
// errTaken when somebody has it.
func hold(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if err == windows.ERROR_LOCK_VIOLATION {
		return errTaken
	}
	return err
}

var errNoRoom error = windows.ERROR_DISK_FULL
