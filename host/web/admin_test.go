package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/journal"
)

// adminApp has a queue function with a function.json, an HTTP function, a
// disabled one and one in error.
func adminApp(t *testing.T) *fixture {
	t.Helper()
	handlers := functions.New()
	handlers.Queue("Orders", "orders", nothing)
	handlers.HTTP("Place", func(http.ResponseWriter, *http.Request) {}, functions.Route("Shop/{id}"), functions.Methods("POST"))
	handlers.Queue("Off", "off", nothing, functions.Disabled())
	handlers.Queue("Bad", "bad", nothing)
	return open(t, app(`{"version":"2.0","extensionBundle":{"id":"Microsoft.Azure.Functions.ExtensionBundle","version":"[4.*, 5.0.0)"}}`,
		"Orders/function.json", `{"bindings":[{"type":"queueTrigger","direction":"in","name":"m","queueName":"orders"}]}`,
		"Bad/function.json", `{"bindings":[{"type":"queueTrigger","direction":"in","name":"m","queueName":"bad"}],"retry":{"strategy":"fixedDelay","maxRetryCount":-4,"delayInterval":"00:00:01"}}`,
	), handlers, nil)
}

func TestAdminFunctions(t *testing.T) {
	t.Parallel()
	d := adminApp(t)
	list := get[[]map[string]any](d, 200, "GET", "/admin/functions", "")
	byName := map[string]map[string]any{}
	var names []string
	for _, f := range list {
		names = append(names, f["name"].(string))
		byName[f["name"].(string)] = f
	}
	if diff := cmp.Diff([]string{"Bad", "Off", "Orders", "Place"}, names); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}

	t.Run("object of a function.json", func(t *testing.T) {
		base := d.web.URL()
		want := map[string]any{
			"name":                  "Orders",
			"script_root_path_href": base + "/admin/vfs/Orders/",
			"script_href":           nil,
			"config_href":           base + "/admin/vfs/Orders/function.json",
			"test_data_href":        base + "/admin/vfs/data/functions/sampledata/Orders.dat",
			"href":                  base + "/admin/functions/Orders",
			"invoke_url_template":   nil,
			"language":              nil,
			"config": map[string]any{"bindings": []any{map[string]any{
				"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "orders",
			}}},
			"files": nil, "test_data": "", "isDisabled": false, "isDirect": false, "isProxy": false,
		}
		if diff := cmp.Diff(want, byName["Orders"]); diff != "" {
			t.Errorf("object (-want +got):\n%s", diff)
		}
	})
	t.Run("invoke url of HTTP in lower case", func(t *testing.T) {
		if got, want := byName["Place"]["invoke_url_template"], d.web.URL()+"/api/shop/{id}"; got != want {
			t.Errorf("invoke_url_template = %v, want %v", got, want)
		}
	})
	t.Run("disabled", func(t *testing.T) {
		if byName["Off"]["isDisabled"] != true {
			t.Errorf("isDisabled = %v, want true", byName["Off"]["isDisabled"])
		}
	})
	t.Run("one", func(t *testing.T) {
		got := get[map[string]any](d, 200, "GET", "/admin/functions/ORDERS", "")
		if diff := cmp.Diff(byName["Orders"], got); diff != "" {
			t.Errorf("object differs from the list's (-list +one):\n%s", diff)
		}
		d.want(404, "GET", "/admin/functions/nobody", "")
	})
	t.Run("status", func(t *testing.T) {
		if got := d.want(200, "GET", "/admin/functions/Orders/status", ""); got.Body != "{}" {
			t.Errorf("status of a good function = %s, want {}", got.Body)
		}
		bad := get[struct{ Errors []string }](d, 200, "GET", "/admin/functions/Bad/status", "")
		if len(bad.Errors) != 1 {
			t.Errorf("status of a bad function = %v, want its error", bad.Errors)
		}
		d.want(404, "GET", "/admin/functions/nobody/status", "")
	})
	t.Run("paths ignore case", func(t *testing.T) { d.want(200, "GET", "/Admin/Functions/Orders/STATUS", "") })
}

