//go:build unix

//clock:outside kills real processes

package process_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/process"
)

// pipe is a named pipe for programs to hold.
func pipe(t *testing.T) (path string, in *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return path, in
}

// released waits until nobody holds the pipe any more.
func released(t *testing.T, in *os.File) {
	t.Helper()
	if err := in.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := in.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) {
		t.Errorf("a program still runs: %d bytes, %v", n, err)
	}
}

// A host that is killed takes its program with it, and what that has started, whatever
// the program is.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	path, in := pipe(t)
	host := exec.Command(os.Args[0])
	host.Env = append(environ("host"), pipeVariable+"="+path)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	if s.Scan(); s.Text() != "ready" {
		t.Fatalf("the host says %q", s.Text())
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	released(t, in)
}

// So does a program that is killed, or ends by itself.
func TestProgramKilled(t *testing.T) {
	t.Parallel()
	path, in := pipe(t)
	ready := make(chan struct{}, 1)
	c := process.NewChild(t.Context(), process.Spec{
		Path: os.Args[0], Env: append(environ("program"), pipeVariable+"="+path), Output: func(process.Line) { ready <- struct{}{} },
	}, 1)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-ready
	c.Kill()
	released(t, in)
}
