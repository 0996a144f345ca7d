package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
)

const prefix = "/admin/redeliver"

func (d *fixture) blob(container, name string) string {
	return prefix + "/containers/" + container + "/blob?name=" + url.QueryEscape(name)
}

func TestControlInventory(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Work", "work", nothing)
	handlers.Queue("Off", "off", nothing, functions.Disabled())
	handlers.CosmosDB("Missing", "shop", "orders", func(context.Context, []functions.CosmosDocument) error { return nil })
	files := app(plainHostJSON, "Bad/function.json", `{"bindings":[{"type":"queueTrigger","direction":"in","name":"m"}]}`)
	d := open(t, files, handlers, nil)
	d.want(201, "POST", prefix+"/queues/jobs/messages", "a")
	d.want(201, "POST", prefix+"/queues/jobs/messages?visibility=100h", "b")
	d.want(201, "PUT", d.blob("docs", "a.txt"), "12345")
	d.want(201, "PUT", d.blob("docs", "b/c.txt"), "")

	got := get[run.Inventory](d, 200, "GET", prefix+"/inventory", "")
	states := map[string]string{}
	for _, f := range got.Functions {
		states[f.Name] = f.State
		if f.State != "enabled" && f.Detail == "" {
			t.Errorf("%s is %s without a reason", f.Name, f.State)
		}
	}
	want := map[string]string{"Work": "enabled", "Off": "disabled", "Bad": "error", "Missing": "error"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	// The service's own queues and containers are there too.
	byName := map[string]queues.QueueInfo{}
	for _, q := range got.Queues {
		byName[q.Name] = q
	}
	if diff := cmp.Diff(queues.QueueInfo{Name: "jobs", Count: 2, Visible: 1, Invisible: 1}, byName["jobs"]); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	containers := map[string]blobs.ContainerInfo{}
	for _, c := range got.Containers {
		containers[c.Name] = c
	}
	if diff := cmp.Diff(blobs.ContainerInfo{Name: "docs", Blobs: 2, Bytes: 5}, containers["docs"]); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
}

func TestControlBlobs(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	const name = `Dir/ä %2F #?.HTML`
	made := get[blobs.BlobInfo](d, 201, "PUT", d.blob("docs", name), "<p>")
	if made.Container != "docs" || made.Name != name || made.Size != 3 || made.ETag == "" {
		t.Errorf("uploaded = %+v", made)
	}
	d.want(201, "PUT", d.blob("docs", name), "<b>", withHeader("Content-Type", "text/html"))
	got := d.want(200, "GET", d.blob("docs", name), "")
	if got.Body != "<b>" || got.Header.Get(blobs.BlobContentType) != "text/html" {
		t.Errorf("downloaded %q as %q", got.Body, got.Header.Get(blobs.BlobContentType))
	}
	// A browser must neither show nor run it.
	if h := got.Header; h.Get("Content-Type") != "application/octet-stream" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Disposition") != "attachment" {
		t.Errorf("headers = %v", h)
	}
	large := strings.Repeat("0123456789abcdef", 4<<20/16)
	d.want(201, "PUT", d.blob("docs", "large"), large)
	if got := d.want(200, "GET", d.blob("docs", "large"), ""); got.Body != large {
		t.Errorf("%d bytes came back, want the %d that were sent", len(got.Body), len(large))
	}
	d.want(201, "PUT", d.blob("docs", "empty"), "")
	if got := d.want(200, "GET", d.blob("docs", "empty"), ""); got.Body != "" || got.Header.Get("Content-Length") != "0" {
		t.Errorf("an empty blob came back as %q", got.Body)
	}

	for _, tt := range []struct {
		name, method, path string
		want               int
	}{
		{"no blob", "GET", d.blob("docs", "none"), 404},
		{"no container", "GET", d.blob("none", "none"), 404},
		{"bad container", "PUT", d.blob("No_Good", "a"), 400},
		{"no name", "PUT", prefix + "/containers/docs/blob", 400},
		{"long name", "PUT", d.blob("docs", strings.Repeat("x", 1025)), 400},
	} {
		t.Run(tt.name, func(t *testing.T) { d.want(tt.want, tt.method, tt.path, "x") })
	}
}

