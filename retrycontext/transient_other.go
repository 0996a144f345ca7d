//go:build !windows

package retrycontext

import "syscall"

// connectionErrno reports whether e says that a connection was closed, refused
// or reset, or that it timed out.
func connectionErrno(e syscall.Errno) bool {
	switch e {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT:
		return true
	}
	return false
}
