package bus_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// interop is where the SDKs for other languages are installed; see make interop.
const interop = "../../../../.interop"

// runSDK runs a program of testdata/interop against a namespace on real time; it has
// to print ok.
func runSDK(t *testing.T, program, file, needs string, env ...string) {
	t.Helper()
	_, missing := exec.LookPath(program)
	if missing == nil {
		_, missing = os.Stat(filepath.Join(interop, needs))
	}
	switch {
	case missing == nil:
	case os.Getenv("REDELIVER_INTEROP") == "required":
		t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", missing)
	default:
		t.Skipf("%v; run make interop", missing)
	}
	ns := servicebus.New(clock.System(), nil)
	ctx := context.Background()
	for _, q := range []servicebusapi.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}} {
		if _, err := ns.CreateQueue(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ns.CreateTopic(ctx, servicebusapi.Topic{Name: "topic"}); err != nil {
		t.Fatal(err)
	}
	if _, err := ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: "topic", Name: "sub"}, nil); err != nil {
		t.Fatal(err)
	}
	address := serve(t, bus.New(clock.System(), ns, nil))
	s := fmt.Sprintf("Endpoint=sb://%s;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", address)
	cmd := exec.CommandContext(t.Context(), program, filepath.Join("testdata", "interop", file), s)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%s: %v\n%s", file, err, out)
	}
}

// TestJavaScriptSDK makes the calls of the samples of @azure/service-bus.
func TestJavaScriptSDK(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs(filepath.Join(interop, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	runSDK(t, "node", "servicebus.cjs", "node_modules/@azure/service-bus", "NODE_PATH="+modules)
}

// TestPythonSDK makes the calls of the samples of azure-servicebus.
func TestPythonSDK(t *testing.T) {
	t.Parallel()
	interpreter, err := filepath.Abs(filepath.Join(interop, "python3"))
	if err != nil {
		t.Fatal(err)
	}
	runSDK(t, interpreter, "servicebus.py", "python/azure/servicebus", "PYTHONDONTWRITEBYTECODE=1")
}
