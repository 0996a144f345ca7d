//go:build !windows

package rest

import (
	"errors"
	"syscall"
)

func isBusy(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
