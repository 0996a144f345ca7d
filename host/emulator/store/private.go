package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// The content of a data directory is private to its user: messages, bodies, keys.
const (
	privateDir  = 0o700
	privateFile = 0o600
	others      = 0o077
)

// filesHaveUsers reports whether files have users. On Windows the rights of the folder
// above hold, which are its user's own in a profile.
const filesHaveUsers = runtime.GOOS != "windows"

// makePrivate takes a directory with its content away from other users. A
// private directory keeps its content private.
func makePrivate(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&others == 0 {
		return err
	}
	first := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && entry.Type()&fs.ModeSymlink != 0:
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, privateDir)
		}
		return os.Chmod(path, privateFile)
	})
	if info, err = os.Stat(dir); err == nil && first == nil && info.Mode().Perm()&others != 0 {
		first = fmt.Errorf("its mode stays %v", info.Mode().Perm())
	}
	return errors.Join(first, err)
}

// Exposed returns why other users of the machine may read what is kept, or nil when
// they may not. It does not change while the store is open.
func (s *Store) Exposed() error { return s.exposed }
