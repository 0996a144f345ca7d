//go:build !windows

package main

import (
	"os"
	"syscall"
)

// terminateGroup sends SIGTERM to the process group of p.
func terminateGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGTERM) }
