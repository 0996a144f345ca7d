package plugin

import "syscall"

// dieWithParent asks the kernel to kill the process when the host dies. It covers
// what the process cannot do for itself: a handler that is stuck before it serves.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
