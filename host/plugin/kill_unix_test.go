//go:build unix

//clock:outside kills real processes

package plugin_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

// runHost is a host that starts a handler, says its process id, calls it and
// waits to be killed.
func runHost() {
	role := "handler"
	if strings.HasPrefix(os.Getenv(calledVariable), "Child") {
		role = "children"
	}
	h, err := startSpec(clock.System(), process.Spec{Path: os.Args[0], Env: environ(role),
		OnStart: func(p process.Process) { fmt.Println(p.PID) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = h.Invoke(context.Background(), request(os.Getenv(calledVariable), os.Getenv(textVariable)), func(call.Log) { fmt.Println("called") })
}

// The functions that runHost calls.
const (
	calledVariable = "REDELIVER_PLUGIN_TEST_CALLED"
	textVariable   = "REDELIVER_PLUGIN_TEST_TEXT"
)

// A host that is killed takes its handler processes with it, within 5 s, also in
// the middle of a call.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	host := exec.Command(os.Args[0])
	host.Env = environ("host", calledVariable+"=Hang")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	s.Scan()
	pid, err := strconv.Atoi(s.Text())
	if err != nil {
		t.Fatalf("the host says %q", s.Text())
	}
	if s.Scan(); s.Text() != "called" {
		t.Fatalf("the host says %q", s.Text())
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	killed := time.Now()
	for running(pid) {
		if time.Since(killed) > 5*time.Second {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// running reports whether a process exists and is no zombie (nobody may be there
// to collect one whose parent is gone).
func running(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !os.IsNotExist(err) && !errors.Is(err, syscall.ESRCH) || !exists("/proc/self")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Ctrl+C in a terminal reaches all processes; handlers leave it to the host.
func TestInterruptIgnored(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		var pid int
		h := start(t, v, process.Spec{OnStart: func(p process.Process) { pid = p.PID }})
		defer closeHandlers(t, h)
		if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
		resp, err := h.Invoke(context.Background(), request("Log", "1"), nolog)
		if err != nil || resp.Status != call.Succeeded {
			t.Errorf("after SIGINT: %+v, %v", resp, err)
		}
	})
}
