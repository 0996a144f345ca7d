//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in a process group of its own: Ctrl+C in the terminal does
// not end it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
