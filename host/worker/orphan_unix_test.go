//go:build unix

//clock:outside kills real processes

package worker_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redeliver/redeliver/host/worker/javatest"
)

const javaLibraries = javatest.Interop("../../.interop")

// A host that is killed in the middle of a call takes its worker with it, and what that
// has started (spec workers 9).
func TestHostKilled(t *testing.T) {
	t.Parallel()
	for language, f := range hangs {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(f.interpreter); err != nil {
				t.Skipf("there is no %s here", f.interpreter)
			}
			if language == "java" {
				javaLibraries.Need(t)
				jar, err := javaLibraries.Jar(fstest.MapFS{"F.java": {Data: []byte(f.text)}})
				if err != nil {
					t.Fatal(err)
				}
				f.text = string(jar)
			}
			dir := write(t, map[string]string{f.script: f.text, "package.json": "{}"})
			if language == "java" {
				if err := javaLibraries.Libraries(dir, javatest.Annotations, javatest.Interfaces); err != nil {
					t.Fatal(err)
				}
			}
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			host := exec.Command(os.Args[0])
			host.Env = append(os.Environ(), roleVariable+"=host "+language, appVariable+"="+dir)
			out, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			var said []string
			for s := bufio.NewScanner(out); s.Scan(); {
				if said = append(said, s.Text()); s.Text() == "called" {
					break
				}
			}
			if err := host.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = host.Wait()
			if err := in.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := in.Read(make([]byte, 1)); n != 0 || os.IsTimeout(err) || len(said) == 0 || said[len(said)-1] != "called" {
				t.Errorf("a program still runs: %d bytes, %v; the host said:\n%s", n, err, strings.Join(said, "\n"))
			}
		})
	}
}
