//go:build unix

package process

import (
	"os"
	"syscall"
)

// group is the process group of a handler: the handler, and what it has started. A
// process with a session or group of its own is not in it any more.
type group int

// startGroup returns the group of a process that was started with groupLeader.
func startGroup(p *os.Process) group { return group(p.Pid) }

// kill ends all that is left of the group.
func (g group) kill() { _ = syscall.Kill(-int(g), syscall.SIGKILL) } // an empty group is fine

// end ends what is left of the group after its leader.
func (g group) end() { g.kill() }
