package azure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
)

// java runs a program of testdata/interop/java with the libraries below .interop; it
// has to print ok.
func java(t *testing.T, class string, args ...string) {
	t.Helper()
	requireInterop(t, "java", "java/classes/ServiceBus.class")
	path := filepath.Join(interop, "java", "classes") + string(os.PathListSeparator) + filepath.Join(interop, "java", "lib", "*")
	args = append([]string{"-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", path, class}, args...)
	out, err := exec.CommandContext(t.Context(), "java", args...).CombinedOutput()
	if err != nil || !strings.HasSuffix("\n"+string(out), "\nok\n") {
		t.Errorf("%s: %v\n%s", class, err, out)
	}
}

// TestJavaServiceBusSDK makes the calls of the samples of azure-messaging-servicebus,
// with the connection string of the official emulator.
func TestJavaServiceBusSDK(t *testing.T) {
	t.Parallel()
	d := openBusServer(t, clock.System(), nil)
	d.entities(t, "java-")
	for _, name := range []string{"java-processor", "java-transactions", "java-from", "java-to"} {
		d.queue(t, servicebus.Queue{Name: name, LockDuration: 5 * time.Second})
	}
	java(t, "ServiceBus", d.connectionString(), d.addr)
}

// TestJavaQueueSDK makes the calls of the samples of azure-storage-queue.
func TestJavaQueueSDK(t *testing.T) {
	t.Parallel()
	java(t, "StorageQueue", openServer(t, clock.System(), nil).connectionString())
}

// TestJavaBlobSDK makes the calls of the samples of azure-storage-blob.
func TestJavaBlobSDK(t *testing.T) {
	t.Parallel()
	java(t, "StorageBlob", openBlobServer(t, clock.System()))
}

// TestJavaEventGridSDK makes the calls of the samples of azure-messaging-eventgrid
// over HTTPS, as publisher.
func TestJavaEventGridSDK(t *testing.T) {
	requireInterop(t, "java", "java/classes/ServiceBus.class")
	gridScript(t, java, "EventGrid", "EVENTGRID_TRUST", "java-", 2)
}

// TestJavaEventHubsSDK makes the calls of the samples of azure-messaging-eventhubs,
// with the connection string of an emulator.
func TestJavaEventHubsSDK(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 2})
	java(t, "EventHubs", busConnectionString(d.addr), "orders", d.addr)
}
