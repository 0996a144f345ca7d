package restbench_test

import (
	"os"
	"testing"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

// TestMain serves when the binary was started as one of the contestants.
func TestMain(m *testing.M) {
	if kind := os.Getenv(serverVariable); kind != "" {
		os.Exit(serve(kind))
	}
	leaktest.Main(m)
}
