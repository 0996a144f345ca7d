package apart

import (
	"os/exec"
	"syscall"
)

// Group gives a command a process group of its own: Ctrl+C in the console is for the
// host, which ends the command by its context.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
