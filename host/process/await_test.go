package process_test

import (
	"os/exec"
	"testing"

	"github.com/redeliver/redeliver/host/process"
)

// The end of a process that another part of the program has started is noticed before anybody
// has collected it, and so is one that was never there.
func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "read -r _")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	over := make(chan bool)
	go func() { process.AwaitEnd(cmd.Process.Pid); close(over) }()
	select {
	case <-over:
		t.Error("the process lives")
	default:
	}
	_ = in.Close()
	_ = cmd.Wait() // where the system tells of no end, it is collected first
	<-over
	process.AwaitEnd(cmd.Process.Pid)
}
