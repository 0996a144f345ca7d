//go:build !linux

package plugin

import "syscall"

// dieWithParent has no counterpart here; the process watches its parent itself
// (package functions).
func dieWithParent() *syscall.SysProcAttr { return nil }
