package functions

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-plugin"

	"github.com/redeliver/redeliver/functions/call"
)

const (
	// parentPoll is how often a handler process looks whether its host lives.
	parentPoll = time.Second
	// holdGrace is what a process gets for an orderly end after the host let go
	// of it.
	holdGrace = time.Second
)

// watchParent ends the process when its parent is no longer the host: go-plugin
// does not notice a host that was killed. The held stream (server.Hold) sees it
// sooner; this covers the time before the stream is open.
//
// A process whose parent dies gets another parent on Unix. On Windows it does
// not, and only the stream tells.
func watchParent() {
	host, err := strconv.Atoi(os.Getenv(call.HostPIDVariable))
	if err != nil {
		host = os.Getppid() // a host that does not say who it is
	}
	go func() { // lives as long as the process
		for {
			if os.Getppid() != host {
				exitOrphaned()
			}
			time.Sleep(parentPoll)
		}
	}()
}

// exitOrphaned ends the process. It says nothing: nobody reads the pipes any
// more, and a write could wait for ever.
func exitOrphaned() {
	// The host would have removed the folder of our socket.
	if dir := os.Getenv(plugin.EnvUnixSocketDir); strings.HasPrefix(filepath.Base(dir), "plugin-dir") {
		_ = os.RemoveAll(dir)
	}
	os.Exit(0) // in order, if anybody is left to ask
}
