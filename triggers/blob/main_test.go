package blob_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestMain fails the package when a goroutine outlives its test. Those that are
// on their way out get a moment.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			os.Exit(code)
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", stacks[:runtime.Stack(stacks, true)])
	os.Exit(1)
}
