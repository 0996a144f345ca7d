package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/run"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/journal"
)

// ledger records the work of two hosts.
type ledger struct {
	mu       sync.Mutex
	messages map[string]int    // runs by text
	blobs    map[string]int    // runs by name
	ticks    map[time.Time]int // runs by second
	by       map[string]int    // runs of all kinds by host
	left     int               // messages and blobs that have not run yet
	done     chan struct{}     // closed when none is left
	slow     bool              // the storage may keep its clients waiting
}

// failed reports a listener that failed: an error, unless the storage is one that
// now and then does not answer in time, and the listener came back.
func (l *ledger) failed(t *testing.T, format string, args ...any) {
	t.Helper()
	if l.slow {
		t.Logf(format, args...)
		return
	}
	t.Errorf(format, args...)
}

func newLedger(messages, blobs int) *ledger {
	return &ledger{
		messages: map[string]int{}, blobs: map[string]int{}, ticks: map[time.Time]int{}, by: map[string]int{},
		left: messages + blobs, done: make(chan struct{}),
	}
}

func (l *ledger) ran(host string, in map[string]int, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in[key]++
	l.by[host]++
	if in[key] > 1 {
		return
	}
	if l.left--; l.left == 0 {
		close(l.done)
	}
}

// host starts a host of one app, with one ID, whose storage is that connection.
func (l *ledger) host(t *testing.T, name, connection string) *host.Host {
	t.Helper()
	handlers := functions.New()
	handlers.Queue("Take", "orders", func(_ context.Context, m functions.QueueMessage) error {
		l.ran(name, l.messages, m.Text())
		return nil
	})
	handlers.Blob("Import", "uploads/{name}", func(_ context.Context, b functions.Blob) error {
		l.ran(name, l.blobs, b.Name)
		return nil
	})
	var clk func() time.Time
	handlers.Timer("Tick", "* * * * * *", func(context.Context, functions.TimerInfo) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ticks[clk().Truncate(time.Second)]++
		return nil
	})
	c := run.NewCloud(nil)
	h, err := host.New(t.TempDir(), &host.Options{
		KeepRecords: -1, Processors: 2, Handlers: handlers, Outside: c, Instance: name, Set: []string{"wakeUp=faithful"},
		Env: []string{"AzureWebJobsStorage=" + connection, "AzureFunctionsWebHost__hostid=shared"},
	})
	if err != nil {
		t.Fatal(err)
	}
	clk = h.Clock().Now
	t.Cleanup(c.Close)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// fillStorage puts messages and uploads blobs, as any client does.
