//go:build !windows

package amqp

import (
	"errors"
	"syscall"
)

func isBusy(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
