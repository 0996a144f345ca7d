//go:build !windows

package cli

import (
	"os/exec"
	"syscall"
)

// OwnGroup starts a command in a process group of its own: Ctrl+C in the terminal does
// not end it.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
