package azure_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/blob"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/triggers"
	ehtrigger "github.com/redeliver/redeliver/triggers/eventhubs"
)

// cloudOf are the services of a host whose hubs, and storage if it has a connection
// string, are outside.
type cloudOf struct {
	services.Outside // there are no others
	t                testing.TB
	hubs             map[string]*azure.EventHubs // by setting

	mu sync.Mutex
}

func newCloudOf(t testing.TB) *cloudOf {
	return &cloudOf{t: t, hubs: map[string]*azure.EventHubs{}}
}

func (c *cloudOf) Blobs(conn appsettings.Connection, call services.Call) (blob.Account, error) {
	return azure.NewBlobAccount(conn.Value, &azure.Options{HTTPClient: http.DefaultClient, Call: call})
}

func (c *cloudOf) EventHubs(conn appsettings.Connection, call services.Call) (eventhubsapi.Namespace, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := azure.NewEventHubs(conn.Value, &azure.Options{Call: call})
	if err == nil {
		c.hubs[conn.Setting] = h
	}
	return h, err
}

// close is for when the host is closed.
func (c *cloudOf) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for setting, h := range c.hubs {
		if err := h.Close(context.Background()); err != nil {
			c.t.Errorf("close the hubs of %s: %v", setting, err)
		}
	}
}

// hubHostFile makes hosts look soon for the owners of partitions.
const hubHostFile = `{"version": "2.0", "extensions": {"eventHubs": {"loadBalancingUpdateInterval": "00:00:01"}}}`