func TestAdminInvoke(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	inputs := make(chan string, 10)
	handlers := functions.New()
	handlers.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
		inputs <- m.Text()
		return nil
	})
	handlers.Queue("Off", "off", func(_ context.Context, m functions.QueueMessage) error {
		inputs <- "off " + m.Text()
		return nil
	}, functions.Disabled())
	handlers.Queue("Fails", "fails", func(context.Context, functions.QueueMessage) error {
		attempts.Add(1)
		return errors.New("boom")
	}, functions.FixedDelay(2, 0))
	d := open(t, app(plainHostJSON), handlers, nil)
	json := withHeader("Content-Type", "application/json")

	for _, tt := range []struct {
		name, path, body string
		status           int
		input            string
	}{
		{"input", "/admin/functions/Orders", `{"input":"hello"}`, 202, "hello"},
		{"empty input", "/admin/functions/orders", `{"input":""}`, 202, ""},
		{"absent input", "/admin/functions/Orders", `{}`, 202, ""},
		{"null input", "/admin/functions/Orders", `{"input":null}`, 202, ""},
		{"disabled function", "/admin/functions/Off", `{"input":"x"}`, 202, "off x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := d.request("POST", tt.path, tt.body, json)
			if got.Status != tt.status || got.Body != "" {
				t.Fatalf("answer = %d %q, want %d and nothing", got.Status, got.Body, tt.status)
			}
			if in := <-inputs; in != tt.input {
				t.Errorf("the function received %q, want %q", in, tt.input)
			}
		})
	}
	for _, tt := range []struct {
		name, path, body string
		status           int
	}{
		{"body missing", "/admin/functions/Orders", "", 400},
		{"body unreadable", "/admin/functions/Orders", "{", 400},
		{"body is no object", "/admin/functions/Orders", "[]", 400},
		{"body is null", "/admin/functions/Orders", "null", 400},
		{"input is an object", "/admin/functions/Orders", `{"input":{}}`, 400},
		{"unknown function", "/admin/functions/nobody", "{}", 404},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := d.request("POST", tt.path, tt.body, json); got.Status != tt.status {
				t.Errorf("answer = %d %q, want %d", got.Status, got.Body, tt.status)
			}
		})
	}
	t.Run("no JSON", func(t *testing.T) { d.want(415, "POST", "/admin/functions/Orders", `{"input":"x"}`) })
	t.Run("policy applies and nothing is poisoned", func(t *testing.T) {
		if got := d.request("POST", "/admin/functions/Fails", `{"input":"x"}`, json); got.Status != 202 {
			t.Fatalf("answer = %d %q, want 202", got.Status, got.Body)
		}
		d.wait(journal.Settled, "Fails")
		if n := attempts.Load(); n != 3 {
			t.Errorf("%d attempts, want 3", n)
		}
		for _, r := range d.host.Journal().Records() {
			if r.Function == "Fails" && r.DeliveryCount != 0 {
				t.Errorf("a call by hand has a delivery count: %s", r.String())
			}
			if r.Kind == journal.Enqueued {
				t.Errorf("a call by hand left a message: %s", r.String())
			}
		}
	})
	t.Run("host not ready", func(t *testing.T) {
		t.Parallel()
		d := prepare(t, app(plainHostJSON), nil, nil)
		d.listen()
		if got := d.request("POST", "/admin/functions/Orders", "{}", json); got.Status != 503 {
			t.Errorf("answer = %d %q, want 503", got.Status, got.Body)
		}
	})
}

