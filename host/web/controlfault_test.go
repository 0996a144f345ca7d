package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
)

// logged collects what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// faulty is a running host whose disk fails with the error that fault holds for an
// operation.
func faulty(t *testing.T) (d *fixture, fault func(op store.FileOp, err error), log *logged) {
	t.Helper()
	var broken atomic.Pointer[func(op store.FileOp) error]
	db, err := store.Open(t.TempDir(), &store.Options{Fault: func(op store.FileOp, _ string) error {
		if f := broken.Load(); f != nil {
			return (*f)(op)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	log = &logged{}
	d = prepareStored(t, app(plainHostJSON), nil, db, &web.Options{Logger: zerolog.New(log)})
	d.listen()
	if err := d.host.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return d, func(op store.FileOp, err error) {
		f := func(asked store.FileOp) error {
			if asked == op {
				return err
			}
			return nil
		}
		broken.Store(&f)
	}, log
}

// A body that finds no room is refused, and its sender gets to know, although it is
// still writing and had been given leave to.
func TestUploadOnFullDisk(t *testing.T) {
	t.Parallel()
	d, fault, _ := faulty(t)
	path := prefix + "/containers/files/blob?name=big"
	d.want(201, "PUT", path, strings.Repeat("old", 1<<20))
	fault(store.OpWrite, syscall.ENOSPC)
	for range 5 {
		a := d.request("PUT", path, strings.Repeat("new", 4<<20), withHeader("Expect", "100-continue"))
		if want := `{"error":"no space is left on the disk that has the data of the host","hint":"make room there; nothing has changed","code":"disk_full"}`; a.Status != 507 || strings.TrimSpace(a.Body) != want {
			t.Fatalf("got %d %s, want 507 %s", a.Status, a.Body, want)
		}
	}
	fault(store.OpWrite, nil)
	if a := d.want(200, "GET", path, ""); a.Body != strings.Repeat("old", 1<<20) {
		t.Errorf("the blob has %d bytes, want the old ones", len(a.Body))
	}
}

// A refused body that does not end holds its connection for a short while only.
func TestRefusedUploadThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	d, fault, _ := faulty(t)
	d.want(201, "PUT", prefix+"/containers/files/blob?name=a", "old")
	fault(store.OpWrite, syscall.ENOSPC)
	conn, err := net.Dial("tcp", d.web.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT %s/containers/files/blob?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n%s", prefix, strings.Repeat("x", 4<<20))
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute)) // a host that waits for the rest waits longer
	text, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 507 ") {
		t.Errorf("%.200s, %v", text, err)
	}
}

// A body that cannot be read is refused, or is a cut answer after its first bytes, and a line
// in the log.
func TestDownloadOfDamagedBlob(t *testing.T) {
	t.Parallel()
	d, fault, log := faulty(t)
	path := prefix + "/containers/files/blob?name=big"
	d.want(201, "PUT", path, strings.Repeat("old", 1<<20))
	fault(store.OpRead, errors.New("a bad sector"))
	r, err := http.NewRequestWithContext(t.Context(), "GET", d.web.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := client.Do(r); err == nil {
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode != http.StatusInternalServerError {
			t.Errorf("status %d, %d bytes, and no error", resp.StatusCode, n)
		}
	}
	fault(store.OpRead, nil)
	for _, want := range []string{`"level":"error"`, "a bad sector", `"component":"web"`, `"request":"GET /admin/redeliver/containers/files/blob?name=big"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log %q lacks %s", log.String(), want)
		}
	}
}

// A state or an inventory that cannot be read is the host's failure, and not the caller's.
func TestUnreadableIsNoWrongRequest(t *testing.T) {
	t.Parallel()
	d, fault, _ := faulty(t)
	d.want(201, "PUT", prefix+"/containers/files/blob?name=big", strings.Repeat("old", 1<<20))
	fault(store.OpRead, errors.New("a bad sector"))
	d.want(500, "GET", prefix+"/state", "")
	fault(store.OpRead, nil)
	env := &ops.Env{Host: d.host, Services: []*ops.Service{{
		Path: "servicebus", Refuse: ops.MessagingRefusal(""),
		List: func(context.Context, *ops.Env) (any, error) { return nil, bindings.ErrUnavailable },
	}}}
	deed := ops.Of(run.GetInventory{})
	_, err := deed.Do(t.Context(), env, func(any) error { return nil })
	if err == nil || deed.Refused(env, nil, err).Status != 500 {
		t.Errorf("inventory: %v", err)
	}
}

// On a full disk every service refuses to change anything in the same words, and what
// there is can be read and saved; with room again all goes on.
func TestFullDiskIsOneAnswer(t *testing.T) {
	t.Parallel()
	d, fault, _ := faulty(t)
	writes := []struct{ method, path, body string }{
		{"PUT", "/containers/files/blob?name=a", "A"},
		{"POST", "/queues/orders/messages", "a"},
		{"PUT", "/servicebus/entity?path=bus", "{}"},
		{"POST", "/servicebus/messages?path=bus", "a"},
		{"PUT", "/cosmos/container?container=shop/orders", ""},
		{"POST", "/cosmos/documents?container=shop/orders", `{"id":"1"}`},
		{"PUT", "/eventhubs/hub?hub=hub", "{}"},
		{"POST", "/eventhubs/events?hub=hub", "a"},
		{"PUT", "/eventgrid/topic?topic=events", "{}"},
		{"DELETE", "/queues/orders/messages", ""},
	}
	for _, w := range writes {
		if a := d.request(w.method, prefix+w.path, w.body); a.Status >= 300 {
			t.Fatalf("%s %s: %d %s", w.method, w.path, a.Status, a.Body)
		}
	}
	d.want(201, "POST", prefix+"/queues/orders/messages", "b")
	fault(store.OpWrite, syscall.ENOSPC)
	d.request("POST", prefix+"/queues/orders/messages", "the first, which meets the fault")
	for range 3 {
		for _, w := range writes {
			w.path = strings.Replace(w.path, "hubs/hub?hub=hub", "hubs/hub?hub=hub2", 1)
			w.path = strings.Replace(w.path, "topic=events", "topic=more", 1)
			w.path = strings.Replace(strings.Replace(w.path, "path=bus", "path=bus2", 1), "container?container=shop/orders", "container?container=shop/more", 1)
			if strings.Contains(w.path, "messages?path") {
				w.path = strings.Replace(w.path, "2", "", 1)
			}
			a := d.request(w.method, prefix+w.path, w.body)
			if want := `{"error":"no space is left on the disk that has the data of the host","hint":"make room there; nothing has changed","code":"disk_full"}`; a.Status != 507 || strings.TrimSpace(a.Body) != want {
				t.Errorf("%s %s: %d %s, want 507 %s", w.method, w.path, a.Status, a.Body, want)
			}
		}
		for path, want := range map[string]string{
			"/containers/files/blob?name=a":           "A",
			"/queues":                                 `"orders"`,
			"/queues/orders/messages":                 `"b"`,
			"/servicebus/messages?path=bus":           `"count":1`,
			"/cosmos/documents?container=shop/orders": `"id":"1"`,
			"/inventory":                              "hub",
			"/state":                                  "redeliver state",
		} {
			if a := d.request("GET", prefix+path, ""); a.Status != 200 || !strings.Contains(a.Body, want) {
				t.Errorf("GET %s: %d %.200s, want %s in it", path, a.Status, a.Body, want)
			}
		}
	}
	fault(store.OpWrite, nil)
	for _, w := range writes {
		if a := d.request(w.method, prefix+w.path, w.body); a.Status >= 300 && a.Status != 409 {
			t.Errorf("with room again: %s %s: %d %s", w.method, w.path, a.Status, a.Body)
		}
	}
}
