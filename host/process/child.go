package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// Child is one run of a program as a process of the system. It keeps standard input
// shut, knows how the process ended, and reads lines of any length for as long as there
// are any.
//
// Its methods wait for the real world; under the clock they are called through
// Outside.
type Child struct {
	// Stdout takes standard output instead of Spec.Output, and is closed at its end.
	// It is set before Start; nil makes lines.
	Stdout io.WriteCloser

	spec   Spec
	number int
	begun  context.Context
	keep   func() bool // has the end of begun mean nothing any more
	cmd    *exec.Cmd   // nil: a guest
	leave  func()      // of a guest
	out    *output

	done   chan struct{} //clock:outside closed when the process has ended and its output is read
	status *os.ProcessState

	mu     sync.Mutex
	group  group // of a process that was started
	over   bool  // it has ended
	exited bool  // before anybody killed it
	killed bool
	gone   string // why a guest has
}

// lingering is how long a child of the process may keep the pipes open after the
// process ended.
const lingering = 500 * time.Millisecond

// NewChild returns the run of that number of the program, which is not started yet. It
// is killed when ctx ends before it is ready.
func NewChild(ctx context.Context, spec Spec, number int) *Child {
	return &Child{
		spec: spec.WithDefaults(), number: number, begun: ctx, out: &output{deliver: spec.Output},
		cmd: exec.Command(spec.Path, spec.Args...), done: make(chan struct{}), //clock:outside the end of a process
	}
}

// Lines returns a writer that makes lines for Spec.Output of what one pipe says. Close
// passes on what came after the last line break.
func (c *Child) Lines(stderr bool) io.WriteCloser { return &splitter{out: c.out, stderr: stderr} }

// Start starts the process, with more variables in its environment than Spec has.
// It does so from a goroutine of its own, which no caller has locked to a thread:
// on Linux the process hears of the end of the thread that started it, and a locked
// thread may end early.
func (c *Child) Start(more ...string) error {
	if c.Stdout == nil {
		c.Stdout = c.Lines(false)
	}
	stderr := c.Lines(true)
	c.cmd.Dir = c.spec.Dir
	c.cmd.Env = environment(c.spec.Env, more)
	c.cmd.WaitDelay = lingering
	c.cmd.SysProcAttr = groupLeader(c.spec.WatchesHost)
	c.cmd.Stdout, c.cmd.Stderr = c.Stdout, stderr
	started := make(chan error, 1) //clock:outside the start of a process
	go func() {                    //clock:outside waits for the process; waited for through done
		defer close(c.done)
		if err := c.cmd.Start(); err != nil {
			started <- err //clock:outside the start of a process
			return
		}
		c.mu.Lock()
		c.group = startGroup(c.cmd.Process)
		c.mu.Unlock()
		c.keep = context.AfterFunc(c.begun, c.Kill) //clock:outside gives up a process that starts
		if c.spec.Life != nil {
			defer context.AfterFunc(c.spec.Life, c.Kill)() //clock:outside ends a process
		}
		started <- nil //clock:outside the start of a process
		if !c.spec.WatchesHost {
			defer c.group.guarded().dismiss()
		}
		if awaitEnd(c.cmd.Process.Pid) {
			c.end()
		}
		_ = c.cmd.Wait() // the state says it all
		c.end()
		c.status = c.cmd.ProcessState
		_ = c.Stdout.Close()
		_ = stderr.Close()
	}()
	return <-started //clock:outside the start of a process
}

// end takes note of the end of the process, and ends what it has started and left
// behind. The second call does nothing.
func (c *Child) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over, c.exited = true, !c.killed
	c.group.end()
}

// Kill ends the process at once, and what it has started, and waits until it is gone. A
// process that never started, or has ended, is left alone.
func (c *Child) Kill() {
	if c.kill() {
		<-c.done //clock:outside the end of a process
	}
}

// kill reports whether the process was started.
func (c *Child) kill() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		c.dismissLocked()
		return true
	}
	if !c.Started() {
		return false
	}
	if c.over {
		return true
	}
	c.killed = true
	if !errors.Is(c.cmd.Process.Kill(), os.ErrProcessDone) { // end sees to the rest of one that is done
		c.group.kill()
	}
	return true
}

