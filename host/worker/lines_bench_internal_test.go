package worker

import (
	"net/http"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// BenchmarkLine writes the call of an HTTP function as it travels to a shim, and beside that
// with all zeroes, as it did before.
func BenchmarkLine(b *testing.B) {
	can := capabilities{"RpcHttpBodyOnly": "true", "RawHttpBodyBytes": "true", "RpcHttpTriggerMetadataRemoved": "true", "TypedDataCollection": "true"}
	m := &message{RequestId: "request", Content: &workerpb.StreamingMessage_InvocationRequest{InvocationRequest: can.request(&call.Request{
		InvocationID: "0af76519-16cd-43dd-8448-eb211c80319c", TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		Inputs: []call.Input{{Name: "request", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
			Method: "POST", URL: "http://localhost:7071/api/Hello", Body: []byte("world"),
			Header: http.Header{"Host": {"localhost:7071"}, "Content-Type": {"text/plain"}, "Content-Length": {"5"}},
		}}}},
		Metadata: map[string]bindings.Value{
			"Headers": bindings.JSONValue([]byte(`{"Content-Length":"5","Content-Type":"text/plain","Host":"localhost:7071"}`)), "Query": bindings.JSONValue([]byte(`{}`)),
			"sys": bindings.JSONValue([]byte(`{"MethodName":"Hello","UtcNow":"2026-01-02T03:04:05Z","RandGuid":"0af76519-16cd-43dd-8448-eb211c80319c"}`)),
		},
	}, &loaded{id: "Hello"})}}
	for name, write := range map[string]func(*message) ([]byte, error){
		"line": lineOf, "zeroes": func(m *message) ([]byte, error) { return protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				line, err := write(m)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(line)))
			}
		})
	}
}
