//go:build unix && !linux

package process

import "syscall"

// groupLeader asks for a group of its own. Who ends it with the host is its guard, or the
// process itself where it watches its host.
func groupLeader(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd has no counterpart here that can be relied on.
func awaitEnd(int) bool { return false }
