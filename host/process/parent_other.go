//go:build unix && !linux

package process

import "syscall"

// groupLeader asks for a group of its own. The process watches its host itself: package
// functions does, and so do the workers that this program brings along.
func groupLeader(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd has no counterpart here that can be relied on.
func awaitEnd(int) bool { return false }
