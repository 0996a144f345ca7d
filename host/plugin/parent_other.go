//go:build unix && !linux

package plugin

import "syscall"

// groupLeader asks for a group of its own. The process watches its host itself
// (package functions).
func groupLeader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd has no counterpart here that can be relied on.
func awaitEnd(int) bool { return false }
