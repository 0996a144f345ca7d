//clock:outside looks for leaked goroutines after all tests

package plugin_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/invokertest"
	"github.com/redeliver/redeliver/host/plugin"
	"github.com/redeliver/redeliver/host/process"
)

// roleVariable makes the test binary something else: a handler, a broken
// handler, a host that will be killed.
const roleVariable = "REDELIVER_PLUGIN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		code := m.Run()
		if code == 0 {
			code = leaked()
		}
		os.Exit(code)
	case "handler":
		functions.Main(invokertest.App())
	case "children":
		functions.Main(childApp())
	case "host":
		runHost()
	default:
		misbehave(role)
	}
}

// leaked complains about goroutines that outlive the tests.
func leaked() int {
	var stacks string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		buf := make([]byte, 1<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		var bad []string
		for s := range strings.SplitSeq(stacks, "\n\n") {
			if strings.Contains(s, "host/plugin") && !strings.Contains(s, "plugin_test.leaked") {
				bad = append(bad, s)
			}
		}
		if len(bad) == 0 {
			return 0
		}
		stacks = strings.Join(bad, "\n\n")
	}
	fmt.Fprintf(os.Stderr, "goroutines left:\n%s\n", stacks)
	return 1
}

// environ is the environment of this process with role.
func environ(role string, more ...string) []string {
	// The race detector otherwise waits a second before a process ends.
	return append(append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0"), more...)
}

// lines splits b for messages.
func lines(b []byte) []string {
	var out []string
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

// startSpec starts a program without more to say than what every process needs.
func startSpec(clk clock.Clock, spec process.Spec) (*plugin.Handlers, error) {
	return plugin.Start(clk, plugin.Spec{Spec: spec})
}