func TestAdminHost(t *testing.T) {
	t.Parallel()
	d := adminApp(t)

	t.Run("status", func(t *testing.T) {
		got := get[map[string]any](d, 200, "GET", "/admin/host/status", "")
		for _, name := range []string{"id", "instanceId"} {
			if s, _ := got[name].(string); s == "" {
				t.Errorf("%s = %v, want a text", name, got[name])
			}
			delete(got, name)
		}
		if n, ok := got["processUptime"].(float64); !ok || n < 0 {
			t.Errorf("processUptime = %v, want milliseconds", got["processUptime"])
		}
		delete(got, "processUptime")
		delete(got, "computerName") // Windows has one
		want := map[string]any{
			"state": "Running", "version": "v1.2.3", "versionDetails": "v1.2.3",
			"functionAppContentEditingState": "Unknown", "platformVersion": "",
			"extensionBundle": map[string]any{"id": "Microsoft.Azure.Functions.ExtensionBundle", "version": "[4.*, 5.0.0)"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
	t.Run("ping", func(t *testing.T) {
		for _, method := range []string{"GET", "POST"} {
			if got := d.want(200, method, "/admin/host/ping", ""); got.Body != "" {
				t.Errorf("%s ping = %q, want nothing", method, got.Body)
			}
		}
	})
	t.Run("synctriggers", func(t *testing.T) {
		got := get[map[string]string](d, 200, "POST", "/admin/host/synctriggers", "")
		if diff := cmp.Diff(map[string]string{"status": "success"}, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	})
	t.Run("log", func(t *testing.T) {
		d.want(200, "POST", "/admin/host/log", `[{"level":"Warning","message":"hello","source":"x","functionName":"Orders"},{"level":4,"message":"y"}]`)
		d.want(400, "POST", "/admin/host/log", `{"level":4}`)
		d.want(400, "POST", "/admin/host/log", ``)
		d.want(400, "POST", "/admin/host/log", `null`)
	})
	t.Run("restart", func(t *testing.T) {
		before := d.host.Generation()
		got := get[map[string]any](d, 200, "POST", "/admin/host/restart", "")
		if diff := cmp.Diff(map[string]any{"isFileSystemReadOnly": false, "isScmRunFromPackage": false}, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if after := d.host.Generation(); after != before+1 {
			t.Errorf("generation %d after a restart of %d", after, before)
		}
	})
	t.Run("unknown", func(t *testing.T) { d.want(404, "GET", "/admin/host/nothing", "") })
}

func TestAdminDrain(t *testing.T) {
	t.Parallel()
	d := adminApp(t)
	type drain struct {
		State                                      string
		OutstandingInvocations, OutstandingRetries *int
	}
	status := func(want string) {
		t.Helper()
		got := get[drain](d, 200, "GET", "/admin/host/drain/status", "")
		if got.State != want || got.OutstandingInvocations == nil || got.OutstandingRetries == nil {
			t.Errorf("drain status = %+v, want state %s and both counts", got, want)
		}
	}
	status("Disabled")
	before := d.host.Generation()
	resumed := get[map[string]string](d, 200, "POST", "/admin/host/resume", "")
	if diff := cmp.Diff(map[string]string{"state": "Running"}, resumed); diff != "" {
		t.Errorf("resume (-want +got):\n%s", diff)
	}
	if d.host.Generation() != before {
		t.Error("resume without a drain restarted the host")
	}
	d.want(202, "POST", "/admin/host/drain", "")
	status("Completed")
	d.want(200, "POST", "/admin/host/resume", "")
	status("Disabled")
	if d.host.Generation() == before {
		t.Error("resume after a drain did not restart the host")
	}

	t.Run("not running", func(t *testing.T) {
		t.Parallel()
		d := prepare(t, app(plainHostJSON), nil, nil)
		d.listen()
		d.want(503, "GET", "/admin/host/drain/status", "")
		d.want(503, "POST", "/admin/host/drain", "")
		d.want(409, "POST", "/admin/host/resume", "")
	})
}

// Requests that a web page in a browser could make somebody's machine send.
func TestGuard(t *testing.T) {
	t.Parallel()
	d := adminApp(t)
	own := d.web.URL()
	hostOf := func(u string) string { return u[len("http://"):] }
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   int
	}{
		{"plain", nil, 200},
		{"loopback address", map[string]string{"Host": "127.0.0.1"}, 200},
		{"loopback of IPv6", map[string]string{"Host": "[::1]:7071"}, 200},
		{"a name below localhost", map[string]string{"Host": "shop.localhost:7071"}, 200},
		{"rebound name", map[string]string{"Host": "evil.example:7071"}, 403},
		{"a name that looks local", map[string]string{"Host": "localhost.evil.example"}, 403},
		{"another address", map[string]string{"Host": "192.0.2.1:7071"}, 403},
		{"own origin", map[string]string{"Host": hostOf(own), "Origin": own}, 200},
		{"foreign origin", map[string]string{"Origin": "https://evil.example"}, 403},
		{"origin of another port", map[string]string{"Origin": "http://localhost:3000"}, 403},
		{"opaque origin", map[string]string{"Origin": "null"}, 403},
		{"cross-site without an origin", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"another port without an origin", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"typed into the address bar", map[string]string{"Sec-Fetch-Site": "none"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/admin/host/status", "/admin/redeliver/status"} {
				got := d.request("GET", path, "", func(r *http.Request) {
					for name, value := range tt.header {
						withHeader(name, value)(r)
					}
				})
				if got.Status != tt.want {
					t.Errorf("%s = %d %s, want %d", path, got.Status, got.Body, tt.want)
				}
				if tt.want == 403 && !json.Valid([]byte(got.Body)) {
					t.Errorf("%s: body %q is not JSON", path, got.Body)
				}
			}
		})
	}
}
