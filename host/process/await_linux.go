package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitStranger waits for the end of a process that another one has started, by a handle that
// means this process alone, whoever has its number later. It reports whether it could.
func awaitStranger(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if n > 0 {
			return true
		}
		if !errors.Is(err, unix.EINTR) {
			return false
		}
	}
}
