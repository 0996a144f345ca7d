package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
)

func TestControlState(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	path, queue := prefix+"/state", prefix+"/queues/kept/messages"
	d.want(201, "POST", queue, "one")
	saved := d.request("GET", path, "")
	if saved.Status != 200 || saved.Header.Get("Content-Type") != "application/octet-stream" || saved.Body == "" {
		t.Fatalf("GET answered %d, %v, %d bytes", saved.Status, saved.Header, len(saved.Body))
	}
	d.want(201, "POST", queue, "two")
	d.want(204, "DELETE", path, "")
	d.want(404, "GET", queue, "")

	if done := get[run.StateLoaded](d, 200, "PUT", path, saved.Body); done.MovedMS != 0 {
		t.Errorf("the clock was moved by %d ms", done.MovedMS)
	}
	if found := get[queues.Peeked](d, 200, "GET", queue, ""); found.Count != 1 || *found.Messages[0].Body != "one" {
		t.Errorf("after the load: %+v", found)
	}

	// A damaged or incomplete state changes nothing.
	for name, bad := range map[string]string{"empty": "", "text": "hello", "cut short": saved.Body[:len(saved.Body)-1]} {
		if refused := get[ops.Error](d, 400, "PUT", path, bad); !strings.Contains(refused.Text, "this is not a file of") {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	if found := get[queues.Peeked](d, 200, "GET", queue, ""); found.Count != 1 {
		t.Errorf("after the refusals: %+v", found)
	}

	// A state may be larger than what the other calls take.
	d.want(400, "PUT", path, strings.Repeat("x", 2<<20))

	// A page in a browser has no part in it.
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		a := d.request(method, path, saved.Body, func(r *http.Request) { r.Header.Set("Origin", "https://example.com") })
		if a.Status != http.StatusForbidden {
			t.Errorf("%s from another origin answered %d", method, a.Status)
		}
	}
}
