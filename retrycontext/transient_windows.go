package retrycontext

import "syscall"

// connectionErrno reports whether e says that a connection was closed, refused
// or reset, or that it timed out. Windows reports its own socket numbers; the
// POSIX names of package syscall never come from a socket there.
func connectionErrno(e syscall.Errno) bool {
	const (
		wsaTimedOut    = syscall.Errno(10060) // WSAETIMEDOUT
		wsaConnRefused = syscall.Errno(10061) // WSAECONNREFUSED
	)
	switch e {
	case wsaConnRefused, syscall.WSAECONNRESET, syscall.WSAECONNABORTED, wsaTimedOut,
		syscall.ERROR_BROKEN_PIPE, syscall.ECONNREFUSED, syscall.ECONNRESET,
		syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT:
		return true
	}
	return false
}
