//clock:outside sockets, and a worker, which never sees the clock

package worker_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
)

// Requests and answers of an app with enableHttpStream are on their way while its function
// runs (spec workers 5, HttpUri).
func TestNodeStreams(t *testing.T) {
	t.Parallel()
	needModel4(t)
	a := startNode(t, map[string]string{
		"package.json": `{"main": "web.js"}`,
		"web.js": `const { app } = require("@azure/functions")
			app.setup({ enableHttpStream: true })
			const route = { route: "x/{id}", methods: ["POST"], authLevel: "anonymous", name: "req" }
			app.http("echo", { ...route, handler: async (req) => ({ status: 201, body: req.body, headers: { "x-id": req.params.id, "x-q": req.query.get("q"), "x-h": req.headers.get("x-h") }, cookies: [{ name: "a", value: "b c" }] }) })
			app.http("fail", { ...route, handler: async () => { throw new RangeError("boom") } })`,
	})
	list, err := a.w.Functions(context.Background())
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	a.loadDeclared(list)
	post := func(caller *live) func(*call.Request) {
		return func(r *call.Request) {
			r.HTTPOutput = "$return"
			r.Metadata = map[string]bindings.Value{"id": bindings.StringValue("7"), "Headers": bindings.JSONValue([]byte(`{"X-H":"h"}`))}
			httpRequest("POST", "http://localhost/api/x/7?q=1", "")(r)
			r.Inputs[0].Value.HTTP.Body, r.Inputs[0].Value.HTTP.Stream = nil, caller
		}
	}

	body, send := io.Pipe()
	caller := newLive(body)
	go func() { // the caller
		_, _ = io.WriteString(send, "first ")
		first := make([]byte, len("first "))
		if _, err := io.ReadFull(caller.got, first); err != nil || string(first) != "first " {
			t.Errorf("before the request has ended: %q, %v", first, err)
		}
		_, _ = io.WriteString(send, strings.Repeat("x", 8<<20))
		_ = send.Close()
		if n, err := io.Copy(io.Discard, caller.got); err != nil || n != 8<<20 {
			t.Errorf("then: %d bytes, %v", n, err)
		}
	}()
	resp, _ := a.invoke("echo", "", post(caller))
	if resp.Status != call.Succeeded || resp.Return != nil || caller.status != 201 || !caller.complete {
		t.Errorf("got %+v, %+v, status %d, complete %v", resp, resp.Error, caller.status, caller.complete)
	}
	if h := caller.header; h.Get("x-id") != "7" || h.Get("x-q") != "1" || h.Get("x-h") != "h" || h.Get("Set-Cookie") != "a=b%20c" {
		t.Errorf("headers %v", h)
	}

	resp, _ = a.invoke("echo", "", httpRequest("POST", "http://localhost/api/x/7", "whole"))
	if resp.Return == nil || resp.Return.Kind != bindings.Response || string(resp.Return.HTTPResponse.Body) != "whole" {
		t.Errorf("a request without a stream: %+v, %+v", resp.Return, resp.Error)
	}

	caller = newLive(strings.NewReader("x"))
	answer := caller.read()
	resp, _ = a.invoke("fail", "", post(caller))
	_ = caller.PipeWriter.Close()
	if resp.Status != call.Failed || resp.Error.Type != "RangeError" || answer() != "" {
		t.Errorf("a failure: %+v, %+v", resp, resp.Error)
	}
}
