package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/web"
	"github.com/redeliver/redeliver/schemas"
)

func TestControlQueues(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	const queue = "/admin/redeliver/queues/orders/messages"

	d.want(404, "GET", queue, "")
	sent := get[queues.Message](d, 201, "POST", queue, `{"id":7}`)
	if sent.ID == "" || sent.Body == nil || *sent.Body != `{"id":7}` || sent.Text != "eyJpZCI6N30=" {
		t.Errorf("sent = %+v, want the body, encoded as base64", sent)
	}
	d.want(201, "POST", queue+"?raw=true", "plain text")
	d.want(201, "POST", queue, "\xff\xfe")
	d.want(201, "POST", queue+"?visibility=100h", "later")
	d.want(201, "POST", queue, "")

	got := get[queues.Peeked](d, 200, "GET", queue, "")
	var shown []string
	for _, m := range got.Messages {
		switch {
		case m.Undecodable != "":
			shown = append(shown, "undecodable "+m.Text)
		case m.Body != nil:
			shown = append(shown, "text "+*m.Body)
		default:
			shown = append(shown, fmt.Sprintf("binary %x", m.Binary))
		}
		if m.DequeueCount != 0 || m.Inserted.IsZero() {
			t.Errorf("message = %+v, want dequeue count 0 and a time", m)
		}
	}
	want := []string{`text {"id":7}`, "undecodable plain text", "binary fffe", "text "}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("visible messages (-want +got):\n%s", diff)
	}
	if got.Queue != "orders" || got.Count != 5 {
		t.Errorf("queue %q with %d messages, want orders with 5", got.Queue, got.Count)
	}
	if one := get[queues.Peeked](d, 200, "GET", queue+"?max=1", ""); len(one.Messages) != 1 {
		t.Errorf("max=1 shows %d messages", len(one.Messages))
	}
	list := get[struct{ Queues []queues.QueueInfo }](d, 200, "GET", "/admin/redeliver/queues", "")
	if diff := cmp.Diff([]queues.QueueInfo{{Name: "orders", Count: 5, Visible: 4, Invisible: 1}}, list.Queues); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
	if got := get[queues.QueuePurged](d, 200, "DELETE", queue, ""); got.Removed != 5 {
		t.Errorf("clear removed %d messages, want 5", got.Removed)
	}
	if left := get[queues.Peeked](d, 200, "GET", queue, ""); left.Count != 0 {
		t.Errorf("%d messages after clear", left.Count)
	}

	// 48 KiB are what fits when it is encoded.
	if refused := get[ops.Error](d, 413, "POST", queue, strings.Repeat("x", 48<<10+1)); !strings.Contains(refused.Hint, "49152 bytes") {
		t.Errorf("a body that is too large once encoded: hint %q, want the largest", refused.Hint)
	}
	if refused := get[ops.Error](d, 413, "POST", queue+"?raw=true", strings.Repeat("x", 64<<10+1)); refused.Hint != "" {
		t.Errorf("a raw body that is too large: hint %q", refused.Hint)
	}
	get[queues.Message](d, 201, "POST", queue, strings.Repeat("x", 48<<10))

	for _, tt := range []struct {
		name, method, path, body string
		want                     int
	}{
		{"bad name", "POST", "/admin/redeliver/queues/No_Good/messages", "x", 400},
		{"bad visibility", "POST", queue + "?visibility=soon", "x", 400},
		{"visibility out of range", "POST", queue + "?visibility=1000h", "x", 400},
		{"raw that is not text", "POST", queue + "?raw=true", "\xff", 400},
		{"too large for a message", "POST", queue, strings.Repeat("x", 65<<10), 413},
		{"too large at all", "POST", queue, strings.Repeat("x", 2<<20), 413},
		{"bad max", "GET", queue + "?max=0", "", 400},
		{"clear unknown", "DELETE", "/admin/redeliver/queues/nothing/messages", "", 404},
	} {
		t.Run(tt.name, func(t *testing.T) { d.want(tt.want, tt.method, tt.path, tt.body) })
	}
}

