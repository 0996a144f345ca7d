package functions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// link is a host that remembers what it was told and sleeps at once.
type link struct {
	mu    sync.Mutex
	logs  []call.Log
	slept time.Duration
}

func (l *link) Log(line call.Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logs = append(l.logs, line)
}

func (l *link) Sleep(ctx context.Context, d time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slept += d
	return ctx.Err()
}

func httpValue(method, url string, header http.Header, params map[string]string, body string) []call.Input {
	return []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
		Method: method, URL: url, Header: header, Params: params, Body: []byte(body),
	}}}}
}

func TestHTTPRequest(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("orders", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s id=%s q=%s host=%s h=%s len=%d uri=%s body=%s err=%v",
			r.Method, r.URL.Path, r.PathValue("id"), r.URL.Query().Get("q"), r.Host,
			r.Header.Values("X-Multi"), r.ContentLength, r.RequestURI, body, err)
	})
	resp := app.Call(context.Background(), &call.Request{Function: "orders", Outputs: []string{"$return"},
		Inputs: httpValue("PUT", "http://localhost:7071/api/orders/7?q=a%20b", http.Header{"x-multi": {"1", "2"}, "host": {"shop.example"}},
			map[string]string{"id": "7"}, "hello")}, &link{})
	if resp.Status != call.Succeeded {
		t.Fatalf("failed: %+v", resp.Error)
	}
	got := resp.Return.HTTPResponse
	want := "PUT /api/orders/7 id=7 q=a b host=shop.example h=[1 2] len=5 uri=/api/orders/7?q=a%20b body=hello err=<nil>"
	if string(got.Body) != want || got.StatusCode != 200 {
		t.Errorf("got %d %q\nwant %q", got.StatusCode, got.Body, want)
	}
	if ct := got.Header.Get("Content-Type"); ct != "text/plain; charset=utf-8" {
		t.Errorf("content type %q", ct)
	}
}

func TestHTTPAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    *bindings.HTTPResponse
	}{
		{"nothing written", func(http.ResponseWriter, *http.Request) {}, &bindings.HTTPResponse{StatusCode: 200, Header: http.Header{}}},
		{"500 is an answer", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, &bindings.HTTPResponse{StatusCode: 500, Header: http.Header{}}},
		{"first status counts", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(103)
			w.WriteHeader(202)
			w.WriteHeader(404)
		},
			&bindings.HTTPResponse{StatusCode: 202, Header: http.Header{}}},
		{"late header is lost", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("A", "1")
			w.WriteHeader(201)
			w.Header().Set("B", "2")
		}, &bindings.HTTPResponse{StatusCode: 201, Header: http.Header{"A": {"1"}}}},
		{"no body with 204", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
				panic(err)
			}
		}, &bindings.HTTPResponse{StatusCode: 204, Header: http.Header{}}},
		{"content type kept", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{}"))
		}, &bindings.HTTPResponse{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("{}")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.HTTP("f", tt.handler)
			resp := app.Call(context.Background(), &call.Request{Function: "F", Inputs: httpValue("GET", "http://h/", nil, nil, "")}, &link{})
			if resp.Return == nil {
				t.Fatalf("no answer: %+v", resp.Error)
			}
			if diff := cmp.Diff(tt.want, resp.Return.HTTPResponse); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTPOutputName(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("f", func(w http.ResponseWriter, r *http.Request) {
		if err := functions.SetOutput(r.Context(), "queue", "m"); err != nil {
			panic(err)
		}
	})
	for _, tt := range []struct {
		outputs []string
		output  string
		want    string // "" for $return
	}{
		{[]string{"queue", "$return"}, "", ""},
		{[]string{"queue", "res"}, "", "res"},
		{[]string{"queue", "answer"}, "answer", "answer"},
		{[]string{"queue"}, "", ""},
	} {
		resp := app.Call(context.Background(), &call.Request{Function: "f", Outputs: tt.outputs, HTTPOutput: tt.output,
			Inputs: httpValue("GET", "http://h/", nil, nil, "")}, &link{})
		if resp.Outputs["queue"].Text != "m" {
			t.Errorf("%v: queue output %+v", tt.outputs, resp.Outputs)
		}
		if got := resp.Return != nil; got != (tt.want == "") {
			t.Errorf("%v: return value %v", tt.outputs, resp.Return)
		}
		if tt.want != "" && resp.Outputs[tt.want].Kind != bindings.Response {
			t.Errorf("%v: outputs %+v, want the answer in %q", tt.outputs, resp.Outputs, tt.want)
		}
	}
}

func TestHTTPFail(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("f", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		functions.Fail(r.Context(), functions.RetryNow(errors.New("first")))
		functions.Fail(r.Context(), errors.New("second"))
	})
	resp := app.Call(context.Background(), &call.Request{Function: "f", Inputs: httpValue("GET", "http://h/", nil, nil, "")}, &link{})
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, "first") ||
		resp.Error.Declared.Kind != retrycontext.KindRetryNow || resp.Return != nil {
		t.Errorf("got %+v, error %+v; want the first failure and no answer", resp, resp.Error)
	}
}