// An upload fires blob triggers, like any other write.
func TestControlUploadFires(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Blob("Read", "docs/{name}", func(context.Context, functions.Blob) error { return nil })
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(201, "PUT", d.blob("docs", "a.txt"), "x")
	d.wait(journal.Settled, "Read")
}

// While a body is on its way the host goes on, and its clock moves.
func TestControlUploadHoldsNobody(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	from, to := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- d.request("PUT", d.blob("docs", "slow"), "", func(r *http.Request) { r.Body, r.ContentLength = from, -1 }).Status
	}()
	fmt.Fprint(to, "first ") // returns once the server's side is being written to
	d.want(200, "POST", prefix+"/clock/advance?by=1h", "")
	d.want(201, "POST", prefix+"/queues/orders/messages", "x")
	fmt.Fprint(to, "second")
	to.Close()
	if status := <-done; status != 201 {
		t.Errorf("status %d, want 201", status)
	}
	if got := d.want(200, "GET", d.blob("docs", "slow"), ""); got.Body != "first second" {
		t.Errorf("the blob is %q", got.Body)
	}
}

// A body that ends early changes nothing.
func TestControlUploadCutShort(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.want(201, "PUT", d.blob("docs", "a"), "old")
	r, err := http.NewRequestWithContext(t.Context(), "PUT", d.web.URL()+d.blob("docs", "a"), &cutShort{text: "ne"})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := client.Do(r); err == nil {
		resp.Body.Close()
		t.Fatalf("answered %s", resp.Status)
	}
	if got := d.want(200, "GET", d.blob("docs", "a"), ""); got.Body != "old" {
		t.Errorf("the blob is %q, want it as it was", got.Body)
	}
}

// cutShort is a body whose sender fails.
type cutShort struct{ text string }

func (c *cutShort) Read(p []byte) (int, error) {
	n := copy(p, c.text)
	if c.text = c.text[n:]; n > 0 {
		return n, nil
	}
	return 0, errors.New("the disk is gone")
}

