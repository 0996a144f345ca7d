//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// Under nohup the tests would hand down to the hosts that they start that SIGHUP means
// nothing. A signal that is caught has its usual meaning in a new program.
func init() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
