package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// own takes the directory for this process until the returned closer is
// closed. The operating system releases it when the process ends in any way.
// Who owns it stands in a file beside the lock, because a locked file cannot be
// read everywhere.
func own(dir string) (io.Closer, error) {
	lock, err := vfs.Default.Lock(filepath.Join(dir, lockName))
	if err != nil {
		if errors.Is(err, os.ErrPermission) && !exists(filepath.Join(dir, ownerName)) {
			return nil, err
		}
		return nil, owner(dir)
	}
	text := fmt.Sprintf("%d\n%s\n", os.Getpid(), strings.Join(os.Args, " "))
	if err := os.WriteFile(filepath.Join(dir, ownerName), []byte(text), 0o644); err != nil {
		return nil, errors.Join(err, lock.Close())
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
