// Package readonlytest makes folders read-only for tests: by their mode, or, for root, whom that
// does not stop, by a mount.
package readonlytest

import (
	"errors"
	"os"
)

// ErrCannot is the error of Make when root may write everywhere, and nothing can be mounted.
var ErrCannot = errors.New("root may write everywhere, and nothing can be mounted read-only")

// Make makes a folder one that this process may not write, until undo is called.
func Make(dir string) (undo func(), err error) {
	if os.Getuid() == 0 {
		return mount(dir)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		return nil, err
	}
	return func() { _ = os.Chmod(dir, 0o700) }, nil
}
