//go:build unix

package apart

import (
	"os/exec"
	"syscall"
)

// Group gives a command a process group of its own: Ctrl+C in the terminal is for the
// host, which ends the command, and what the command has started, by its context.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
