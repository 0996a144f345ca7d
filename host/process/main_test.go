//clock:outside real processes

package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/redeliver/redeliver/host/process"
)

// roleVariable makes the test binary a host, or a program that a host keeps running.
// pipeVariable names the pipe that a program of a program holds.
const (
	roleVariable = "REDELIVER_PROCESS_TEST_ROLE"
	pipeVariable = "REDELIVER_PROCESS_TEST_PIPE"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "host":
		c := process.NewChild(context.Background(), process.Spec{
			Path: os.Args[0], Env: environ("program"), Output: func(l process.Line) { fmt.Println(l.Text) },
		}, 1)
		check(c.Start())
		<-c.Done()
	case "program":
		pipe, err := os.OpenFile(os.Getenv(pipeVariable), os.O_WRONLY, 0)
		check(err)
		cmd := exec.Command("sleep", "600")
		cmd.Stdout = pipe
		check(cmd.Start())
		fmt.Println("ready")
		select {}
	default:
		os.Exit(m.Run())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func environ(role string) []string {
	return append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")
}