// Started reports whether there is a process, or was one.
func (c *Child) Started() bool { return c.cmd == nil || c.cmd.Process != nil }

// Done is closed when the process has ended and its output has been read, or when it
// could not be started.
func (c *Child) Done() <-chan struct{} { return c.done } //clock:outside the end of a process

// Ended reports whether the process has ended.
func (c *Child) Ended() bool {
	select { //clock:outside the end of a process
	case <-c.done: //clock:outside the end of a process
		return true
	default:
		return false
	}
}

// EndsWithin waits up to d of real time for the end of the process.
func (c *Child) EndsWithin(d time.Duration) bool {
	t := time.NewTimer(d) //clock:outside the end of a process
	defer t.Stop()
	select { //clock:outside the end of a process
	case <-c.done: //clock:outside the end of a process
		return true
	case <-t.C: //clock:outside the end of a process
		return false
	}
}

// EndedByItself reports whether the process ended before it was killed.
func (c *Child) EndedByItself() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exited
}

// Wait returns when the process has ended. The error is its exit status, if that is not
// 0.
func (c *Child) Wait() error {
	<-c.done //clock:outside the end of a process
	if c.status != nil && !c.status.Success() {
		return errors.New(c.status.String())
	}
	return nil
}

// Status is how the process ended, in words. It waits for the end.
func (c *Child) Status() string {
	<-c.done //clock:outside has ended
	switch {
	case c.cmd == nil:
		return c.gone
	case c.status != nil:
		return c.status.String()
	}
	return "never started"
}

// Path is the program, as the system found it.
func (c *Child) Path() string {
	if c.cmd == nil {
		return c.spec.Path
	}
	return c.cmd.Path
}

// Stop asks the process to end by ask, which may wait for it, kills it after the grace
// of Spec or when ctx ends, and waits until it is gone.
func (c *Child) Stop(ctx context.Context, ask func()) {
	t := time.AfterFunc(c.spec.StopGrace, func() { c.kill() }) //clock:outside the grace of a process
	defer t.Stop()
	defer context.AfterFunc(ctx, func() { c.kill() })() //clock:outside the grace of a process
	ask()
	c.Kill()
}

// Forget drops what was kept of the process's output for reports of its end.
func (c *Child) Forget() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	c.out.last, c.out.errors = nil, nil
}

// Failed returns the StartError of a process that did not become ready: err says why,
// and so does reason unless the system gave the reason. It kills the process.
func (c *Child) Failed(err error, reason, hint string) *StartError {
	s := &StartError{Name: c.spec.Name, Path: c.spec.Path, Reason: reason, Hint: hint, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound):
		s.Reason, s.Hint = "there is no such program", ""
		if c.spec.Dir != "" {
			s.Reason = "there is no such program, or no folder " + strconv.Quote(c.spec.Dir)
		}
	case errors.Is(err, fs.ErrPermission):
		s.Reason = "it is not executable"
		s.Hint = fmt.Sprintf("make it executable: chmod +x %s", c.spec.Path)
	case !c.Started() && err != nil:
		s.Reason = fmt.Sprintf("the system cannot run it: %v", errors.Unwrap(err))
		if errors.Unwrap(err) == nil {
			s.Reason = fmt.Sprintf("the system cannot run it: %v", err)
		}
		s.Hint = fmt.Sprintf("build it for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	c.Kill()
	c.out.close()
	s.Output, _ = c.out.tail()
	return s
}

// exit describes the end of a process that has ended, by the host for that reason, or
// by itself for none.
func (c *Child) exit(reason string) Exit {
	e := Exit{Process: c.process(), Code: -1, Status: c.Status(), Planned: reason != "", Reason: reason}
	_, e.Output = c.out.tail()
	if c.status != nil {
		e.Code = c.status.ExitCode()
		e.Quiet = e.Reason == "" && (e.Code == 0 || terminated(c.status))
	}
	return e
}

func (c *Child) process() Process {
	p := Process{Number: c.number}
	if c.cmd != nil {
		p.PID = c.cmd.Process.Pid
	}
	return p
}