func TestControlInvoke(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Echo", "echo", func(_ context.Context, m functions.QueueMessage) error {
		if m.Text() != "ok" {
			return errors.New("bad input " + m.Text())
		}
		return nil
	}, functions.FixedDelay(2, time.Hour))
	handlers.HTTP("Page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-A", "1")
		w.WriteHeader(201)
		fmt.Fprint(w, "made")
	})
	d := open(t, app(plainHostJSON), handlers, nil)
	const echo, page = "/admin/redeliver/functions/Echo/invoke", "/admin/redeliver/functions/page/invoke"

	if got := get[run.InvokeResult](d, 200, "POST", echo, "ok"); !got.Succeeded || got.Attempts != 1 {
		t.Errorf("result = %+v, want a success in 1 attempt", got)
	}
	got := get[run.InvokeResult](d, 200, "POST", echo, "no")
	if got.Succeeded || got.Attempts != 3 || !strings.Contains(got.Error, "bad input no") {
		t.Errorf("result = %+v, want a failure after 3 attempts", got)
	}
	made := get[run.InvokeResult](d, 200, "POST", page, "")
	if r := made.Response; r == nil || r.StatusCode != 201 || string(r.Body) != "made" || r.Header.Get("X-A") != "1" {
		t.Errorf("response = %+v, want 201 made", made.Response)
	}
	d.want(404, "POST", "/admin/redeliver/functions/nobody/invoke", "")
}

func TestControlJournal(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	got := d.want(200, "GET", "/admin/redeliver/journal", "")
	var want []string
	for _, r := range d.host.Journal().Records() {
		want = append(want, r.String())
	}
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", got.Body); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	since := d.want(200, "GET", "/admin/redeliver/journal?since=2", "")
	if diff := cmp.Diff(strings.Join(want[1:], "\n")+"\n", since.Body); diff != "" {
		t.Errorf("since=2 (-want +got):\n%s", diff)
	}
	d.want(400, "GET", "/admin/redeliver/journal?since=0", "")
	d.want(400, "GET", "/admin/redeliver/journal?since=x", "")
}

