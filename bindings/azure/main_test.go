package azure_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain ends Azurite, and fails the package when a goroutine of ours outlives
// its test. Those that are on their way out get a moment.
func TestMain(m *testing.M) {
	code := m.Run()
	azurite.stop()
	azuriteBlobs.stop()
	var left []string
	for range 100 {
		if left = leftOver(); len(left) == 0 {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", strings.Join(left, "\n\n"))
	os.Exit(1)
}

func leftOver() []string {
	stacks := make([]byte, 1<<20)
	all := strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n")
	var left []string
	for _, stack := range all[1:] {
		if strings.Contains(stack, "redeliver/redeliver/") {
			left = append(left, stack)
		}
	}
	return left
}