func fillStorage(t *testing.T, connection string, messages, blobs int) {
	t.Helper()
	ctx := t.Context()
	c := run.NewCloud(nil)
	defer c.Close()
	conn := appsettings.Connection{Setting: "test", Value: connection}
	queues, err := c.Queues(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	containers, err := c.Blobs(conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	queue, container := queues.Queue("orders"), containers.Container("uploads")
	if err := queue.Create(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := container.Create(ctx, nil); err != nil {
		t.Fatal(err)
	}
	const writers = 8
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < max(messages, blobs); i += writers {
				if i < messages {
					if _, err := queue.Put(ctx, queueapi.Base64.Encode(fmt.Append(nil, i)), nil); err != nil {
						t.Error(err)
						return
					}
				}
				if i < blobs {
					if _, err := container.Blob(fmt.Sprint(i)).Put(ctx, bytes.NewReader(nil), nil); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// patienceShared is how long hosts may take for all that was written, in real
// time. Only a failing test, and a soak, ever waits that long.
const patienceShared = 8 * time.Minute

// check stops the hosts and compares their work with the expected one.
func (l *ledger) check(t *testing.T, messages, blobs int, hosts ...*host.Host) {
	t.Helper()
	begun := time.Now()
	select {
	case <-l.done:
	case <-t.Context().Done():
	case <-time.After(patienceShared):
		l.mu.Lock()
		t.Errorf("%d messages and blobs have not run after %v", l.left, patienceShared)
		l.mu.Unlock()
	}
	t.Logf("all ran %v after the last was written; by host: %v", time.Since(begun).Round(time.Millisecond), l.by)
	settled := map[string]int{}
	for _, h := range hosts {
		if err := h.Close(); err != nil { // waits for what is being settled
			t.Error(err)
		}
		for _, r := range h.Journal().Records() {
			if r.Kind == journal.Settled {
				settled[r.Function+" "+r.Decision]++
			}
			if r.Kind == journal.FunctionError {
				l.failed(t, "%s: %s", r.Function, r.Error)
			}
		}
	}
	for what, got := range map[string]int{
		"messages run": len(l.messages), "messages settled": settled["Take deleted"],
		"blobs run": len(l.blobs), "blobs settled": settled["Import deleted"],
	} {
		if want := map[byte]int{'m': messages, 'b': blobs}[what[0]]; got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	for what, runs := range map[string]map[string]int{"message": l.messages, "blob": l.blobs} {
		for key, n := range runs {
			if n != 1 {
				t.Errorf("%s %s ran %d times, want once", what, key, n)
			}
		}
	}
	for tick, n := range l.ticks {
		if n != 1 {
			t.Errorf("the timer ran %d times at %s, want once a tick", n, tick.Format("15:04:05"))
		}
	}
	if len(l.ticks) == 0 {
		t.Error("the timer never ran")
	}
	for _, name := range []string{"first", "second"} {
		if l.by[name] == 0 {
			t.Errorf("host %s did nothing", name)
		}
	}
}

// Two hosts on one storage, the second given the first one's connection string:
// every blob is executed once, every message is settled, timers fire once per
// tick (storage.md E-8, and 20, row 8).
func TestTwoHostsOneStorage(t *testing.T) {
	t.Parallel()
	const messages, blobs = 10_000, 1_000
	l := newLedger(messages, blobs)
	first := l.host(t, "first", "UseDevelopmentStorage=true")
	storage := first.Services().Storage()
	servers, err := served.NewServer(first.Clock(), &rest.Options{Accounts: []rest.Account{{
		Name: rest.DevAccount, Keys: []string{rest.DevKey},
		Queues: storage, QueueAdmin: storage, Blobs: storage,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := servers.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = servers.Close() })
	first.Connections().StorageAt(servers.BlobURL(), servers.QueueURL())
	connection := fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s/%[1]s;QueueEndpoint=%[4]s/%[1]s;",
		rest.DevAccount, rest.DevKey, servers.BlobURL(), servers.QueueURL())
	second := l.host(t, "second", connection)
	for _, h := range []*host.Host{first, second} {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fillStorage(t, connection, messages, blobs)
	l.check(t, messages, blobs, second, first) // the storage is the first one's
}

// A storage that takes requests and never answers holds up neither the start of a
// host nor its end.
func TestStorageThatHangs(t *testing.T) {
	t.Parallel()
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hung.Close() })
	connection := fmt.Sprintf("AccountName=acme;AccountKey=c2VjcmV0;BlobEndpoint=http://%s/acme;QueueEndpoint=http://%[1]s/acme", hung.Addr())
	h := newLedger(1, 1).host(t, "only", connection)
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
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("start and end took %v", took)
	}
}

// Two hosts on a server written by others, which takes its time:
// fewer messages and blobs, unless REDELIVER_FLEET is set.
func TestTwoHostsOnAzurite(t *testing.T) {
	t.Parallel()
	messages, blobs := 400, 100
	if os.Getenv("REDELIVER_FLEET") != "" {
		messages, blobs = 10_000, 1_000
	}
	connection := startAzurite(t)
	l := newLedger(messages, blobs)
	l.slow = true
	first, second := l.host(t, "first", connection), l.host(t, "second", connection)
	for _, h := range []*host.Host{first, second} {
		if err := h.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	fillStorage(t, connection, messages, blobs)
	l.check(t, messages, blobs, first, second)
}

// startAzurite runs an Azurite of its own and returns the connection string of its
// account. `make interop` installs it.
func startAzurite(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs("../../.interop/node_modules/azurite/dist/src/azurite.js")
	if err == nil {
		_, err = exec.LookPath("node")
	}
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		if os.Getenv("REDELIVER_INTEROP") == "required" {
			t.Fatalf("%v, and REDELIVER_INTEROP is required; run make interop", err)
		}
		t.Skipf("%v; run make interop", err)
	}
	key := base64.StdEncoding.EncodeToString([]byte("no secret"))
	cmd := exec.Command("node", program, "--blobPort", "0", "--queuePort", "0", "--tablePort", "0",
		"--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS=shared:"+key)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	var said []string
	urls := map[string]string{} // by service
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		said = append(said, lines.Text())
		if name, url, ok := strings.Cut(lines.Text(), " service is successfully listening at "); ok {
			urls[name[strings.LastIndex(name, " ")+1:]] = strings.TrimSpace(url)
		}
		if urls["Blob"] != "" && urls["Queue"] != "" {
			reading.Go(func() { _, _ = io.Copy(io.Discard, out) })
			return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=shared;AccountKey=%s;BlobEndpoint=%s/shared;QueueEndpoint=%s/shared;", key, urls["Blob"], urls["Queue"])
		}
	}
	t.Fatalf("azurite does not listen: %s", strings.Join(said, "; "))
	return ""
}
