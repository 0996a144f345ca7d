//go:build unix

package process

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guard is a process that ends a group when the host dies: the system tells at most the
// program itself of that (parent_linux.go), and nothing of what it has started. Its
// standard input is a pipe that only the host holds, and it is in no group or session
// that somebody else ends.
type guard struct {
	cmd  *exec.Cmd
	life *os.File // the host's end of the pipe
}

// guardScript ends the group of its argument when the pipe breaks.
const guardScript = `read -r _; kill -s KILL -- "-$1"`

// guarded starts the guard of a group. Without a shell, or a process to spare, there is
// none.
func (g group) guarded() *guard {
	in, life, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "redeliver-guard", strconv.Itoa(int(g)))
	cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{}, in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		_ = life.Close()
		return nil
	}
	return &guard{cmd, life}
}

// dismiss ends the guard, whose group has ended, before it could do anything.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	_ = g.life.Close()
}
