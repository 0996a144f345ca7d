package readonlytest

import (
	"fmt"
	"syscall"
)

func mount(dir string) (undo func(), err error) {
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	undo = func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		undo()
		return nil, fmt.Errorf("%w: %w", ErrCannot, err)
	}
	return undo, nil
}
