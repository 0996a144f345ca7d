//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
)

func init() { pointMain = func() { functions.Main(pointApp(os.Getenv("POINT_SOURCE"), pointsInFile)) } }

// pointApp has one function, Work, whose first attempt ever fails and whose others succeed,
// under a policy of one retry. called is told of each attempt, delivery count/retry count,
// and says whether it is the first.
func pointApp(source string, called func(attempt string) bool) *functions.App {
	app := functions.New()
	work := func(ctx context.Context, delivery int64) error {
		if called(fmt.Sprintf("%d/%d", delivery, functions.Retry(ctx).RetryCount)) {
			return errors.New("the first attempt fails")
		}
		return nil
	}
	policy := functions.FixedDelay(1, 10*time.Second)
	switch source {
	case "queue":
		app.Queue("Work", "orders", func(ctx context.Context, m functions.QueueMessage) error { return work(ctx, m.DequeueCount) }, policy)
	case "servicebus":
		app.ServiceBusQueue("Work", "orders", func(ctx context.Context, m functions.ServiceBusMessage) error {
			return work(ctx, int64(m.DeliveryCount))
		}, policy)
	case "eventhubs":
		app.EventHub("Work", "readings", func(ctx context.Context, _ functions.EventHubEvent) error { return work(ctx, 0) }, policy)
	case "cosmos":
		app.CosmosDB("Work", "shop", "orders", func(ctx context.Context, _ []functions.CosmosDocument) error { return work(ctx, 0) },
			policy, functions.CreateLeases(), functions.FromBeginning())
	}
	return app
}

// pointsInFile keeps the attempts of all processes of an app in a file.
func pointsInFile(attempt string) (first bool) {
	f, err := os.OpenFile(os.Getenv("POINT_CALLS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(attempt + " "); err != nil {
		panic(err)
	}
	return info.Size() == 0
}

// scripted is what a scripted crash at a point comes to: the attempts of both hosts.
func scripted(t *testing.T, source string, point faults.Point) string {
	t.Helper()
	var calls []string
	h := hosttest.New(t, &hosttest.Options{Handlers: pointApp(source, func(attempt string) bool {
		calls = append(calls, attempt)
		return len(calls) == 1
	})})
	h.KillAt("Work", point, 0)
	switch source {
	case "queue":
		h.Send("orders", "7")
	case "servicebus":
		h.SendServiceBus("orders", &servicebus.Message{Body: []byte("7")})
	case "eventhubs":
		h.SendEvents("readings", "", "7")
	case "cosmos":
		h.CreateCosmos("shop", "orders")
		h.Advance(5 * time.Second)
		h.WriteCosmos("shop", "orders", `{"id":"7"}`)
	}
	h.AwaitKilled()
	h.StartAgain()
	h.Settle()
	return strings.Join(calls, " ")
}

// pointHost is a host in a process of its own.
type pointHost struct {
	process
	dir, source string
}

func (h *pointHost) start(t *testing.T) {
	t.Helper()
	h.process = process{}
	cmd := exec.Command("redeliver", "start", h.dir, "--verbose", "--port", "0", "--blob-port", "0", "--queue-port", "0", "--servicebus-port", "0", "--servicebus-admin-port", "off", "--clock", "manual")
	const bus = "Endpoint=sb://localhost;SharedAccessKeyName=k;SharedAccessKey=s;UseDevelopmentEmulator=true"
	cmd.Env = append(os.Environ(), "POINT_SOURCE="+h.source, "POINT_CALLS="+filepath.Join(h.dir, "calls"), "AzureWebJobsStorage=UseDevelopmentStorage=true",
		"AzureWebJobsServiceBus="+bus, "AzureWebJobsEventHub="+bus, "AzureWebJobsCosmosDB=AccountEndpoint=https://localhost:8081/;AccountKey=a2V5")
	h.run(t, cmd)
	h.says(t, "ready in")
}

func (h *pointHost) redeliver(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("redeliver", append(args, "--dir", h.dir)...).CombinedOutput(); err != nil {
		said, _ := h.output()
		t.Fatalf("redeliver %s: %v\n%s\n%s", strings.Join(args, " "), err, out, said)
	}
}

// TestKilledProcessAtEveryPoint kills a host with SIGKILL at each point of a delivery, and
// lets another process go on with its data: what comes of it is what a scripted crash comes
// to.
func TestKilledProcessAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"queue", "servicebus", "eventhubs", "cosmos"} {
		for _, point := range faults.Points() {
			if point == faults.AfterCheckpoint && (source == "queue" || source == "servicebus") {
				continue // they have no checkpoint
			}
			t.Run(source+"/"+string(point), func(t *testing.T) {
				t.Parallel()
				h := &pointHost{dir: t.TempDir(), source: source}
				for name, text := range map[string]string{
					"host.json":           `{"version": "2.0", "customHandler": {"description": {"defaultExecutablePath": "point-handler"}}, "redeliver": {"autoCreateEntities": "any"}}`,
					"local.settings.json": `{"IsEncrypted": false, "Values": {}}`,
				} {
					if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				h.start(t)
				h.redeliver(t, "fail", "host", "Work", string(point))
				send := map[string][]string{
					"queue": {"queue", "orders", "7"}, "servicebus": {"servicebus", "orders", "7"},
					"eventhubs": {"eventhub", "readings", "7"}, "cosmos": {"cosmos", "shop/orders", `{"id":"7"}`},
				}[source]
				if source == "cosmos" {
					h.redeliver(t, "create", "cosmos", "shop/orders")
					h.redeliver(t, "clock", "advance", "10s")
				}
				for _, args := range [][]string{append([]string{"send"}, send...), {"clock", "auto"}} {
					_ = exec.Command("redeliver", append(args, "--dir", h.dir)...).Run() // the host may end before it answers
				}
				err := h.ends()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					said, _ := h.output()
					t.Fatalf("the host ended with %v, want SIGKILL:\n%s", err, said)
				}
				h.start(t)
				h.redeliver(t, "clock", "advance", "12m")
				calls, err := os.ReadFile(filepath.Join(h.dir, "calls"))
				if err != nil {
					t.Fatal(err)
				}
				got, want := strings.Fields(string(calls)), strings.Fields(scripted(t, source, point))
				if !slices.Equal(got, want) {
					said, _ := h.output()
					t.Errorf("attempts of both processes, delivery count/retry count: %v, want %v as after a scripted crash:\n%s", got, want, said)
				}
			})
		}
	}
}

// ends waits for the end of the process.
func (p *process) ends() error {
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Signal(syscall.SIGTERM) })
	defer late.Stop()
	return p.cmd.Wait()
}