func TestControlRedrive(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	put := func(queue, query, body string) string {
		return get[queues.Message](d, 201, "POST", prefix+"/queues/"+queue+"/messages"+query, body).ID
	}
	const redrive = prefix + "/queues/orders-poison/redrive"
	d.want(404, "POST", redrive, "")
	first := put("orders-poison", "?raw=true&ttl=never", "not base64")
	for _, body := range []string{"1", "2", "3"} {
		put("orders-poison", "", body)
	}
	later := put("orders-poison", "?visibility=100h", "later")

	// A target that does not exist moves nothing.
	if got := d.want(404, "POST", redrive, ""); !strings.Contains(got.Body, `target queue \"orders\"`) {
		t.Errorf("answer %s, want it to name the target", got.Body)
	}
	put("orders", "", "0")

	one := get[ops.Redriven](d, 200, "POST", redrive+"?id="+first, "")
	if diff := cmp.Diff(ops.Redriven{From: "orders-poison", To: "orders", Moved: 1, Left: 4, ID: first, NewID: one.NewID}, one); diff != "" || one.NewID == "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	rest := get[ops.Redriven](d, 200, "POST", redrive, "")
	if diff := cmp.Diff(ops.Redriven{From: "orders-poison", To: "orders", Moved: 3, Left: 1}, rest); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	var texts []string
	for _, m := range get[queues.Peeked](d, 200, "GET", prefix+"/queues/orders/messages", "").Messages {
		texts = append(texts, m.Text)
		if m.DequeueCount != 0 {
			t.Errorf("dequeue count of %q is %d, want 0", m.Text, m.DequeueCount)
		}
		if got, want := m.Expires.IsZero(), m.Text == "not base64"; got != want {
			t.Errorf("%q is kept for ever: %t, want %t", m.Text, got, want)
		}
	}
	if diff := cmp.Diff([]string{"MA==", "not base64", "MQ==", "Mg==", "Mw=="}, texts); diff != "" {
		t.Errorf("texts in order (-want +got):\n%s", diff)
	}

	// The journal links both identifiers.
	var links []journal.Record
	for _, r := range d.host.Journal().Records() {
		if r.Kind == journal.Forwarded {
			links = append(links, r)
		}
	}
	if len(links) != 4 {
		t.Fatalf("%d records of kind forwarded, want 4", len(links))
	}
	got := links[0]
	if got.Source != "orders-poison" || got.Target != "orders" || got.MessageID != first || got.Cause != "redrive" ||
		!cmp.Equal(got.Fields, []journal.Field{{Key: "new_message_id", Value: one.NewID}}) {
		t.Errorf("record = %s", got)
	}

	d.want(201, "POST", prefix+"/queues/attic/messages", "")
	d.want(409, "POST", redrive+"?id="+later, "")
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/queues/orders/redrive?to=attic", ""); got.Moved != 5 {
		t.Errorf("moved %d messages to the attic, want 5", got.Moved)
	}
	for _, tt := range []struct {
		name, path string
		want       int
	}{
		{"unknown message", redrive + "?id=none", 404},
		{"no poison queue and no target", prefix + "/queues/orders/redrive", 400},
		{"only the suffix", prefix + "/queues/-poison/redrive", 400},
		{"to itself", redrive + "?to=orders-poison", 400},
		{"bad target", redrive + "?to=No_Good", 400},
		{"bad source", prefix + "/queues/No_Good/redrive?to=orders", 400},
	} {
		t.Run(tt.name, func(t *testing.T) { d.want(tt.want, "POST", tt.path, "") })
	}
}

// A function that fails at once poisons what is redriven while that goes on. It
// is moved once, not for ever.
func TestControlRedriveWhileTheFunctionFails(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Fail", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("no") })
	d := open(t, app(`{"version":"2.0","extensions":{"queues":{"visibilityTimeout":"00:00:00","maxDequeueCount":1}}}`), handlers, nil)
	const n = 40
	for i := range n {
		d.want(201, "POST", prefix+"/queues/orders-poison/messages", fmt.Sprint(i))
	}
	d.want(201, "POST", prefix+"/queues/orders/messages", "first")
	d.wait(journal.Settled, "Fail")
	if got := get[ops.Redriven](d, 200, "POST", prefix+"/queues/orders-poison/redrive", ""); got.Moved < n || got.Moved > n+1 {
		t.Errorf("moved %d messages, want %d and perhaps the first", got.Moved, n)
	}
}

func TestControlMessageOptions(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	const queue = prefix + "/queues/orders/messages"
	never := get[queues.Message](d, 201, "POST", queue+"?ttl=never", "a")
	short := get[queues.Message](d, 201, "POST", queue+"?ttl=90s&visibility=1m", "b")
	if !never.Expires.IsZero() || !never.NextVisible.IsZero() {
		t.Errorf("a message for ever = %+v", never)
	}
	if life := short.Expires.Sub(short.Inserted); life != 90*time.Second || short.NextVisible.Sub(short.Inserted) != time.Minute {
		t.Errorf("a message for 90s = %+v", short)
	}
	got := get[queues.Peeked](d, 200, "GET", queue+"?id="+short.ID, "")
	if len(got.Messages) != 1 || *got.Messages[0].Body != "b" || got.Messages[0].NextVisible.IsZero() || got.Count != 2 {
		t.Errorf("peek by identifier = %+v", got)
	}
	d.want(404, "GET", queue+"?id=none", "")
	d.want(400, "POST", queue+"?ttl=soon", "x")
	d.want(400, "POST", queue+"?ttl=0s", "x")
	d.want(400, "POST", queue+"?ttl=10s&visibility=10s", "x")
}
