package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// own takes the directory for this process until the returned closer is
// closed. The operating system releases it when the process ends in any way.
// The owner stands in a file beside the lock, because a locked file cannot
// be read everywhere.
func own(dir string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(filepath.Join(dir, lockName))
	switch {
	case err == nil:
	case taken(err):
		return nil, owner(dir)
	default:
		return nil, err
	}
	text := fmt.Sprintf("%d\n%s\n", os.Getpid(), strings.Join(os.Args, " "))
	if err := os.WriteFile(filepath.Join(dir, ownerName), []byte(text), privateFile); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if runtime.GOOS != "windows" {
		_ = os.Chmod(filepath.Join(dir, lockName), privateFile) // the directory is private in any case
	}
	return lock, nil
}

func owner(dir string) *InUseError {
	e := &InUseError{Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, ownerName))
	if err != nil {
		return e
	}
	pid, command, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(pid, "%d", &e.PID); err == nil {
		e.Command, _, _ = strings.Cut(command, "\n")
	}
	return e
}

// taken reports whether a lock was refused because another process has it, and not
// because it cannot be made.
func taken(err error) bool {
	var file *fs.PathError
	var number syscall.Errno
	switch {
	case errors.As(err, &file):
		return false
	case !errors.As(err, &number):
		return true // this process has it (vfs.Lock)
	case runtime.GOOS == "windows":
		return number == sharingViolation
	}
	return number == syscall.EAGAIN || number == syscall.EACCES
}

const sharingViolation syscall.Errno = 32 // Windows: ERROR_SHARING_VIOLATION
