// Package leaktest fails a package's tests when a goroutine of this module
// outlives them. A package that starts goroutines calls [Main] from its
// TestMain.
//
// Package host/clock has a check of its own, because it also counts the
// goroutines that are parked between two turns, and so has host/plugin, which
// serves handlers from the same binary.
package leaktest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs the tests, then after, and exits: with the tests' code, or with 1
// when goroutines are left. Goroutines that are about to end get a second.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, f := range after {
		f()
	}
	var left []string
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if left = leftOver(); len(left) == 0 {
			os.Exit(code)
		}
	}
	fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", strings.Join(left, "\n\n"))
	os.Exit(1)
}

// leftOver returns the stacks of all goroutines but this one that run code of
// this module.
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
