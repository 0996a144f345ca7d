//clock:outside looks for leaked goroutines after all tests

package host_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
)

// handlerVariable makes the test binary a handler process: the name of one of
// the apps in handlerApps.
const handlerVariable = "REDELIVER_HOST_TEST_HANDLER"

// handlerApps are the apps that the test binary serves as a handler process.
func handlerApps() map[string]func() *functions.App {
	return map[string]func() *functions.App{"all": all}
}

// TestMain fails the package when a goroutine of ours outlives its test.
// Goroutines that are about to end get a moment.
func TestMain(m *testing.M) {
	if name := os.Getenv(handlerVariable); name != "" {
		functions.Main(handlerApps()[name]())
		return
	}
	code := m.Run()
	if code == 0 {
		code = leaked()
	}
	os.Exit(code)
}

func leaked() int {
	var left []string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		left = nil
		for s := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(s, "redeliver/host") && !strings.Contains(s, "host_test.leaked") {
				left = append(left, s)
			}
		}
		if len(left) == 0 {
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", strings.Join(left, "\n\n"))
	return 1
}
