//go:build unix

package rest_test

import "syscall"

// openFiles is how many files this process may have open. The runtime has raised
// the limit as far as it goes.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}
