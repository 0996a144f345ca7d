package cli

import (
	"errors"
	"os"
	"syscall"
)

// Reason is an error of the file system without the path, which its reader
// knows.
func Reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Exit codes; see the package comment.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 3
	ExitInterrupted = 130
)

// ExitCode ends the program with that code when everything has been said.
type ExitCode int

func (c ExitCode) Error() string { return "failed" }

// UsageError says that the command line was not understood.
type UsageError struct{ err error }

// Misused makes an error one of the command line.
func Misused(err error) error { return &UsageError{err} }

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

// HintedError is an error with the next thing to do.
type HintedError struct {
	err  error
	Hint string
}

func (e *HintedError) Error() string { return e.err.Error() }

func (e *HintedError) Unwrap() error { return e.err }

// Hinted adds a hint to an error.
func Hinted(err error, hint string) error { return &HintedError{err, hint} }

// WriteHint is the hint for a folder that cannot be written.
func WriteHint(err error, dir string) string {
	if errors.Is(err, syscall.EROFS) {
		return "its file system is mounted read-only: mount it for writing"
	}
	return "give yourself the right: chmod -R u+rwX " + ShellWord(dir)
}
