package dotnettest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// The limits of the ASP.NET Core integration: how long a request waits for its
// invocation, and an invocation for its request (spec workers-dotnet-java 1.10).
const (
	requestPatience    = 5 * time.Second
	invocationPatience = 15 * time.Second
)

// meeting is where a request and its invocation find each other.
type meeting struct {
	request    chan *http.Request
	invocation chan http.Handler // answers the request
	answered   chan struct{}
}

func (w *worker) meetingOf(id string) *meeting {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.meetings[id] == nil {
		w.meetings[id] = &meeting{make(chan *http.Request, 1), make(chan http.Handler, 1), make(chan struct{})}
	}
	return w.meetings[id]
}

// serve opens the HTTP server of an app with the integration, and returns its address.
func (w *worker) serve() string {
	return httptest.NewServer(w).URL
}

// ServeHTTP is one forwarded request.
func (w *worker) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("x-ms-invocation-id")
	switch {
	case id == "":
		http.Error(rw, "Expected correlation id header ('x-ms-invocation-id') not present", http.StatusInternalServerError)
		return
	case !w.routed(r):
		http.NotFound(rw, r)
		return
	}
	m := w.meetingOf(id)
	m.request <- r
	select {
	case answer := <-m.invocation:
		answer.ServeHTTP(rw, r)
		close(m.answered)
	case <-time.After(requestPatience):
		http.Error(rw, "the invocation has not come", http.StatusInternalServerError)
	}
}

// routed reports whether a function of the app has the path and the method: the worker
// has routes of its own, made of the bindings and the host.json beside the assembly.
func (w *worker) routed(r *http.Request) bool {
	var host struct {
		Extensions struct {
			HTTP struct{ RoutePrefix *string }
		}
	}
	if text, err := os.ReadFile(filepath.Join(w.root, "host.json")); err == nil {
		check(json.Unmarshal(text, &host))
	}
	prefix := "api"
	if p := host.Extensions.HTTP.RoutePrefix; p != nil {
		prefix = *p
	}
	for _, f := range w.functions.GetFunctionMetadataResults() {
		for _, raw := range f.GetRawBindings() {
			var b struct {
				Route   string
				Methods []string // of triggers only
			}
			check(json.Unmarshal([]byte(raw), &b))
			if !strings.EqualFold(strings.Trim(prefix+"/"+b.Route, "/"), strings.Trim(r.URL.Path, "/")) {
				continue
			}
			for _, method := range b.Methods {
				if strings.EqualFold(method, r.Method) {
					return true
				}
			}
		}
	}
	return false
}

// await is the request of an invocation, and what takes the answer to it; nil when none
// comes.
func (w *worker) await(id string) (r *http.Request, answer func(http.Handler)) {
	m := w.meetingOf(id)
	select {
	case r := <-m.request:
		return r, func(h http.Handler) {
			m.invocation <- h
			<-m.answered
		}
	case <-time.After(invocationPatience):
		return nil, nil
	}
}

// runHTTP is the body of a function with the integration: an IActionResult, or an
// exception.
func (w *worker) runHTTP(r *workerpb.InvocationRequest, m *workerpb.RpcFunctionMetadata, out *workerpb.InvocationResponse) {
	if h := r.GetInputData()[0].GetData().GetHttp(); h == nil || h.GetMethod() != "" || h.GetUrl() != "" || h.GetBody() != nil || len(h.GetNullableHeaders()) > 0 {
		out.Result = failure("System.InvalidOperationException", "the request stands in the message too")
		return
	}
	req, answer := w.await(r.GetInvocationId())
	if req == nil {
		out.Result = failure("System.TimeoutException", "Timed out waiting for the HTTP context of the function "+m.GetName())
		return
	}
	out.Result = success()
	answer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		var in input
		body, err := io.ReadAll(req.Body)
		check(err)
		_ = json.Unmarshal(body, &in) // another text asks for nothing
		if in.Fail || req.URL.Query().Has("fail") {
			out.Result = failure("System.InvalidOperationException", "no such order")
			return // 200 with nothing in it, as the pipeline of the real worker ends
		}
		rw.Header().Set("X-Served-By", "Kestrel")
		rw.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(rw, "order %s by ASP.NET Core at %s?%s for %s\n", in.ID, req.URL.Path, req.URL.RawQuery, strings.Join(req.Header.Values("X-Order"), "+"))
	}))
}
