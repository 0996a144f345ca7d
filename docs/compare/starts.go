package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// starts is how long this program and, if it is there, Azurite take from the start of the process
// to the first answer of the queue service: the middle of five, data kept in an empty folder.
func starts(others bool) (map[string]time.Duration, error) {
	list := map[string]func(dir, queue string) *exec.Cmd{
		ours: func(dir, queue string) *exec.Cmd {
			return exec.Command("bin/redeliver", "start", dir, "--services-only", "--port", "0", "--ports", "any", "--queue-port", queue)
		},
	}
	if others {
		list[theirs] = func(dir, queue string) *exec.Cmd {
			return exec.Command("node", azurite+"/dist/src/azurite.js", "--queuePort", queue, "--blobPort", freePort(), "--tablePort", freePort(),
				"--location", dir, "--skipApiVersionCheck", "--disableTelemetry", "--silent")
		}
	}
	out := map[string]time.Duration{}
	for name, command := range list {
		var took []time.Duration
		for range 5 {
			d, err := started(command)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			took = append(took, d)
		}
		slices.Sort(took)
		out[name] = took[len(took)/2]
	}
	return out, nil
}

// started starts a server once, and ends it.
func started(command func(dir, queue string) *exec.Cmd) (time.Duration, error) {
	dir, err := os.MkdirTemp("", "compare")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	port := freePort()
	cmd := command(dir, port)
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for time.Since(begun) < time.Minute {
		resp, err := http.Get("http://127.0.0.1:" + port + "/devstoreaccount1?comp=list")
		if err == nil {
			resp.Body.Close() // refused, for want of a signature; that is an answer
			return time.Since(begun), nil
		}
		time.Sleep(time.Millisecond) // another process starts; nothing tells when
	}
	return 0, fmt.Errorf("no answer within a minute")
}

func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
