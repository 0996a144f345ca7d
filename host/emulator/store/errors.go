package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Conditions that callers decide by.
var (
	// ErrNotFound: the key or the file does not exist.
	ErrNotFound = errors.New("not found")
	// ErrClosed: Close was called before.
	ErrClosed = errors.New("store is closed")
	// ErrDiskFull: the file system has no space left. It comes wrapped in what
	// could not be done.
	ErrDiskFull = errors.New("no space left on the disk")
	// ErrReadOnly: the store refuses writes, for the reason that it comes
	// wrapped in. The owners' memory then agrees with the store.
	ErrReadOnly = errors.New("the state can only be read")
	// ErrFailed: an earlier change could not be written. Every call fails with it
	// until the state has been read again, by Ready, and after that each
	// write for which the disk is not fit yet.
	ErrFailed = errors.New("store has failed")
)

// errReplaced is the error of an engine's users once another engine has taken
// its place.
var errReplaced = errors.New("the state was replaced")

// InUseError says that another process, or another Store of this one, owns the
// directory.
type InUseError struct {
	Dir     string
	PID     int    // 0: it could not be learnt
	Command string // how the owner was started; may be empty
}

func (e *InUseError) Error() string {
	switch {
	case e.PID == 0:
		return fmt.Sprintf("data directory %q is in use by another process", e.Dir)
	case e.Command == "":
		return fmt.Sprintf("data directory %q is in use by process %d", e.Dir, e.PID)
	default:
		return fmt.Sprintf("data directory %q is in use by process %d (%s)", e.Dir, e.PID, e.Command)
	}
}

// UnwritableError says that this process may not write a data directory: the file
// system is read-only (syscall.EROFS), or the user lacks the right
// (fs.ErrPermission).
type UnwritableError struct {
	Dir string
	Err error // the file system's, with the path
}

func (e *UnwritableError) Error() string {
	return fmt.Sprintf("data directory %q cannot be written: %v", e.Dir, e.Err)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// explainOwn is explain while a directory is made this process's own.
func explainOwn(dir string, err error) error {
	var known *UnwritableError
	if errors.As(err, &known) || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return explain(dir, err)
	}
	return &UnwritableError{Dir: dir, Err: err}
}

// VersionError says that the data was written in a format that this program
// does not read.
type VersionError struct {
	Path      string // the directory or the archive
	Got, Want int
}

func (e *VersionError) Error() string {
	by := "a newer"
	if e.Got < e.Want {
		by = "an older"
	}
	return fmt.Sprintf("%q has format %d, written by %s version; this one reads format %d", e.Path, e.Got, by, e.Want)
}

// CorruptError says that stored bytes are not what was written.
type CorruptError struct {
	Path string // the directory, file or archive
	Err  error  // what was found
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%q is damaged: %v", e.Path, e.Err)
}

func (e *CorruptError) Unwrap() error { return e.Err }

func corrupt(path, format string, args ...any) error {
	return &CorruptError{Path: path, Err: fmt.Errorf(format, args...)}
}

// explain gives an error of the file layer its name. It is about what lies below path.
func explain(path string, err error) error {
	var known *CorruptError
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, ErrDiskFull):
		return err
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	default:
		return err
	}
}

// isFull reports whether there was no room on the disk.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, errNoRoom)
}

// explainOpen is explain while a state that exists is opened. Then every error that
// is not the file system's is damage, and so is a missing file.
func explainOpen(path string, err error) error {
	var version *VersionError
	var number syscall.Errno
	switch {
	case errors.As(err, &version):
		return err
	case errors.As(err, &number) && !errors.Is(err, fs.ErrNotExist):
		return explain(path, err)
	}
	var known *CorruptError
	if errors.As(err, &known) {
		return err
	}
	return &CorruptError{Path: path, Err: err}
}
