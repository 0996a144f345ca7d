//go:build unix

package functions

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// hangUpGrace is the time that a host may take to end: the system reports the end of
// its first thread. hangUpPoll is the time between two looks.
const (
	hangUpGrace = time.Second
	hangUpPoll  = 5 * time.Millisecond
)

// watchHangUp ends the process when the system tells that the host is gone: on Linux
// it sends SIGHUP. Another sender's SIGHUP has its usual effect.
func watchHangUp() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGHUP)
	go func() { // lives as long as the process
		<-told
		for since := time.Now(); time.Since(since) < hangUpGrace; time.Sleep(hangUpPoll) {
			if orphaned() {
				exitOrphaned()
			}
		}
		signal.Stop(told)
		_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	}()
}

// endGroup ends this process and all that it has started, if the host made a process
// group of them.
func endGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
}
