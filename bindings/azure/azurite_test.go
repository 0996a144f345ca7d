package azure_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
)

// interop is the folder, at the root of the module, that `make interop` fills
// with software written by others.
const interop = "../../.interop"

// requireInterop skips a test that needs others' software, unless
// REDELIVER_INTEROP is "required".
func requireInterop(t testing.TB, program string, files ...string) {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath(program); err != nil {
		missing = program + " is not on this machine"
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(interop, file)); err != nil && missing == "" {
			missing = file + " is not installed below .interop"
		}
	}
	switch {
	case missing == "":
	case os.Getenv("REDELIVER_INTEROP") == "required":
		t.Fatalf("%s, and REDELIVER_INTEROP is required; run make interop", missing)
	default:
		t.Skipf("%s; run make interop", missing)
	}
}

const (
	azuriteMain      = "node_modules/azurite/dist/src/queue/main.js"
	azuriteBlobMain  = "node_modules/azurite/dist/src/blob/main.js"
	azuriteTableMain = "node_modules/azurite/dist/src/table/main.js"
)

// azuriteAccounts is how many fresh accounts one Azurite has to offer.
const azuriteAccounts = 400

// azurite, azuriteBlobs and azuriteTables are the only Azurites of this package's tests, one for
// each service: they take a second or two to start, so tests share them and get
// an account each.
var (
	azurite       = azuriteServer{main: azuriteMain, port: "--queuePort", endpoint: "QueueEndpoint"}
	azuriteBlobs  = azuriteServer{main: azuriteBlobMain, port: "--blobPort", endpoint: "BlobEndpoint"}
	azuriteTables = azuriteServer{main: azuriteTableMain, port: "--tablePort", endpoint: "TableEndpoint", tells: "successfully started on "}
)

type azuriteServer struct {
	main, port, endpoint string
	tells                string // before the port that it was given; empty: before the port that it found

	once sync.Once
	err  error
	cmd  *exec.Cmd
	url  string
	rest sync.WaitGroup // reads what it still prints

	mu   sync.Mutex
	used int
}

func (a *azuriteServer) start() {
	var accounts strings.Builder
	for i := range azuriteAccounts {
		fmt.Fprintf(&accounts, "%s:%s;%s:%s;", azuriteName(i), azuriteKey(), azuritePair(i), azuriteKey())
	}
	port, tells := "0", "successfully listens on "
	if a.tells != "" {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			a.err = err
			return
		}
		port, tells = strconv.Itoa(free.Addr().(*net.TCPAddr).Port), a.tells
		free.Close()
	}
	cmd := exec.Command("node", "--require", "./testdata/interop/clock.cjs", filepath.Join(interop, a.main),
		a.port, port, "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry")
	cmd.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+accounts.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.err = err
		return
	}
	cmd.Stderr = cmd.Stdout
	if a.err = cmd.Start(); a.err != nil {
		return
	}
	a.cmd = cmd
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if _, url, ok := strings.Cut(lines.Text(), tells); ok {
			a.url = "http://" + strings.TrimPrefix(strings.TrimSpace(url), "http://")
			a.rest.Go(func() { io.Copy(io.Discard, out) })
			return
		}
	}
	a.err = errors.New("azurite does not listen: " + strings.Join(said, "; "))
}

// stop ends the process, if it was started.
func (a *azuriteServer) stop() {
	if a.cmd == nil {
		return
	}
	a.cmd.Process.Kill()
	a.rest.Wait()
	a.cmd.Wait()
}

func azuriteName(i int) string { return fmt.Sprintf("account%03d", i) }

// azuritePair names an account that one test uses in both services.
func azuritePair(i int) string { return fmt.Sprintf("pair%03d", i) }

func azuriteKey() string { return base64.StdEncoding.EncodeToString([]byte("no secret")) }

// open returns the connection string of an unused account.
func (a *azuriteServer) open(t testing.TB) string {
	t.Helper()
	a.once.Do(a.start)
	if a.err != nil {
		t.Fatal(a.err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used == azuriteAccounts {
		t.Fatal("no fresh account is left in Azurite")
	}
	name := azuriteName(a.used)
	a.used++
	return fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;%s=%s/%s;", name, azuriteKey(), a.endpoint, a.url, name)
}

// azuriteTime is the time at which Azurite serves requests: it is started with
// testdata/interop/clock.cjs, which takes the time from a header of each.
type azuriteTime struct {
	now       atomic.Int64 // milliseconds since 1970
	ticks     func(r *http.Request) bool
	transport http.RoundTripper
}

// newAzuriteTime starts at the time that all tests start at. A millisecond passes
// before each request that ticks: Azurite tells some things apart by time alone.
func newAzuriteTime(t testing.TB, ticks func(r *http.Request) bool) *azuriteTime {
	transport := &http.Transport{DisableCompression: true} // whose connections end before the server does
	t.Cleanup(transport.CloseIdleConnections)
	a := &azuriteTime{ticks: ticks, transport: transport}
	a.now.Store(start.UnixMilli())
	return a
}

func (a *azuriteTime) Now() time.Time { return time.UnixMilli(a.now.Load()).UTC() }

func (a *azuriteTime) Advance(d time.Duration) { a.now.Add(d.Milliseconds()) }

// RoundTrip implements http.RoundTripper.
func (a *azuriteTime) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.ticks(r) {
		a.Advance(time.Millisecond)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Redeliver-Time", strconv.FormatInt(a.now.Load(), 10))
	return a.transport.RoundTrip(r)
}

// TestAzuriteConformance is the third leg of style 2.7: the SDK and a server
// written by others. Where Azurite differs: all messages of one get have the
// same receipt, expired ones are counted until they are collected, and bodies are
// turned into text piece by piece (spec storage 16.3, 19; Azurite: serializer.ts).
func TestAzuriteConformance(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteMain)
	bindingtest.RunQueue(t, func(t *testing.T) *bindingtest.QueueBackend {
		// No two messages become visible at one instant: those would come in order
		// of insertion.
		at := newAzuriteTime(t, func(*http.Request) bool { return true })
		account, err := azure.NewQueueAccount(azurite.open(t), &azure.Options{HTTPClient: &http.Client{Transport: at}, Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		return &bindingtest.QueueBackend{
			Account:  account,
			Features: bindingtest.QueueFeatures{OrderByVisibility: true, RecreateAtOnce: true, WholeSeconds: true, SplitsCharacters: true},
			Now:      at.Now,
			Advance:  at.Advance,
		}
	})
}
