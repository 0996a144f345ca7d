package process

import (
	"os"
	"syscall"
)

// sigtermExit is how shells, and .NET, write the end by SIGTERM as an exit status.
const sigtermExit = 128 + int(syscall.SIGTERM)

// terminated reports whether a process ended by SIGTERM, or as a program that was started
// by a shell says it.
func terminated(state *os.ProcessState) bool {
	ws, ok := state.Sys().(syscall.WaitStatus)
	return state.ExitCode() == sigtermExit || ok && ws.Signaled() && ws.Signal() == syscall.SIGTERM
}
