package main

import (
	"os"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// listen-on PIPE opens a named pipe for "released".
func listenOn(ts *testscript.TestScript, neg bool, args []string) {
	in, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	ts.Defer(func() { in.Close() })
	ts.Value(processesKey{}).(*processes).pipes[args[0]] = in
}

// released PIPE waits until no program holds the pipe any more: 5 s at most, the time that
// the programs of a killed host have.
func released(ts *testscript.TestScript, neg bool, args []string) {
	in := ts.Value(processesKey{}).(*processes).pipes[args[0]]
	ts.Check(in.SetReadDeadline(time.Now().Add(5 * time.Second)))
	if n, err := in.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		ts.Fatalf("a program still holds %s: %d bytes, %v", args[0], n, err)
	}
}
