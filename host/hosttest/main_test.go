package hosttest_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
)

// handlerVariable makes the test binary a handler process: the name of one of
// the apps in handlerApps.
const handlerVariable = "HOSTTEST_HANDLER"

// handlerApps are the apps that the test binary serves as a handler process.
func handlerApps() map[string]func() *functions.App {
	return map[string]func() *functions.App{
		"always-fails": alwaysFails,
		"mixed":        mixed,
		"ends":         ends,
		"crashes":      crashes,
		"blobs":        copies,
	}
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(killVariable); dir != "" {
		fmt.Println("error", retryUntilKilled(dir))
		os.Exit(1)
	}
	if name := os.Getenv(handlerVariable); name != "" {
		functions.Main(handlerApps()[name]())
		return
	}
	os.Exit(m.Run())
}

// process returns options that run one of handlerApps in a process of its own.
func process(t *testing.T, name string, files map[string]string) *hosttest.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The race detector of a child would sleep for a second at its end.
	return &hosttest.Options{Files: files, Executable: exe, Env: []string{handlerVariable + "=" + name, "GORACE=atexit_sleep_ms=0"}}
}