// A follower sees what comes, and its stream ends when the server closes.
func TestControlJournalFollow(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	from := d.host.Journal().Len() + 1
	resp, err := http.Get(fmt.Sprintf("%s/admin/redeliver/journal?since=%d&follow=true", d.web.URL(), from))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	d.host.Journal().Append(journal.Record{Kind: journal.FaultInjected, Name: "mine"})
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"name":"mine"`) {
		t.Fatalf("first line = %q (%v), want the record", lines.Text(), lines.Err())
	}
	if err := d.web.Close(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
}

func TestControlClock(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	before := get[run.ClockStatus](d, 200, "GET", "/admin/redeliver/clock", "")
	after := get[run.ClockStatus](d, 200, "POST", "/admin/redeliver/clock/advance?by=15m", "")
	if !after.Virtual || after.Now.Sub(before.Now) < 15*time.Minute || after.Now.Sub(before.Now) > 16*time.Minute {
		t.Errorf("advance by 15m went from %v to %v", before.Now, after.Now)
	}
	if after.VirtualElapsedMS < 15*60*1000 {
		t.Errorf("virtual elapsed = %d ms", after.VirtualElapsedMS)
	}
	for _, by := range []string{"", "x", "0s", "-1m", "9000h"} {
		d.want(400, "POST", "/admin/redeliver/clock/advance?by="+by, "")
	}
}

// A clock that stands still goes from one retry to the next, and on by itself when it is
// let go.
func TestControlClockModes(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return errors.New("no") }, functions.FixedDelay(2, time.Hour))
	d := open(t, app(plainHostJSON), handlers, nil)
	const clockPath = "/admin/redeliver/clock"
	d.want(200, "PUT", clockPath+"?mode=manual", "")
	d.want(201, "POST", "/admin/redeliver/queues/orders/messages", "x")
	d.wait(journal.RetryScheduled, "Orders")
	before := get[run.ClockStatus](d, 200, "GET", clockPath, "")
	if before.Mode != clock.Manual || len(before.Due) == 0 || before.Due[0].At.Sub(before.Now) != time.Hour {
		t.Errorf("the clock is %+v, want manual, and the retry in an hour", before)
	}
	after := get[run.ClockStatus](d, 200, "POST", clockPath+"/next", "")
	if got := after.Now.Sub(before.Now); got != time.Hour {
		t.Errorf("next moved time by %v, want an hour", got)
	}
	if got := get[run.ClockStatus](d, 200, "GET", clockPath, ""); !got.Now.Equal(after.Now) {
		t.Errorf("time went on from %v to %v by itself", after.Now, got.Now)
	}
	d.want(200, "PUT", clockPath+"?mode=auto", "")
	d.wait(journal.RetriesExhausted, "Orders")
	for _, query := range []string{"", "?mode=", "?mode=fast"} {
		d.want(400, "PUT", clockPath+query, "")
	}
}

// The owner of the server can refuse a mode.
func TestControlClockRefused(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, &web.Options{Pace: func(p clock.Pace) error { return fmt.Errorf("no %s here", p) }})
	if got := get[ops.Error](d, 409, "PUT", "/admin/redeliver/clock?mode=manual", ""); got.Text != "no manual here" {
		t.Errorf("refused with %q", got.Text)
	}
	if got := get[run.ClockStatus](d, 200, "GET", "/admin/redeliver/clock", ""); got.Mode != clock.Auto {
		t.Errorf("the mode is %q, want auto", got.Mode)
	}
}

func TestControlStatus(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", nothing, functions.FixedDelay(4, time.Second))
	d := open(t, app(plainHostJSON), handlers, nil)
	got := get[run.Status](d, 200, "GET", "/admin/redeliver/status", "")
	if !got.Ready || got.App != d.dir || got.Version != "v1.2.3" || got.PID == 0 || got.Generation != 1 {
		t.Errorf("status = %+v", got)
	}
	if got.Report == nil || len(got.Report.Functions) != 1 || got.Report.Functions[0].Total != 25 {
		t.Errorf("report = %+v, want Orders with 25 attempts", got.Report)
	}
}

func TestControlReload(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	d.write("host.json", `{"version":"2.0","retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:00:01"}}`)
	if got := get[run.Reloaded](d, 200, "POST", "/admin/redeliver/reload", ""); got.Generation != 2 {
		t.Errorf("generation after a reload = %d, want 2", got.Generation)
	}
	d.write("host.json", `{"version":`)
	refused := get[ops.Error](d, 409, "POST", "/admin/redeliver/reload", "")
	if !strings.Contains(refused.Text, "host.json") || refused.Hint == "" {
		t.Errorf("refusal = %+v, want the fault of host.json and a hint", refused)
	}
	if d.host.Generation() != 2 {
		t.Error("a refused reload changed the generation")
	}
	d.write("host.json", `{"version":"2.0","extensions":{"queues":{"batchSize":"x","maxDequeueCount":"y"}}}`)
	get[ops.Error](d, 409, "POST", "/admin/redeliver/reload", "")
	var got []string
	for _, g := range get[run.App](d, 200, "GET", "/admin/redeliver/app", "").Generations {
		if g.Refused {
			_, key, _ := strings.Cut(g.Reason, "extensions.queues.")
			key, _, _ = strings.Cut(key, ":")
			got = append(got, fmt.Sprintf("%s %d/%d", key, g.Fault, g.Faults))
		}
	}
	if want := []string{" 0/0", "batchSize 1/2", "maxDequeueCount 2/2"}; !slices.Equal(got, want) {
		t.Errorf("refused edits %q, want %q", got, want)
	}
}

func TestControlStop(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	d := open(t, app(plainHostJSON), nil, &web.Options{Stop: func() { close(stopped) }})
	d.want(202, "POST", "/admin/redeliver/stop", "")
	<-stopped
	t.Run("not offered", func(t *testing.T) {
		t.Parallel()
		d := open(t, app(plainHostJSON), nil, nil)
		d.want(404, "POST", "/admin/redeliver/stop", "")
	})
}

// The host describes its control API to whoever asks, as the file in schemas does.
func TestControlDescription(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	if got := d.want(200, "GET", prefix+"/openapi.json", ""); got.Body != string(schemas.ControlAPI()) || !strings.HasPrefix(got.Body, `{`) {
		t.Errorf("description = %.200s", got.Body)
	}
}
