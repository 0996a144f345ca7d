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
	// holdGrace is the time for an orderly end of a process that the host has
	// let go.
	holdGrace = time.Second
)

// watchParent ends the process when its parent is no longer the host: go-plugin
// does not notice a host that was killed. The held stream (server.Hold) sees it
// sooner; this covers the time before the stream is open.
//
// A process whose parent dies gets another parent on Unix. On Windows it does
// not: there the system ends the process with the host.
func watchParent() {
	watchHangUp()
	go func() { // lives as long as the process
		for !orphaned() {
			time.Sleep(parentPoll)
		}
		exitOrphaned()
	}()
}

// orphaned reports whether the process has lost its host.
func orphaned() bool {
	host, err := strconv.Atoi(os.Getenv(call.HostPIDVariable))
	if err != nil {
		host = firstParent // a host that does not say who it is
	}
	return os.Getppid() != host
}

// firstParent is who started the process.
var firstParent = os.Getppid()

// exitOrphaned ends the process, and what it has started when the host is not there
// any more to do that. It says nothing: the pipes have no reader any more, and a
// write could wait for ever.
func exitOrphaned() {
	// The host would have removed the folder of our socket.
	if dir := os.Getenv(plugin.EnvUnixSocketDir); strings.HasPrefix(filepath.Base(dir), "plugin-dir") {
		_ = os.RemoveAll(dir)
	}
	if orphaned() {
		endGroup()
	}
	os.Exit(0) // in order, if anybody is left to ask
}
