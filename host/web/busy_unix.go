//go:build !windows

package web

import (
	"errors"
	"syscall"
)

func isBusy(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
