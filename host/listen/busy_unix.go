//go:build !windows

package listen

import (
	"errors"
	"syscall"
)

func isBusy(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
