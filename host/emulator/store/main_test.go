package store_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/emulator/store"
)

// The test binary is also the other process: with ownDir in its environment it
// opens that store, says so, and waits to be killed.
const ownDir = "REDELIVER_TEST_OWN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(ownDir); dir != "" {
		if _, err := store.Open(dir, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		select {}
	}
	os.Exit(m.Run())
}

// Not parallel: it runs before the tests that are, some of which lose engines.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s := open(t, dir, nil)
		must(t, set(s, "a", "b"))
		must(t, s.Reset())
		must(t, s.Close())
	}
	// Some end a moment after Close.
	for end := time.Now().Add(5 * time.Second); ; runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if !strings.Contains(string(stacks), "emulator/store.(*") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("goroutines have leaked:\n%s", stacks)
		}
	}
}
