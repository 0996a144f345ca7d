package process

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// looking is how often a process is looked for where the system tells nobody of its end.
const looking = time.Second

// AwaitEnd blocks until the process of a number has ended, whoever has started it. Where the
// system does not tell of the end of a stranger's process, it looks once a second, in real time.
func AwaitEnd(pid int) {
	if awaitStranger(pid) {
		return
	}
	p, err := os.FindProcess(pid)
	for ; err == nil; err = p.Signal(syscall.Signal(0)) {
		time.Sleep(looking) //clock:outside a process of the machine
	}
	if errors.Is(err, os.ErrPermission) {
		select {} //clock:outside it lives, and is another user's: nobody learns of its end
	}
}
