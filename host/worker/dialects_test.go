//clock:outside real processes

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// dialect is what the official worker of a language can do, and which messages it takes
// (spec workers-dotnet-java 1.6, 2.2, 3).
type dialect struct {
	capabilities string
	terminate    bool
}

var dialects = map[string]dialect{ // read only
	"java":       {"RpcHttpBodyOnly WorkerStatus TypedDataCollection RpcHttpTriggerMetadataRemoved HandlesWorkerTerminateMessage HandlesWorkerWarmupMessage", true},
	"powershell": {"RpcHttpBodyOnly WorkerStatus", false},
}

// dialect is the one that the role names.
func (a *actor) dialect() (d dialect, ok bool) {
	for name, d := range dialects {
		if a.is(name) {
			return d, true
		}
	}
	return dialect{}, false
}

// takes ends the process at a message that the worker of the dialect does not know: in Java
// it ends the stream.
func (d dialect) takes(m *message) {
	switch m.GetContent().(type) {
	case *workerpb.StreamingMessage_WorkerInitRequest, *workerpb.StreamingMessage_FunctionLoadRequest,
		*workerpb.StreamingMessage_InvocationRequest, *workerpb.StreamingMessage_WorkerStatusRequest:
		return
	case *workerpb.StreamingMessage_WorkerTerminate:
		if d.terminate {
			return
		}
	}
	fmt.Printf("unknown %T\n", m.GetContent())
	os.Exit(9)
}

func (d dialect) able() map[string]string {
	out := map[string]string{}
	for name := range strings.FieldsSeq(d.capabilities) {
		out[name] = "true"
	}
	return out
}

// show is a value as it came.
func show(v *workerpb.TypedData) *workerpb.TypedData {
	text, err := protojson.Marshal(v)
	check(err)
	return &workerpb.TypedData{Data: &workerpb.TypedData_String_{String_: strings.ReplaceAll(string(text), " ", "")}}
}

// Workers that take few messages live from their start to their stop, with a call that is
// given up in between; what they are given is in the form of their capabilities: plain maps,
// bodies as text, and for a worker without collections batches as one JSON array (spec
// workers-dotnet-java 2.2, 3).
func TestDialects(t *testing.T) {
	t.Parallel()
	batch := bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue(`{"id":1}`), bindings.StringValue("b")}}
	request := bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
		Method: "POST", URL: "http://localhost/api/x?q=1", Header: http.Header{"X-A": {"1"}}, Params: map[string]string{"id": "7"}, Body: []byte("text"),
	}}
	const web = `{"http":{"method":"POST","url":"http://localhost/api/x?q=1","headers":{"x-a":"1"},"body":{"string":"text"},"params":{"id":"7"},"query":{"q":"1"},` +
		`"identities":[{"nameClaimType":{"value":"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"},"roleClaimType":{"value":"http://schemas.microsoft.com/ws/2008/06/identity/claims/role"}}]}}`
	for name, want := range map[string]map[string]string{
		"java":       {"batch": `{"collectionString":{"string":["{\"id\":1}","b"]}}`, "web": web},
		"powershell": {"batch": `{"json":"[\"{\\\"id\\\":1}\",\"b\"]"}`, "web": web},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			lines := map[*bench][]string{}
			onWith(t, name, 100*time.Millisecond, func(b *bench, s *worker.Spec) {
				s.Indexing, s.Language = false, name
				s.Output = func(l process.Line) {
					mu.Lock()
					defer mu.Unlock()
					lines[b] = append(lines[b], l.Text)
				}
				b.Cleanup(func() {
					want := "[]"
					if dialects[name].terminate {
						want = "[terminating]"
					}
					mu.Lock()
					defer mu.Unlock()
					if got := fmt.Sprint(lines[b]); got != want {
						b.Errorf("the worker says %s, want %s", got, want)
					}
				})
			}, func(b *bench) {
				if list, err := b.w.Functions(context.Background()); err != nil || len(list) > 0 || b.w.InCode() {
					b.Errorf("functions %v, %v", list, err)
				}
				list := functions()
				if _, err := b.w.Load(context.Background(), list); err != nil {
					b.Error(err)
				}
				if err := b.w.Health(context.Background()); err != nil {
					b.Error(err)
				}
				for kind, f := range map[string]struct {
					function string
					value    bindings.Value
				}{"batch": {"Show", batch}, "web": {"Show", request}} {
					resp, _, err := b.invoke(f.function, f.value, nil)
					if got := resp.Outputs["out"].Text; err != nil || got != want[kind] {
						b.Errorf("%s: got %s, %v; want %s", kind, got, err, want[kind])
					}
				}
				// A line outside a call has an ID that is none.
				if _, logs, err := b.invoke("Aside", bindings.Value{}, nil); err != nil || len(logs) > 0 {
					b.Errorf("%v, %v", logs, err)
				}
				b.mu.Lock()
				if said := strings.Join(b.said, ","); said != "beside the call" {
					b.Errorf("lines of no call: %q", said)
				}
				b.mu.Unlock()
				// An output that is not set is sent without data.
				if resp, _, err := b.invoke("Unset", bindings.Value{}, nil); err != nil || resp.Status != call.Succeeded || !resp.Outputs["out"].IsNull() {
					b.Errorf("%+v, %v", resp, err)
				}
				ctx, cancel := b.clk.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				req := &call.Request{InvocationID: "i", Function: "Hang", Inputs: []call.Input{{Name: "in"}}}
				if _, err := b.w.Invoke(ctx, req, func(call.Log) {}); !errors.Is(err, context.DeadlineExceeded) {
					b.Errorf("a call that is given up: %v", err)
				}
				if _, _, err := b.invoke("PID", bindings.Value{}, nil); err != nil {
					b.Error(err)
				}
			})
		})
	}
}
