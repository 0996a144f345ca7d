package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
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

// unread PIPE NAME COMMAND [ARG...] starts a host that writes both outputs to a named pipe.
// It is read until the host is ready, then never again, and is full.
func unread(ts *testscript.TestScript, neg bool, args []string) {
	pipe, name, args := ts.MkAbs(args[0]), args[1], args[2:]
	in, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	ts.Defer(func() { in.Close() })
	out, err := syscall.Open(pipe, syscall.O_WRONLY, 0)
	ts.Check(err)
	w := os.NewFile(uintptr(out), pipe)
	defer w.Close()
	p := &process{done: make(chan struct{})}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = ts.MkAbs("."), ts.Value(processesKey{}).(*processes).env, w, w
	cli.OwnGroup(p.cmd)
	ts.Check(p.cmd.Start())
	go func() { p.err = p.cmd.Wait(); close(p.done) }()
	ts.Defer(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	ts.Value(processesKey{}).(*processes).byName[name] = p
	ts.Check(in.SetReadDeadline(time.Now().Add(patience)))
	var text []byte
	for part := make([]byte, 1024); !bytes.Contains(text, []byte("ready in")); {
		n, err := in.Read(part)
		ts.Check(err)
		text = append(text, part[:n]...)
	}
	filler, err := syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK, 0)
	ts.Check(err)
	defer syscall.Close(filler)
	for size := 4096; size > 0; {
		if _, err := syscall.Write(filler, make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
