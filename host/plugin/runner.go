package plugin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// runner runs the program for go-plugin. In place of go-plugin's own it keeps
// standard input shut, knows the exit status, reads lines of any length for as
// long as there are any, and shows go-plugin nothing but the first one.
type processRunner struct {
	cmd    *exec.Cmd
	stdout firstLine
	stderr splitter

	handshake *io.PipeReader

	done   chan struct{} //clock:outside closed when the process has ended and its output is read
	status *os.ProcessState

	mu     sync.Mutex
	group  group // of a process that was started
	over   bool  // it has ended
	exited bool  // before anybody killed it
	killed bool
}

var _ runner.Runner = (*processRunner)(nil)

// lingering is how long a child of the process may keep the pipes open after the
// process ended.
const lingering = 500 * time.Millisecond

func newProcessRunner(spec Spec, handshakeEnv []string, out *output) *processRunner {
	r := &processRunner{cmd: exec.Command(spec.Path, spec.Args...), done: make(chan struct{})} //clock:outside the end of a process
	r.cmd.Dir = spec.Dir
	r.cmd.Env = environment(spec.Env, handshakeEnv)
	r.cmd.WaitDelay = lingering
	r.cmd.SysProcAttr = groupLeader()
	pr, pw := io.Pipe()
	r.handshake = pr
	r.stdout = firstLine{to: pw, rest: splitter{out: out}}
	r.stderr = splitter{out: out, stderr: true}
	r.cmd.Stdout = &r.stdout
	r.cmd.Stderr = &r.stderr
	return r
}

// Start starts the process from a goroutine of its own, which no caller has
// locked to a thread: on Linux the process hears of the end of the thread that
// started it, and a locked thread may end early.
func (r *processRunner) Start(context.Context) error {
	started := make(chan error, 1) //clock:outside the start of a process
	go func() {                    //clock:outside waits for the process; waited for through done
		if err := r.cmd.Start(); err != nil {
			close(r.done)
			started <- err //clock:outside the start of a process
			return
		}
		r.mu.Lock()
		r.group = startGroup(r.cmd.Process)
		r.mu.Unlock()
		started <- nil //clock:outside the start of a process
		if awaitEnd(r.cmd.Process.Pid) {
			r.end()
		}
		_ = r.cmd.Wait() // the state says it all
		r.end()
		r.status = r.cmd.ProcessState
		r.stdout.end()
		r.stderr.end()
		close(r.done)
	}()
	return <-started //clock:outside the start of a process
}

// end takes note of the end of the process, and ends what it has started and left
// behind. The second call does nothing.
func (r *processRunner) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.over, r.exited = true, !r.killed
	r.group.end()
}

func (r *processRunner) Wait(context.Context) error {
	<-r.done //clock:outside the end of a process
	if r.status != nil && !r.status.Success() {
		return errors.New(r.status.String())
	}
	return nil
}

// Kill ends the process at once, and what it has started. A process that never
// started, or has ended, is left alone.
func (r *processRunner) Kill(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd.Process == nil || r.over {
		return nil
	}
	r.killed = true
	err := r.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil // end sees to the rest
	}
	r.group.kill()
	return err
}

// endedByItself reports whether the process ended before it was killed.
func (r *processRunner) endedByItself() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exited
}

func (r *processRunner) Stdout() io.ReadCloser { return r.handshake }

// Stderr is empty for go-plugin; the lines go to output.
func (r *processRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *processRunner) Name() string { return r.cmd.Path }

// ID is never empty: go-plugin then cleans up after a start that failed too.
func (r *processRunner) ID() string { return "handler" }

func (r *processRunner) Diagnose(context.Context) string { return "" }

func (r *processRunner) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (r *processRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// firstLine passes the first line of standard output to go-plugin, whose
// handshake it should be, and makes lines of the rest.
type firstLine struct {
	to   *io.PipeWriter
	rest splitter

	mu   sync.Mutex
	line []byte
	full bool // the line is complete, or it can be no handshake
}

// maxHandshake is more than any handshake needs, a certificate included.
const maxHandshake = 16 << 10

func (f *firstLine) Write(b []byte) (int, error) {
	n := len(b)
	f.mu.Lock()
	full := f.full
	if !full {
		i := bytes.IndexByte(b, '\n')
		head := b
		if i >= 0 {
			head, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		f.line = append(f.line, head[:min(len(head), maxHandshake-len(f.line))]...)
		f.full = i >= 0 || len(f.line) == maxHandshake
		full = f.full
		if full {
			defer f.pass()
		}
	}
	f.mu.Unlock()
	if len(b) > 0 {
		_, _ = f.rest.Write(b)
	}
	return n, nil
}

// pass hands the line over.
func (f *firstLine) pass() {
	f.mu.Lock()
	line := append(bytes.Clone(f.line), '\n')
	f.mu.Unlock()
	_, _ = f.to.Write(line)
	_ = f.to.Close()
}

func (f *firstLine) end() {
	_ = f.to.Close()
	f.rest.end()
}

// text returns the line, as far as it is there.
func (f *firstLine) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.ToValidUTF8(string(f.line), "\uFFFD")
}
