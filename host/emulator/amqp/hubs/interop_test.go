package hubs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/hubs"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// interop is where the SDKs of others are installed (make interop); a test that needs
// one that is not there is skipped. The variable names another place.
func interop(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("REDELIVER_INTEROP_DIR")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", ".interop")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// missing skips a test that lacks what make interop installs, and fails it where
// that is required.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("REDELIVER_INTEROP") == "required" {
		t.Fatalf("%s, and REDELIVER_INTEROP is required; run make interop", what)
	}
	t.Skipf("%s; run make interop", what)
}

// script runs a script against a namespace on the system clock.
func script(t *testing.T, env string, argv ...string) {
	t.Helper()
	ns := eventhubs.New(clock.System(), nil)
	if err := ns.CreateHub(context.Background(), eventhubs.Hub{Name: "orders", Partitions: 2}); err != nil {
		t.Fatal(err)
	}
	address := serve(t, hubs.New(clock.System(), ns, bus.New(clock.System(), servicebus.New(clock.System(), nil), nil)))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	connection := "Endpoint=sb://" + address + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], connection, "orders")...)
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "done") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The calls of the samples of @azure/event-hubs.
func TestJavaScriptEventHubsSDK(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(interop(t), "node_modules")
	if _, err := os.Stat(filepath.Join(modules, "@azure", "event-hubs")); err != nil {
		missing(t, "@azure/event-hubs is not installed")
	}
	script(t, "NODE_PATH="+modules, "node", filepath.Join("testdata", "eventhubs.cjs"))
}

// The calls of the samples of azure-eventhub.
func TestPythonEventHubsSDK(t *testing.T) {
	t.Parallel()
	packages := filepath.Join(interop(t), "python")
	if _, err := os.Stat(filepath.Join(packages, "azure", "eventhub")); err != nil {
		missing(t, "azure-eventhub is not installed")
	}
	script(t, "PYTHONPATH="+packages, "python3", filepath.Join("testdata", "eventhubs.py"))
}