// hubHost makes a host with hubs outside.
func hubHost(t *testing.T, name string, handlers *functions.App, settings ...string) *host.Host {
	t.Helper()
	c := newCloudOf(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(hubHostFile), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(dir, &host.Options{
		Handlers: handlers, Outside: c, Instance: name, Env: append([]string{"AzureFunctionsWebHost__hostid=shared"}, settings...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// TestEventHubsAcceptance: a host is triggered by a hub outside. An event that fails
// stops its partition for a policy of four retries, that is five attempts; then the
// checkpoint moves on (spec messaging 6.2), and what an output sends comes next.
func TestEventHubsAcceptance(t *testing.T) {
	t.Parallel()
	d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 1}, eventhubs.Hub{Name: "done", Partitions: 1})
	handlers := functions.New()
	handlers.EventHub("OnOrder", "orders", func(ctx context.Context, e functions.EventHubEvent) error {
		if e.Text() == "bad" {
			return errors.New("database down")
		}
		return functions.SetOutput(ctx, "done", e.Text())
	}, functions.FixedDelay(4, 10*time.Millisecond), functions.EventHubOutput("done", "done"))
	h := hubHost(t, "only", handlers, "AzureWebJobsStorage=UseDevelopmentStorage=true", "EventHub="+d.connectionString())
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	client := connectHubs(t, d.connectionString())
	if err := client.SendEvents(t.Context(), "orders", nil, &eventhubsapi.Event{Body: []byte("bad")}); err != nil {
		t.Fatal(err)
	}
	if err := client.SendEvents(t.Context(), "orders", nil, &eventhubsapi.Event{Body: []byte("good")}); err != nil {
		t.Fatal(err)
	}
	r, err := client.ReadEvents(t.Context(), "done", "$Default", "0", eventhubsapi.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := r.Receive(t.Context(), 1, busPatience); err != nil || len(list) != 1 || string(list[0].Body) != "good" {
		t.Errorf("%d events came out, %v, want good", len(list), err)
	}
	within, cancel := context.WithTimeout(t.Context(), busPatience)
	defer cancel()
	wrote, err := h.Journal().Wait(within, func(r *journal.Record) bool { return r.Kind == journal.Settled && r.Delivery == "d2" })
	if err != nil || wrote.Decision != string(triggers.Checkpointed) {
		t.Errorf("the second event ended with %q, %v", wrote.Decision, err)
	}
	attempts := map[string]int{}
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.AttemptStarted {
			attempts[r.Delivery]++
		}
	}
	if attempts["d1"] != 5 || attempts["d2"] != 1 {
		t.Errorf("attempts %v, want 5 and 1", attempts)
	}
	store := ehtrigger.NewStore(h.Services().Storage().Container(ehtrigger.Container), client.FullyQualifiedNamespace(), "orders", "$Default")
	var kept *ehtrigger.Checkpoint
	h.Clock().Inside("test", func() { kept, err = store.Checkpoint(context.Background(), "0") })
	if err != nil || kept == nil || kept.SequenceNumber != 1 {
		t.Errorf("checkpoint %+v, %v, want the checkpoint of the second event", kept, err)
	}
}

// handled is the work of the hosts of one app, by event.
type handled struct {
	mu    sync.Mutex
	runs  map[string][]string      // the hosts that ran an event
	begun map[string]chan struct{} // closed when a host runs its first one
	left  int                      // events that were sent and did not run
	none  *sync.Cond               // none is left
}

func newHandled(hosts ...string) *handled {
	l := &handled{runs: map[string][]string{}, begun: map[string]chan struct{}{}}
	for _, name := range hosts {
		l.begun[name] = make(chan struct{})
	}
	l.none = sync.NewCond(&l.mu)
	return l
}

func (l *handled) app(name string) *functions.App {
	handlers := functions.New()
	handlers.EventHub("OnOrder", "orders", func(_ context.Context, e functions.EventHubEvent) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.runs[e.Text()]) == 0 {
			l.left--
			l.none.Broadcast()
		}
		l.runs[e.Text()] = append(l.runs[e.Text()], name)
		select {
		case <-l.begun[name]:
		default:
			close(l.begun[name])
		}
		return nil
	})
	return handlers
}

// round sends n events, and more until a host has begun to run some, and waits until all
// have run.
func (l *handled) round(t *testing.T, client *azure.EventHubs, name string, n int, until <-chan struct{}) {
	t.Helper()
	over := false
	for i := 0; i < n || !over; i++ {
		l.mu.Lock()
		l.left++
		l.mu.Unlock()
		if err := client.SendEvents(t.Context(), "orders", nil, &eventhubsapi.Event{Body: fmt.Appendf(nil, "%s %d", name, i)}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-until:
			over = true
		default:
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.left > 0 {
		l.none.Wait()
	}
}

// Two hosts with one storage share the partitions of a hub: both outside, or in one of
// the two, which the other one reaches as it reaches any. When one ends the other goes
// on from its checkpoints.
func TestTwoHostsOneHub(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, l *handled) (first, second *host.Host, hubs string){
		"outside": func(t *testing.T, l *handled) (first, second *host.Host, hubs string) {
			d := openHubServer(t, clock.System(), eventhubs.Hub{Name: "orders", Partitions: 4})
			storage := "AzureWebJobsStorage=" + openStorageServer(t, clock.System(), emulator.New(clock.System(), nil), nil)
			first = hubHost(t, "first", l.app("first"), storage, "EventHub="+d.connectionString())
			second = hubHost(t, "second", l.app("second"), storage, "EventHub="+d.connectionString())
			return first, second, d.connectionString()
		},
		"in the first": func(t *testing.T, l *handled) (first, second *host.Host, hubs string) {
			first = hubHost(t, "first", l.app("first"), "AzureWebJobsStorage=UseDevelopmentStorage=true",
				"EventHub=Endpoint=sb://localhost"+emulatorKey+"UseDevelopmentEmulator=true;")
			storage := "AzureWebJobsStorage=" + openStorageServer(t, first.Clock(), first.Services().Storage(), first.Connections().StorageAt)
			d := serveHubs(t, first.Clock(), first.Services().EventHubs(), first.Services().ServiceBus())
			first.Connections().ServiceBusAt("sb://" + d.addr)
			second = hubHost(t, "second", l.app("second"), storage, "EventHub="+d.connectionString())
			return first, second, d.connectionString()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHandled("first", "second")
			first, second, hubs := open(t, l)
			twoHosts(t, l, first, second, connectHubs(t, hubs))
		})
	}
}

func twoHosts(t *testing.T, l *handled, first, second *host.Host, client *azure.EventHubs) {
	for _, h := range []*host.Host{first, second} {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	l.round(t, client, "both", 100, l.begun["second"])
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	l.round(t, client, "one", 100, l.begun["first"])
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := 0
	for event, hosts := range l.runs {
		if strings.HasPrefix(event, "one ") && hosts[0] != "first" {
			t.Errorf("event %q ran on %q: that host had ended", event, hosts)
		}
		again += len(hosts) - 1
	}
	if again > len(l.runs)/4 { // events in work when a partition was taken come again
		t.Errorf("%d of %d events ran again: the hosts have no checkpoints in common", again, len(l.runs))
	}
}

// openStorageServer returns the connection string of a storage account behind a socket,
// and tells its address on request.
func openStorageServer(t testing.TB, clk clock.Clock, storage *emulator.Storage, tell func(blobs, queues string)) string {
	t.Helper()
	servers, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{{
		Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage, Blobs: storage,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := servers.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { servers.Close() })
	if tell != nil {
		tell(servers.BlobURL(), servers.QueueURL())
	}
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s/%[1]s;QueueEndpoint=%[4]s/%[1]s;",
		rest.DevAccount, rest.DevKey, servers.BlobURL(), servers.QueueURL())
}

// A namespace that takes connections and never answers holds up neither the start of a
// host nor its end.
func TestNamespaceThatHangs(t *testing.T) {
	t.Parallel()
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hung.Close() })
	h := hubHost(t, "only", newHandled("only").app("only"), "AzureWebJobsStorage=UseDevelopmentStorage=true",
		"EventHub=Endpoint=sb://"+hung.Addr().String()+emulatorKey+"UseDevelopmentEmulator=true;")
	begun := time.Now()
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := hung.Accept() // somebody waits for an answer
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("start and end took %v", took)
	}
}