func TestSetOutput(t *testing.T) {
	t.Parallel()
	type order struct{ ID int }
	tests := []struct {
		name string
		v    any
		want bindings.Value
		err  string
	}{
		{"string", "x", bindings.StringValue("x"), ""},
		{"bytes", []byte{1}, bindings.BytesValue([]byte{1}), ""},
		{"nil", nil, bindings.Value{}, ""},
		{"raw", json.RawMessage(`{"a":1}`), bindings.JSONValue([]byte(`{"a":1}`)), ""},
		{"bad raw", json.RawMessage(`{`), bindings.Value{}, "not JSON"},
		{"struct", order{7}, bindings.JSONValue([]byte(`{"ID":7}`)), ""},
		{"several structs", []order{{1}, {2}}, bindings.JSONValue([]byte(`[{"ID":1},{"ID":2}]`)), ""},
		{"several strings", []string{"a", "[b"}, bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a"), bindings.StringValue("[b")}}, ""},
		{"several bytes", [][]byte{{1}}, bindings.Value{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{1})}}, ""},
		{"no JSON form", make(chan int), bindings.Value{}, "unsupported type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Handle("f", func(ctx context.Context, _ *functions.Trigger) error { return functions.SetOutput(ctx, "OUT", tt.v) })
			resp := app.Call(context.Background(), &call.Request{Function: "f", Outputs: []string{"out"}}, &link{})
			if tt.err != "" {
				if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, tt.err) {
					t.Errorf("got %+v, want an error with %q", resp.Error, tt.err)
				}
				return
			}
			if diff := cmp.Diff(map[string]bindings.Value{"out": tt.want}, resp.Outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnknownOutput(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("f", func(ctx context.Context, _ *functions.Trigger) error { return functions.SetOutput(ctx, "uot", "x") })
	resp := app.Call(context.Background(), &call.Request{Function: "f", Outputs: []string{"out", "other"}}, &link{})
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, `"uot"`) || !strings.Contains(resp.Error.Message, "out, other") {
		t.Errorf("got %+v, want a failure that names the output and the known ones", resp.Error)
	}
	if err := functions.SetOutput(context.Background(), "out", "x"); err == nil {
		t.Error("SetOutput outside an invocation succeeded")
	}
}

func TestAfterTheEnd(t *testing.T) {
	t.Parallel()
	var late context.Context
	app := functions.New()
	app.Handle("f", func(ctx context.Context, _ *functions.Trigger) error { late = ctx; return nil })
	l := &link{}
	app.Call(context.Background(), &call.Request{Function: "f", Outputs: []string{"out"}}, l)
	if err := functions.SetOutput(late, "out", "x"); err == nil {
		t.Error("SetOutput after the end succeeded")
	}
	if err := functions.Sleep(late, time.Hour); err == nil {
		t.Error("Sleep after the end succeeded")
	}
	functions.Logger(late).Info("late")
	if len(l.logs) != 0 {
		t.Errorf("lines after the end: %v", l.logs)
	}
}

func TestRetryContext(t *testing.T) {
	t.Parallel()
	var got *retrycontext.Context
	app := functions.New()
	app.Handle("f", func(ctx context.Context, _ *functions.Trigger) error { got = functions.Retry(ctx); return nil })
	app.Call(context.Background(), &call.Request{Function: "f"}, &link{})
	if got != nil {
		t.Errorf("without a policy: %+v, want nil", got)
	}
	want := &retrycontext.Context{RetryCount: 0, MaxRetryCount: 3}
	app.Call(context.Background(), &call.Request{Function: "f", Retry: want}, &link{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first attempt (-want +got):\n%s", diff)
	}
	if functions.Retry(context.Background()) != nil || functions.FromContext(context.Background()) != nil {
		t.Error("a context that is no handler's has an invocation")
	}
}

func TestQueueMessage(t *testing.T) {
	t.Parallel()
	var got functions.QueueMessage
	app := functions.New()
	app.Queue("f", "q", func(_ context.Context, m functions.QueueMessage) error { got = m; return nil })
	app.Call(context.Background(), &call.Request{Function: "f", DeliveryCount: 2,
		Inputs: []call.Input{{Name: "message", Value: bindings.BytesValue([]byte{0xff, 0})}},
		Metadata: map[string]bindings.Value{
			"Id": bindings.StringValue("m-1"), "PopReceipt": bindings.JSONValue([]byte(`"r"`)),
			"InsertionTime": bindings.JSONValue([]byte(`"2026-01-02T03:04:05+00:00"`)), "ExpirationTime": bindings.StringValue("soon"),
		}}, &link{})
	want := functions.QueueMessage{Body: []byte{0xff, 0}, ID: "m-1", PopReceipt: "r", DequeueCount: 2,
		InsertionTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

// Attempts in the host's process share what was read of the message, but no body.
func TestQueueMessageOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	var got []string
	app := functions.New()
	app.Queue("f", "q", func(_ context.Context, m functions.QueueMessage) error {
		got = append(got, m.ID+" "+m.Text()+" "+m.InsertionTime.Format(time.TimeOnly))
		m.Body[0] = 'X'
		return nil
	})
	request := call.Request{Function: "f", Decoded: new(any),
		Inputs: []call.Input{{Name: "message", Value: bindings.StringValue("body")}},
		Metadata: map[string]bindings.Value{
			"Id": bindings.StringValue("m-1"), "InsertionTime": bindings.StringValue("2026-01-02T03:04:05Z"),
		}}
	for range 2 {
		attempt := request
		app.Call(context.Background(), &attempt, &link{})
	}
	if want := []string{"m-1 body 03:04:05", "m-1 body 03:04:05"}; !slices.Equal(got, want) {
		t.Errorf("the attempts saw %q, want %q", got, want)
	}
}

func TestQueueJSON(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var got map[string]int
	functions.QueueJSON(app, "f", "q", func(_ context.Context, v map[string]int) error { got = v; return nil })
	in := func(s string) *call.Request {
		return &call.Request{Function: "f", Inputs: []call.Input{{Name: "message", Value: bindings.StringValue(s)}}}
	}
	if resp := app.Call(context.Background(), in(`{"a":1}`), &link{}); resp.Status != call.Succeeded || got["a"] != 1 {
		t.Errorf("got %v, %+v", got, resp.Error)
	}
	if resp := app.Call(context.Background(), in(`nonsense`), &link{}); resp.Status != call.Failed {
		t.Error("a message that is no JSON succeeded")
	}
}

func TestTimerInfo(t *testing.T) {
	t.Parallel()
	var got functions.TimerInfo
	app := functions.New()
	app.Timer("f", "0 * * * * *", func(_ context.Context, i functions.TimerInfo) error { got = i; return nil })
	for _, tt := range []struct {
		payload string
		want    functions.TimerInfo
	}{
		{`{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":false}`, functions.TimerInfo{Schedule: functions.TimerSchedule{AdjustForDST: true}}},
		{`{"Schedule":{"AdjustForDST":false},"ScheduleStatus":{"Last":"0001-01-01T00:00:00","Next":"2026-01-01T00:00:00Z","LastUpdated":"2026-01-01T00:00:00Z"},"IsPastDue":true}`,
			functions.TimerInfo{IsPastDue: true, ScheduleStatus: &functions.ScheduleStatus{
				Next: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), LastUpdated: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			}}},
	} {
		resp := app.Call(context.Background(), &call.Request{Function: "f",
			Inputs: []call.Input{{Name: "timer", Value: bindings.JSONValue([]byte(tt.payload))}}}, &link{})
		if resp.Status != call.Succeeded {
			t.Errorf("failed: %+v", resp.Error)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("timer info (-want +got):\n%s", diff)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, f := range map[string]func(error) error{
		"Permanent": functions.Permanent, "RetryNow": functions.RetryNow, "Poison": functions.Poison,
		"RetryAfter": func(err error) error { return functions.RetryAfter(err, time.Minute) },
		"DeadLetter": func(err error) error { return functions.DeadLetter("r", "d", err) },
	} {
		if err := f(nil); err != nil {
			t.Errorf("%s(nil) = %v, want nil", name, err)
		}
		err := fmt.Errorf("wrapped: %w", f(boom))
		if !errors.Is(err, boom) || err.Error() != "wrapped: boom" {
			t.Errorf("%s: %v does not look like its cause", name, err)
		}
		if _, ok := retrycontext.DeclaredOutcome(err); !ok {
			t.Errorf("%s: no declared outcome", name)
		}
	}
	s, ok := errors.AsType[*functions.Settlement](fmt.Errorf("wrapped: %w", functions.DeadLetter("r", "d", boom)))
	if !ok || s.Decision != functions.DeadLettered || s.Reason != "r" || s.Description != "d" {
		t.Errorf("settlement %+v", s)
	}
	// The innermost declaration wins, also over the declaration that Poison
	// implies.
	if d, _ := retrycontext.DeclaredOutcome(functions.Poison(functions.RetryNow(boom))); d.Kind != retrycontext.KindRetryNow {
		t.Errorf("Poison(RetryNow) declares %v", d.Kind)
	}
}

func TestNewError(t *testing.T) {
	t.Parallel()
	if err := functions.NewError("f", "i", nil); err != nil {
		t.Errorf("NewError of nil = %v", err)
	}
	in := &call.Error{Type: "t", Message: "m", Stack: "s", Panic: true,
		Declared: retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: time.Minute}}
	err := functions.NewError("f", "i", in)
	e, ok := errors.AsType[*functions.Error](err)
	if !ok || *e != (functions.Error{Function: "f", InvocationID: "i", Type: "t", Message: "m", Stack: "s", Panic: true}) {
		t.Errorf("error %+v", e)
	}
	if d, _ := retrycontext.DeclaredOutcome(err); d != in.Declared {
		t.Errorf("declared %v, want %v", d, in.Declared)
	}
}

func TestPanicWithError(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("f", func(context.Context, *functions.Trigger) error {
		panic(functions.Permanent(io.ErrUnexpectedEOF))
	})
	resp := app.Call(context.Background(), &call.Request{Function: "f"}, &link{})
	if !resp.Error.Panic || resp.Error.Declared.Kind != retrycontext.KindPermanent || !strings.Contains(resp.Error.Message, "unexpected EOF") {
		t.Errorf("error %+v", resp.Error)
	}
}

func TestLogHandler(t *testing.T) {
	t.Parallel()
	var next strings.Builder
	logger := slog.New(functions.LogHandler(slog.NewTextHandler(&next, nil)))
	l := &link{}
	app := functions.New()
	app.Handle("f", func(ctx context.Context, _ *functions.Trigger) error {
		logger.With("a", 1).WithGroup("g").DebugContext(ctx, "to the host", "b", 2, slog.Group("h", "c", 3))
		logger.Info("elsewhere")
		functions.Logger(ctx).Log(context.Background(), slog.LevelError+4, "bound")
		functions.Logger(ctx).Log(ctx, slog.LevelDebug-4, "trace")
		return nil
	})
	app.Call(context.Background(), &call.Request{Function: "f"}, l)
	want := []call.Log{
		{Level: call.Debug, Message: "to the host", Fields: []call.Field{{Key: "a", Value: "1"}, {Key: "g.b", Value: "2"}, {Key: "g.h.c", Value: "3"}}},
		{Level: call.Critical, Message: "bound"},
		{Level: call.Trace, Message: "trace"},
	}
	if diff := cmp.Diff(want, l.logs); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if !strings.Contains(next.String(), "elsewhere") || strings.Contains(next.String(), "to the host") {
		t.Errorf("the next handler got %q", next.String())
	}
}

func TestRegistrationPanics(t *testing.T) {
	t.Parallel()
	h := func(context.Context, *functions.Trigger) error { return nil }
	tests := map[string]func(*functions.App){
		"no name":     func(a *functions.App) { a.Handle("", h) },
		"nil handler": func(a *functions.App) { a.HTTP("x", nil) },
		"nil JSON":    func(a *functions.App) { functions.QueueJSON[int](a, "x", "q", nil) },
		"twice":       func(a *functions.App) { a.Handle("x", h); a.Handle("X", h) },
		"bad binding": func(a *functions.App) { a.Handle("x", h, functions.Binding("[]")) },
	}
	for name, register := range tests {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.HasPrefix(fmt.Sprint(v), "functions: ") {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			register(functions.New())
		}()
	}
}

func TestDeclarations(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("orders", func(http.ResponseWriter, *http.Request) {}, functions.Route("orders/{id?}"),
		functions.Methods("GET", "POST"), functions.AuthLevel(functions.AuthAnonymous),
		functions.QueueOutput("out", "orders", functions.Connection("X")))
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error { return nil },
		functions.FixedDelay(5, 10*time.Second), functions.Connection("X"), functions.Disabled())
	app.Timer("Cleanup", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return nil },
		functions.RunOnStartup(), functions.UseMonitor(false), functions.ExponentialBackoff(-1, 4*time.Second, 15*time.Minute))
	app.Handle("Raw", func(context.Context, *functions.Trigger) error { return nil }, functions.CircuitBreaker(3, 5*time.Minute, 1))
	got, err := json.MarshalIndent(app.Declarations(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	fixed, exp, five, forever := "fixedDelay", "exponentialBackoff", 5, -1
	ten, four, quarter := 10*time.Second, 4*time.Second, 15*time.Minute
	want, _ := json.MarshalIndent([]call.Declaration{
		{Name: "orders", Bindings: []json.RawMessage{
			json.RawMessage(`{"authLevel":"anonymous","direction":"in","methods":["GET","POST"],"name":"req","route":"orders/{id?}","type":"httpTrigger"}`),
			json.RawMessage(`{"direction":"out","name":"$return","type":"http"}`),
			json.RawMessage(`{"connection":"X","direction":"out","name":"out","queueName":"orders","type":"queue"}`),
		}},
		{Name: "ProcessOrder", Disabled: true, Bindings: []json.RawMessage{
			json.RawMessage(`{"connection":"X","dataType":"binary","direction":"in","name":"message","queueName":"orders","type":"queueTrigger"}`),
		}, Retry: &retrycontext.PolicyConfig{Strategy: &fixed, MaxRetryCount: &five, DelayInterval: &ten}},
		{Name: "Cleanup", Bindings: []json.RawMessage{
			json.RawMessage(`{"direction":"in","name":"timer","runOnStartup":true,"schedule":"0 */5 * * * *","type":"timerTrigger","useMonitor":false}`),
		}, Retry: &retrycontext.PolicyConfig{Strategy: &exp, MaxRetryCount: &forever, MinimumInterval: &four, MaximumInterval: &quarter}},
		{Name: "Raw", CircuitBreaker: &call.CircuitBreaker{Failures: 3, Pause: 5 * time.Minute, Probes: 1}},
	}, "", " ")
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("declarations (-want +got):\n%s", diff)
	}
}
