package main

import (
	"bufio"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// hang-up NAME closes the terminal of a process.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	ts.Check(named(ts, args[0]).cmd.Process.Signal(syscall.SIGHUP))
}

// head N COMMAND [ARG...] reads N lines of what a command writes, goes away, and
// waits for the end of the command.
func head(ts *testscript.TestScript, neg bool, args []string) {
	lines, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), ts.Value(processesKey{}).(*processes).env
	cmd.Stderr = ts.Stderr()
	cli.OwnGroup(cmd)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	limit := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	in := bufio.NewScanner(out)
	for range lines {
		if !in.Scan() {
			ts.Fatalf("%q wrote fewer than %d lines", args[1:], lines)
		}
	}
	ts.Check(out.Close())
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != cli.ExitFailure {
		ts.Fatalf("%q: %v, want exit code %d", args[1:], cmd.ProcessState, cli.ExitFailure)
	}
}

// port-of NAME VAR names the port of the functions that a process serves.
func portOf(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	u, err := url.Parse(regexp.MustCompile(`http://localhost:\d+`).FindString(text))
	ts.Check(err)
	ts.Setenv(args[1], u.Port())
}
