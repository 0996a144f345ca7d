//go:build unix

//clock:outside kills real processes

package plugin_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

// childApp has a handler that starts a program, which holds the named pipe that the
// call names for as long as it runs.
func childApp() *functions.App {
	app := functions.New()
	child := func(t *functions.Trigger) error {
		pipe, err := os.OpenFile(t.Text(), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer pipe.Close()
		cmd := exec.Command("sleep", "600")
		cmd.Stdout = pipe
		return cmd.Start()
	}
	app.Handle("Child", func(_ context.Context, t *functions.Trigger) error { return child(t) })
	app.Handle("ChildThenExit", func(_ context.Context, t *functions.Trigger) error {
		if err := child(t); err != nil {
			return err
		}
		os.Exit(3)
		return nil
	})
	app.Handle("ChildThenHang", func(ctx context.Context, t *functions.Trigger) error {
		if err := child(t); err != nil {
			return err
		}
		functions.Logger(ctx).Info("hanging")
		select {}
	})
	return app
}

// lifeline is a named pipe that a child of a handler holds.
func lifeline(t *testing.T) (path string, in *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lifeline")
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

// cut waits until nobody holds the pipe any more.
func cut(t *testing.T, in *os.File) {
	t.Helper()
	if err := in.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	if n, err := in.Read(b[:]); n != 0 || os.IsTimeout(err) {
		t.Errorf("the handler's child still runs: %d bytes, %v", n, err)
	}
}

// A program that a handler has started ends with the handler's process, however
// that ends.
func TestChildrenEnd(t *testing.T) {
	t.Parallel()
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		path, in := lifeline(t)
		under(t, func(v *clock.Virtual) {
			h := start(t, v, process.Spec{Env: environ("children")})
			if resp, err := h.Invoke(context.Background(), request("Child", path), nolog); err != nil || resp.Status != call.Succeeded {
				t.Errorf("Invoke: %+v, %v", resp, err)
			}
			closeHandlers(t, h)
		})
		cut(t, in)
	})
	t.Run("crashed", func(t *testing.T) {
		t.Parallel()
		path, in := lifeline(t)
		under(t, func(v *clock.Virtual) {
			h := start(t, v, process.Spec{Env: environ("children")})
			if _, err := h.Invoke(context.Background(), request("ChildThenExit", path), nolog); err == nil {
				t.Error("Invoke: no error")
			}
			v.Outside(context.Background(), "the child's end", func() { cut(t, in) })
			closeHandlers(t, h)
		})
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		path, in := lifeline(t)
		under(t, func(v *clock.Virtual) {
			h := start(t, v, process.Spec{Env: environ("children"), Grace: time.Millisecond})
			ctx, cancel := v.WithCancel(context.Background())
			if _, err := h.Invoke(ctx, request("ChildThenHang", path), func(call.Log) { cancel() }); err == nil {
				t.Error("Invoke: no error")
			}
			v.Outside(context.Background(), "the child's end", func() { cut(t, in) })
			closeHandlers(t, h)
		})
	})
	t.Run("host killed", func(t *testing.T) {
		t.Parallel()
		path, in := lifeline(t)
		tmp := t.TempDir()
		host, _ := startHost(t, tmp, "ChildThenHang", path)
		if err := host.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = host.Wait()
		cut(t, in)
	})
}

// startHost starts a host that calls a function of its handler, with temporary files
// in tmp, and returns when the handler has been called, with its process id.
func startHost(t *testing.T, tmp, function, text string) (host *exec.Cmd, handler int) {
	t.Helper()
	host = exec.Command(os.Args[0])
	host.Env = environ("host", "TMPDIR="+tmp, calledVariable+"="+function, textVariable+"="+text)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Process.Kill(); _ = host.Wait() })
	s := bufio.NewScanner(out)
	for s.Scan() {
		if s.Text() == "called" {
			return host, handler
		}
		handler, _ = strconv.Atoi(s.Text())
	}
	t.Fatal("the host did not call its handler")
	return nil, 0
}

// The folders of sockets that killed hosts leave behind go with the next start.
// The folders of a running host stay, and so do other programs'.
func TestSocketFoldersOfTheDeadGo(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	folders := func() []string {
		list, err := filepath.Glob(filepath.Join(tmp, "plugin-dir*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	foreign := filepath.Join(tmp, "plugin-dir1")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	host, handler := startHost(t, tmp, "Hang", "")
	killBoth(t, host, handler)
	left := folders()
	if len(left) != 2 {
		t.Fatalf("after a kill: %v, want one folder beside the foreign one", left)
	}
	startHost(t, tmp, "Hang", "")
	startHost(t, tmp, "Hang", "")
	now := folders()
	if len(now) != 3 {
		t.Errorf("beside two hosts that run: %v, want theirs and the foreign one", now)
	}
	for _, folder := range left {
		if _, err := os.Stat(folder); (err == nil) != (folder == foreign) {
			t.Errorf("%s after the next start: %v", folder, err)
		}
	}
}

// killBoth kills a host and its handler process, so that neither can put anything in
// order.
func killBoth(t *testing.T, host *exec.Cmd, handler int) {
	t.Helper()
	for _, err := range []error{
		syscall.Kill(host.Process.Pid, syscall.SIGSTOP),
		syscall.Kill(handler, syscall.SIGKILL),
		host.Process.Kill(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = host.Wait()
}
