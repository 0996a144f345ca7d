package process

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupLeader asks for a group of its own. It also asks the kernel to end the process
// when the host dies: by SIGHUP one that watches its host. Before functions.Main that
// ends the process, also one that is stuck; afterwards the process takes its group with
// it.
func groupLeader(watchesHost bool) *syscall.SysProcAttr {
	signal := syscall.SIGKILL
	if watchesHost {
		signal = syscall.SIGHUP
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: signal}
}

// awaitEnd waits for the end of a child and leaves its number taken, so that the group
// of this number is still its own. It reports whether it could.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
