//go:build !unix

package functions

// watchHangUp has nothing to watch here.
func watchHangUp() {}

// endGroup is the system's work here: what the process has started is in the host's job
// with it.
func endGroup() {}
