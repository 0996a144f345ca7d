package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/web"
)

// settings is a local.settings.json with some values.
func settings(values map[string]string) string {
	text, _ := json.Marshal(map[string]any{"IsEncrypted": false, "Values": values}) // texts
	return string(text)
}

// What the platform answers at "/" when no function does (host: HomepageMiddleware.cs;
// observed of the platform's host 4.1037).
func TestHomePage(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		got := d.want(200, method, "/", "")
		if got.Header.Get("Content-Type") != "text/html" || strings.Contains(got.Body, "up and running") == (method == "HEAD") {
			t.Errorf("%s: %v %q", method, got.Header, got.Body)
		}
	}
	d.want(200, "GET", "/?a=b", "")
	for _, path := range []string{"//", "/x", "/api", "/api/"} {
		d.want(404, "GET", path, "")
	}
	for value, status := range map[string]int{"true": 204, "TRUE": 204, "1": 200, "false": 200} {
		files := app(plainHostJSON)
		files["local.settings.json"] = settings(map[string]string{"AzureWebJobsDisableHomepage": value})
		if got := open(t, files, nil, nil).want(status, "GET", "/", ""); status == 204 && got.Body+got.Header.Get("Content-Type") != "" {
			t.Errorf("disabled: %v %q", got.Header, got.Body)
		}
	}
	for _, route := range []string{"/", "{*rest}", "{id?}"} {
		handlers := functions.New()
		handlers.HTTP("Root", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "mine") }, functions.Route(route))
		own := open(t, app(`{"version":"2.0","extensions":{"http":{"routePrefix":""}}}`), handlers, nil)
		if got := own.want(200, "GET", "/", ""); got.Body != "mine" {
			t.Errorf("a function at %q: %q", route, got.Body)
		}
	}
}

