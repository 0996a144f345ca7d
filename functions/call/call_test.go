package call_test

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// wire sends m through its encoding.
func wire[M proto.Message](t *testing.T, m, into M) M {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	if err := proto.Unmarshal(b, into); err != nil {
		t.Fatalf("unmarshal: %v", err)
	}
	return into
}

func TestRequestRoundTrip(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	tests := []struct {
		name string
		r    *call.Request
	}{
		{"zero", &call.Request{}},
		{"zero retry context is present", &call.Request{Retry: &retrycontext.Context{}}},
		{"full", &call.Request{
			InvocationID: "i", Function: "f",
			Inputs:   []call.Input{{Name: "a", Value: bindings.StringValue("x")}, {Name: "b"}},
			Metadata: map[string]bindings.Value{"DequeueCount": bindings.JSONValue(json.RawMessage("2"))},
			Outputs:  []string{"out", "$return"}, HTTPOutput: "$return",
			Retry: &retrycontext.Context{RetryCount: 1, MaxRetryCount: -1, Exception: &retrycontext.Exception{
				Type: "t", Message: "m", Source: "s", StackTrace: "st",
			}},
			DeliveryCount: 5, MessageID: "m1", Deadline: now.Add(time.Minute), Now: now, TraceParent: "tp", TraceState: "ts",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call.RequestFromProto(wire(t, call.RequestToProto(tt.r), &functionpb.Request{}))
			if err != nil {
				t.Fatalf("RequestFromProto: %v", err)
			}
			if diff := cmp.Diff(tt.r, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResponseRoundTrip(t *testing.T) {
	t.Parallel()
	ret := bindings.Value{}
	tests := []struct {
		name string
		r    *call.Response
	}{
		{"success", &call.Response{Status: call.Succeeded}},
		{"null return", &call.Response{Status: call.Succeeded, Return: &ret}},
		{"outputs", &call.Response{Status: call.Succeeded, Outputs: map[string]bindings.Value{"o": {Kind: bindings.Int, Int: -1}}}},
		{"failure", &call.Response{Error: &call.Error{Type: "t", Message: "m"}}},
		{"panic", &call.Response{Error: &call.Error{Message: "m", Stack: "s", Panic: true}}},
		{"permanent", &call.Response{Error: &call.Error{Declared: retrycontext.Declared{Kind: retrycontext.KindPermanent}}}},
		{"now", &call.Response{Error: &call.Error{Declared: retrycontext.Declared{Kind: retrycontext.KindRetryNow}}}},
		{"after", &call.Response{Error: &call.Error{Declared: retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: 49 * 24 * time.Hour}}}},
		{"cancelled", &call.Response{Status: call.Cancelled, Error: &call.Error{Message: "context canceled"}}},
		{"asked", &call.Response{Error: &call.Error{}, Asked: call.Settlement{Decision: "dead_lettered", Reason: "r", Description: "d"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := call.ResponseFromProto(wire(t, call.ResponseToProto(tt.r), &functionpb.Result{}))
			if err != nil {
				t.Fatalf("ResponseFromProto: %v", err)
			}
			if diff := cmp.Diff(tt.r, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// The zero result is a failure, so that a forgotten status never passes for
// success (spec workers 15, pitfall 9).
func TestZeroResultIsFailure(t *testing.T) {
	t.Parallel()
	got, err := call.ResponseFromProto(&functionpb.Result{})
	if err != nil || got.Status != call.Failed || got.Error == nil {
		t.Errorf("got %+v, %v; want a failure with an error", got, err)
	}
}

func TestDeclarationRoundTrip(t *testing.T) {
	t.Parallel()
	strategy, count, delay, zero := "fixedDelay", -1, 10*time.Second, time.Duration(0)
	for _, d := range []call.Declaration{
		{Name: "plain"},
		{Name: "full", Disabled: true, Bindings: []json.RawMessage{json.RawMessage(`{"type":"queueTrigger"}`)},
			Retry: &retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count, DelayInterval: &delay}},
		{Name: "zero is given", Retry: &retrycontext.PolicyConfig{MinimumInterval: &zero, MaximumInterval: &zero}},
		{Name: "incomplete", Retry: &retrycontext.PolicyConfig{}},
		{Name: "circuit breaker", CircuitBreaker: &call.CircuitBreaker{Failures: 3, Pause: 5 * time.Minute, Probes: 2}},
		{Name: "bad circuit breaker", CircuitBreaker: &call.CircuitBreaker{Failures: -1, Pause: -time.Second}},
	} {
		got, err := call.DeclarationFromProto(wire(t, call.DeclarationToProto(d), &functionpb.Declaration{}))
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Name, diff)
		}
	}
	for _, raw := range []string{"", "null", "[]", "{", `"x"`} {
		if d, err := call.DeclarationFromProto(&functionpb.Declaration{Name: "f", Bindings: []string{raw}}); err == nil {
			t.Errorf("binding %q was taken: %+v", raw, d)
		}
	}
}

func TestLogLevelsAreClamped(t *testing.T) {
	t.Parallel()
	for level, want := range map[int32]call.Level{-7: call.Trace, 2: call.Information, 5: call.Critical, 6: call.Critical, 99: call.Critical} {
		if got := call.LogFromProto(&functionpb.Log{Level: level}).Level; got != want {
			t.Errorf("level %d became %d, want %d", level, got, want)
		}
	}
}

// Any value can be sent, and Unicode text comes back unchanged.
func FuzzValueRoundTrip(f *testing.F) {
	for kind := range byte(12) {
		f.Add(kind, "text", []byte{0, 255}, int64(-1), 1.5, "X-Name", 200)
	}
	f.Add(byte(1), "a\xffb", []byte(nil), int64(math.MinInt64), math.Inf(1), "\xff", -1)
	f.Fuzz(func(t *testing.T, kind byte, text string, data []byte, i int64, d float64, name string, status int) {
		v := bindings.Value{Kind: bindings.ValueKind(kind)}
		want := v
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		switch v.Kind {
		case bindings.Null:
		case bindings.String, bindings.JSON:
			v.Text = text
			want.Text = valid(text)
		case bindings.Bytes:
			v.Data = data
			want.Data = data
		case bindings.Int:
			v.Int, want.Int = i, i
		case bindings.Double:
			v.Double, want.Double = d, d
		case bindings.Strings:
			v.List = []bindings.Value{bindings.StringValue(text)}
			want.List = []bindings.Value{bindings.StringValue(valid(text))}
		case bindings.BytesList:
			v.List = []bindings.Value{bindings.BytesValue(data)}
			want.List = v.List
		case bindings.Request:
			v.HTTP = &bindings.HTTPRequest{Method: text, URL: text, Header: http.Header{name: {text}}, Params: map[string]string{name: text}, Body: data}
			want.HTTP = &bindings.HTTPRequest{Method: valid(text), URL: valid(text), Header: http.Header{valid(name): {text}}, Params: map[string]string{valid(name): valid(text)}, Body: data}
		case bindings.Response:
			v.HTTPResponse = &bindings.HTTPResponse{StatusCode: int(int32(status)), Header: http.Header{name: {text}}, Body: data}
			want.HTTPResponse = &bindings.HTTPResponse{StatusCode: int(int32(status)), Header: http.Header{valid(name): {text}}, Body: data}
		case bindings.Model:
			v.Model = &bindings.ModelData{Source: text, ContentType: bindings.ModelBytes, Content: data}
			want = bindings.BytesValue(data)
		case bindings.Models:
			v.List = []bindings.Value{{Kind: bindings.Model, Model: &bindings.ModelData{ContentType: bindings.ModelBytes, Content: data}}}
			want = bindings.Value{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue(data)}}
		default:
			want = bindings.Value{}
		}
		got, err := call.ValueFromProto(wire(t, call.ValueToProto(v), &functionpb.Value{}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) }),
			cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	})
}

// Bytes from outside never make the host panic.
func FuzzResultFromProto(f *testing.F) {
	b, _ := proto.Marshal(call.ResponseToProto(&call.Response{Error: &call.Error{Message: "m"}}))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var p functionpb.Result
		if proto.Unmarshal(b, &p) != nil {
			return
		}
		if r, err := call.ResponseFromProto(&p); err == nil && r.Status != call.Succeeded && r.Error == nil {
			t.Error("a failure without an error")
		}
	})
}
