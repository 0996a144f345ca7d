//go:build unix

package home

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mine reports whether a folder belongs to the user of this process.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// shared reports whether other users may write a folder.
func shared(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// writable says why files cannot be made in a folder.
func writable(folder string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, folder, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("the folder %q cannot be written: %w", folder, err)
	}
	return nil
}

// Writable reports whether files can be made in a folder, without making one.
func Writable(folder string) bool { return writable(folder) == nil }