// Headers of extensions.http.customHeaders are on every answer that does not have them
// (host: CustomHttpHeadersMiddleware.cs; observed of the platform's host 4.1037).
func TestCustomHeaders(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("Own", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-One", "mine") })
	handlers.HTTP("Fails", func(_ http.ResponseWriter, r *http.Request) { functions.Fail(r.Context(), fmt.Errorf("boom")) })
	files := app(`{"version":"2.0","extensions":{"http":{"customHeaders":{"x-one":"1","X-Content-Type-Options":"nosniff","X-Num":1.50,"X-Bool":true,"X-Null":null,"X-List":["p"],"X-Object":{"a":"b"},"X-Off":"file","Connection":"close","Content-Length":"3"}}}}`)
	files["local.settings.json"] = settings(map[string]string{
		"AzureFunctionsJobHost__extensions__http__customHeaders__X-Env": "env",
		"AzureFunctionsJobHost__extensions__http__customHeaders__X-Off": "env",
	})
	d := open(t, files, handlers, nil)
	for path, one := range map[string]string{"/api/Own": "mine", "/api/Fails": "1", "/api/nobody": "1", "/": "1", "/admin/host/ping": "1"} {
		got := d.request("GET", path, "")
		seen := map[string]string{}
		for name, values := range got.Header {
			if strings.HasPrefix(name, "X-") && name != web.VersionHeader {
				seen[name] = strings.Join(values, "|")
			}
		}
		want := map[string]string{"X-One": one, "X-Content-Type-Options": "nosniff", "X-Num": "1.5", "X-Bool": "True", "X-Null": "", "X-Env": "env", "X-Off": "env"}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if got := d.request("GET", "/", ""); !strings.Contains(got.Body, "up and running") {
		t.Errorf("a length of the app's headers cuts the answer: %q", got.Body)
	}
	if got := d.request("GET", "/admin/redeliver/identity", ""); got.Header.Get("X-One") != "" {
		t.Error("the control API has the app's headers")
	}
}

// The setting limits bodies to the byte (host: HttpRequestBodySizeMiddleware.cs); a text
// that is no number changes nothing.
func TestBodySizeSetting(t *testing.T) {
	t.Parallel()
	for value, status := range map[string]int{"10": 413, "11": 200, "0": 413, "ten": 200, "": 200} {
		handlers := functions.New()
		handlers.HTTP("F", func(http.ResponseWriter, *http.Request) {})
		files := app(plainHostJSON)
		files["local.settings.json"] = settings(map[string]string{"FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": value})
		d := open(t, files, handlers, nil)
		d.want(status, "POST", "/api/F", "12345678901")
		d.want(404, "POST", "/api/nobody", "12345678901")
		d.want(200, "POST", "/", "12345678901")
	}
}

// The platform's warm-up call needs no key and takes any method (host:
// WebScriptHostHttpRoutesManager.cs; observed of the platform's host 4.1037).
func TestWarmUp(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, &web.Options{EnableAuth: true})
	for _, method := range []string{"GET", "HEAD", "POST"} {
		if got := d.want(200, method, "/admin/WarmUp", ""); got.Body != "" {
			t.Errorf("%s: %q", method, got.Body)
		}
	}
	d.want(404, "GET", "/admin/warmup/x", "")
}

// The first of the calls runs the function "warmup", with its retry policy, and is answered
// when it has ended, failed or not; no later one does (observed of the platform's host
// 4.1037).
func TestWarmUpFunction(t *testing.T) {
	t.Parallel()
	runs := 0
	handlers := functions.New()
	handlers.Handle("WarmUp", func(context.Context, *functions.Trigger) error {
		runs++
		return errors.New("cold")
	}, functions.Binding(`{"type":"warmupTrigger","name":"context"}`), functions.FixedDelay(1, time.Second))
	d := open(t, app(plainHostJSON), handlers, nil)
	for _, want := range []int{2, 2} {
		if got := d.want(200, "POST", "/admin/warmup", ""); got.Body != "" || runs != want {
			t.Errorf("%q after %d attempts, want %d", got.Body, runs, want)
		}
	}
}

// Health endpoints (spec drift-2026 C-15).
func TestHealth(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	for _, path := range []string{"/runtime/health", "/runtime/health/live", "/runtime/health/ready", "/Runtime/Health/", "/runtime/health?wait=5", "/runtime/health?wait=600"} {
		if got := d.want(200, "GET", path, ""); got.Body != `{"status":"Healthy"}` {
			t.Errorf("%s: %q", path, got.Body)
		}
	}
	for _, wait := range []string{"0", "-1", "x", "", "1.5"} {
		if got := d.want(400, "GET", "/runtime/health?wait="+wait, ""); got.Body != "'wait' query param must be a positive integer" {
			t.Errorf("wait=%s: %q", wait, got.Body)
		}
	}
	if got := d.want(200, "GET", "/runtime/health?expand=true", ""); !strings.Contains(got.Body, "azure.functions.script_host.lifecycle") {
		t.Errorf("expand: %q", got.Body)
	}
	d.want(404, "POST", "/runtime/health", "")
	d.want(404, "GET", "/runtime/health/other", "")

	early := prepare(t, app(plainHostJSON), nil, nil)
	early.listen()
	if got := early.want(503, "GET", "/runtime/health/ready", ""); got.Body != `{"status":"Unhealthy"}` {
		t.Errorf("before the start: %q", got.Body)
	}
	begun := time.Now()
	early.want(503, "GET", "/runtime/health/ready?wait=1", "")
	if took := time.Since(begun); took < time.Second {
		t.Errorf("a caller that waits a second was answered after %v", took)
	}
	early.want(200, "GET", "/runtime/health/live", "")
	done := make(chan answer)
	go func() { done <- early.request("GET", "/runtime/health/ready?wait=60", "") }()
	if err := early.host.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.Status != 200 {
		t.Errorf("a caller that waits: %d %s", got.Status, got.Body)
	}

	guarded := open(t, app(plainHostJSON), nil, &web.Options{EnableAuth: true})
	guarded.want(401, "GET", "/runtime/health", "")
	guarded.key = web.MasterKey(web.KeysFile(guarded.dir))
	guarded.want(200, "GET", "/runtime/health", "")
}

// A disabled function keeps its place: no other answers for it (host:
// FunctionInvocationMiddleware.cs).
func TestDisabledKeepsItsRoute(t *testing.T) {
	t.Parallel()
	handlers := functions.New()
	handlers.HTTP("A", func(http.ResponseWriter, *http.Request) {}, functions.Route("x/{id}"), functions.Disabled())
	handlers.HTTP("B", func(http.ResponseWriter, *http.Request) {}, functions.Route("x/y"))
	d := open(t, app(plainHostJSON), handlers, nil)
	d.want(404, "GET", "/api/x/y", "")
}

// What a function returns is the answer where no output is, also when the value goes to an
// output of another kind (observed of the platform's host 4.1037).
func TestReturnedValueAnswers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, output string
		returned     any
		status       int
		kind, body   string
	}{
		{"text to a queue", "$return", "hello", 200, "text/plain; charset=utf-8", "hello"},
		{"object to a queue", "$return", map[string]int{"a": 1}, 200, "application/json; charset=utf-8", `{"a":1}`},
		{"null to a queue", "$return", nil, 204, "", ""},
		{"nothing", "out", nil, 204, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			handlers := functions.New()
			handlers.Handle("Ask", func(ctx context.Context, _ *functions.Trigger) error {
				if row.returned == nil {
					return nil
				}
				return functions.SetReturn(ctx, row.returned)
			}, functions.Binding(`{"type":"httpTrigger","name":"req","direction":"in","authLevel":"anonymous"}`),
				functions.Binding(`{"type":"queue","direction":"out","name":"`+row.output+`","queueName":"told"}`))
			d := open(t, app(plainHostJSON), handlers, nil)
			got := d.want(row.status, "POST", "/api/Ask", "")
			if got.Header.Get("Content-Type") != row.kind || got.Body != row.body {
				t.Errorf("got %v %q", got.Header, got.Body)
			}
		})
	}
}
