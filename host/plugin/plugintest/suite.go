// Package plugintest holds the suite that every way of running handlers passes:
// in the host's process and in one of their own.
//
// [RunInvoker] is the suite, [App] the functions that it calls.
package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/retrycontext"
)

// Invoker is what the suite tests: host.Invoker.
type Invoker interface {
	Functions(ctx context.Context) ([]call.Declaration, error)
	Invoke(ctx context.Context, req *call.Request, log func(call.Log)) (*call.Response, error)
	Health(ctx context.Context) error
	Close(ctx context.Context) error
}

// Harness says what to test.
type Harness struct {
	// New returns a ready Invoker for [App]. It is called with the clock's baton;
	// the suite closes what it returns.
	New func(t *testing.T, clk clock.Clock) Invoker
	// Process is set when the handlers have a process of their own: one that can
	// die, and in which waiting for a context does not hold up the host.
	Process bool
}

// RunInvoker runs the suite, on the system's clock and on a virtual one.
func RunInvoker(t *testing.T, h Harness) {
	const impatient = 200 * time.Millisecond
	tests := []struct {
		name    string
		process bool
		run     func(*bench)
		// patience lets virtual time pass although a handler waits for real.
		patience time.Duration
	}{
		{"Functions", false, testFunctions, 0},
		{"Health", false, testHealth, 0},
		{"RoundTrip", false, testRoundTrip, 0},
		{"Values", false, testValues, 0},
		{"LargePayload", false, testLargePayload, 0},
		{"UnknownFunction", false, testUnknownFunction, 0},
		{"Error", false, testError, 0},
		{"DeclaredOutcomes", false, testDeclaredOutcomes, 0},
		{"Panic", false, testPanic, 0},
		{"LogOrder", false, testLogOrder, 0},
		{"Sleep", false, testSleep, 0},
		{"Timeout", false, testTimeout, 0},
		{"Cancel", false, testCancel, 0},
		{"Recall", false, testRecall, 0},
		{"GarbageOutputs", false, testGarbageOutputs, 0},
		{"Concurrent", false, testConcurrent, 0},
		{"ConcurrentLarge", false, testConcurrentLarge, 0},
		{"Flood", true, testFlood, 0},
		{"Crash", true, testCrash, 0},
		{"FatalGoroutine", true, testFatalGoroutine, 0},
		{"Goexit", true, testGoexit, 0},
		{"RealWaitCancelled", true, testRealWaitCancelled, impatient},
		{"RealWaitRecalled", true, testRealWaitRecalled, impatient},
		{"HangDisposedOf", true, testHangDisposedOf, impatient},
	}
	for _, c := range []string{"System", "Virtual"} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			for _, tt := range tests {
				if tt.process && !h.Process {
					continue
				}
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					b := &bench{T: t, long: time.Hour, short: 5 * time.Minute, patience: tt.patience}
					if c == "System" {
						b.clk, b.long, b.short = clock.System(), 50*time.Millisecond, 10*time.Millisecond
						if tt.name == "Timeout" || tt.name == "Cancel" || tt.name == "Recall" {
							b.long = time.Hour
						}
					} else {
						opts := &clock.VirtualOptions{Strict: true, Patience: tt.patience}
						b.virtual = clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), opts)
						b.clk = b.virtual
					}
					b.run(func() {
						b.inv = h.New(t, b.clk)
						if b.inv == nil {
							return
						}
						tt.run(b)
						if err := b.inv.Close(context.Background()); err != nil {
							t.Errorf("Close: %v", err)
						}
					})
				})
			}
		})
	}
}

// bench is one test of the suite.
type bench struct {
	*testing.T
	clk         clock.Clock
	virtual     *clock.Virtual // nil on System
	patience    time.Duration  // of virtual
	long, short time.Duration
	inv         Invoker
}

// run runs f in a goroutine of the clock and lets time pass until it is done.
func (b *bench) run(f func()) {
	g := clock.NewGroup(b.clk, 0)
	done := false
	switch {
	case b.virtual == nil:
		g.Go("test", func() { f(); done = true })
		g.Wait()
	case b.patience > 0: // the end cannot be told from a call that holds no time
		ended := make(chan struct{}) //clock:outside drives the clock from outside
		b.virtual.Auto()
		b.virtual.Inside("test", func() {
			g.Go("test", func() { defer close(ended); f(); done = true })
		})
		<-ended //clock:outside drives the clock from outside
		b.virtual.Close()
	default:
		b.virtual.Do("test", func() { g.Go("test", func() { f(); done = true }) })
		b.virtual.Run(24 * time.Hour)
		if !done {
			b.Errorf("the test did not end; waiting: %v", b.virtual.Waiting())
		}
	}
	if !done && !b.Failed() {
		b.Error("the test ended early")
	}
}

func request(function, text string) *call.Request {
	return &call.Request{
		InvocationID: "inv-1", Function: function,
		Inputs:  []call.Input{{Name: "in", Value: bindings.StringValue(text)}},
		Outputs: []string{"out"},
	}
}

// invoke makes a call that must not be an infrastructure failure.
func (b *bench) invoke(ctx context.Context, req *call.Request) (*call.Response, []call.Log) {
	b.Helper()
	var logs []call.Log
	resp, err := b.inv.Invoke(ctx, req, func(l call.Log) { logs = append(logs, l) })
	if err != nil {
		b.Errorf("Invoke %s: %v", req.Function, err)
		return &call.Response{Error: &call.Error{}}, logs
	}
	if resp.Status != call.Succeeded && resp.Error == nil {
		b.Errorf("Invoke %s: status %v without an error", req.Function, resp.Status)
		resp.Error = &call.Error{}
	}
	return resp, logs
}

// lives checks that handlers can be called.
func (b *bench) lives() {
	b.Helper()
	if resp, _ := b.invoke(context.Background(), request("Log", "1")); resp.Status != call.Succeeded {
		b.Errorf("a call afterwards failed: %v", resp.Error)
	}
}

func testFunctions(b *bench) {
	got, err := b.inv.Functions(context.Background())
	if err != nil {
		b.Errorf("Functions: %v", err)
	}
	if diff := cmp.Diff(App().Declarations(), got); diff != "" {
		b.Errorf("Functions (-want +got):\n%s", diff)
	}
}

func testHealth(b *bench) {
	if err := b.inv.Health(context.Background()); err != nil {
		b.Errorf("Health: %v", err)
	}
}

func testRoundTrip(b *bench) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	req := &call.Request{
		InvocationID: "inv-7", Function: "eCHO", // names ignore case
		Inputs:        []call.Input{{Name: "in", Value: bindings.JSONValue([]byte(`{"id":7}`))}, {Name: "more", Value: bindings.Value{}}},
		Metadata:      map[string]bindings.Value{"Key": bindings.JSONValue([]byte(`"value"`))},
		Outputs:       []string{"out", "seen", "$return"},
		Retry:         &retrycontext.Context{RetryCount: 2, MaxRetryCount: -1, Exception: &retrycontext.Exception{Message: "boom"}},
		DeliveryCount: 3,
		Now:           now, Deadline: now.Add(5 * time.Minute),
		TraceParent: "00-a-b-01", TraceState: "x=1",
	}
	resp, _ := b.invoke(context.Background(), req)
	ret := bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a"), bindings.StringValue("b")}}
	want := &call.Response{
		Status: call.Succeeded,
		Outputs: map[string]bindings.Value{
			"out":  bindings.JSONValue([]byte(`{"id":7}`)),
			"seen": bindings.StringValue("inv-7 eCHO 3 00-a-b-01 x=1 retry 2/-1 after boom in 5m0s value"),
		},
		Return: &ret,
	}
	if diff := cmp.Diff(want, resp); diff != "" {
		b.Errorf("response (-want +got):\n%s", diff)
	}
	req.Retry, req.Deadline = nil, time.Time{}
	resp, _ = b.invoke(context.Background(), req)
	if got, want := resp.Outputs["seen"].Text, "inv-7 eCHO 3 00-a-b-01 x=1 value"; got != want {
		b.Errorf("without a policy the handler saw %q, want %q", got, want)
	}
}

func testValues(b *bench) {
	values := []bindings.Value{
		{},
		bindings.StringValue(""),
		bindings.StringValue("grüße"),
		bindings.JSONValue([]byte(`[1,2]`)),
		bindings.BytesValue([]byte{0, 255, 10}),
		{Kind: bindings.Int, Int: math.MinInt64},
		{Kind: bindings.Double, Double: 0.1},
		{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("")}},
		{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{1})}},
		{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
			Method: "POST", URL: "http://localhost:7071/api/orders/7?x=1", Header: http.Header{"X-A": {"1", "\xff"}},
			Params: map[string]string{"id": "7"}, Body: []byte("body"),
		}},
		{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{
			StatusCode: 418, Header: http.Header{"X-B": {"2"}}, Body: []byte("tea"),
		}},
	}
	for _, v := range values {
		req := request("Echo", "")
		req.Inputs[0].Value = v
		req.Outputs = []string{"out", "seen", "$return"}
		resp, _ := b.invoke(context.Background(), req)
		if diff := cmp.Diff(v, resp.Outputs["out"]); diff != "" {
			b.Errorf("value of kind %d (-want +got):\n%s", v.Kind, diff)
		}
	}
}

func testLargePayload(b *bench) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	req := request("Echo", "")
	req.Inputs[0].Value = bindings.BytesValue(big)
	req.Outputs = []string{"out", "seen", "$return"}
	resp, _ := b.invoke(context.Background(), req)
	if !bytes.Equal(resp.Outputs["out"].Data, big) {
		b.Errorf("20 MiB came back as %d bytes, or changed", len(resp.Outputs["out"].Data))
	}
}

func testUnknownFunction(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Nobody", ""))
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, `"Nobody"`) {
		b.Errorf("got status %v, error %+v; want a failure that names the function", resp.Status, resp.Error)
	}
}

func testError(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Fail", "boom"))
	if resp.Status != call.Failed || resp.Error.Panic || resp.Error.Type == "" {
		b.Errorf("got status %v, error %+v; want a plain failure with a type", resp.Status, resp.Error)
	}
	for _, want := range []string{"outer: boom", "*errors.errorString", "*fmt.wrapError"} {
		if !strings.Contains(resp.Error.Message, want) {
			b.Errorf("message %q does not contain %q", resp.Error.Message, want)
		}
	}
	if resp.Error.Declared != (retrycontext.Declared{}) || resp.Asked != (call.Settlement{}) {
		b.Errorf("plain failure declares %v and asks for %v", resp.Error.Declared, resp.Asked)
	}
}

func testDeclaredOutcomes(b *bench) {
	permanent := retrycontext.Declared{Kind: retrycontext.KindPermanent}
	tests := []struct {
		declare string
		want    retrycontext.Declared
		asked   call.Settlement
	}{
		{"permanent", permanent, call.Settlement{}},
		{"now", retrycontext.Declared{Kind: retrycontext.KindRetryNow}, call.Settlement{}},
		{"after", retrycontext.Declared{Kind: retrycontext.KindRetryAfter, Delay: 90 * time.Second}, call.Settlement{}},
		{"poison", permanent, call.Settlement{Decision: "poisoned"}},
		{"deadletter", permanent, call.Settlement{Decision: "dead_lettered", Reason: "reason", Description: "description"}},
	}
	for _, tt := range tests {
		req := request("Fail", "boom")
		req.Metadata = map[string]bindings.Value{"declare": bindings.StringValue(tt.declare)}
		resp, _ := b.invoke(context.Background(), req)
		if resp.Error.Declared != tt.want || resp.Asked != tt.asked || !strings.Contains(resp.Error.Message, "outer: boom") {
			b.Errorf("%s: declared %v, asked %v, message %q", tt.declare, resp.Error.Declared, resp.Asked, resp.Error.Message)
		}
	}
}

func testPanic(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Panic", "oh no"))
	e := resp.Error
	if resp.Status != call.Failed || !e.Panic || e.Message != "oh no" || !strings.Contains(e.Stack, "plugintest") {
		b.Errorf("got status %v, panic %v, message %q, stack %d bytes", resp.Status, e.Panic, e.Message, len(e.Stack))
	}
	if len(resp.Outputs) > 0 {
		b.Errorf("outputs of a failed attempt left the handler: %v", resp.Outputs)
	}
	b.lives()
}

func testLogOrder(b *bench) {
	const n = 300
	resp, logs := b.invoke(context.Background(), request("Log", fmt.Sprint(n)))
	if resp.Status != call.Succeeded || len(logs) != n {
		b.Errorf("got status %v and %d lines, want %d", resp.Status, len(logs), n)
		return
	}
	for i, l := range logs {
		level := []call.Level{call.Information, call.Warning, call.ErrorLevel}[i%3]
		if l.Message != "line" || l.Level != level || l.Fields[0] != (call.Field{Key: "i", Value: fmt.Sprint(i)}) {
			b.Errorf("line %d is %+v", i, l)
			return
		}
	}
	want := []call.Field{{Key: "i", Value: "1"}, {Key: "g.x", Value: "1s"}}
	if diff := cmp.Diff(want, logs[1].Fields); diff != "" {
		b.Errorf("fields of a group (-want +got):\n%s", diff)
	}
}

func testSleep(b *bench) {
	begin := b.clk.Now()
	var at []time.Duration
	resp, err := b.inv.Invoke(context.Background(), request("Sleep", b.long.String()), func(call.Log) {
		at = append(at, b.clk.Now().Sub(begin))
	})
	if err != nil || resp.Status != call.Succeeded || len(at) != 2 {
		b.Errorf("Invoke: %+v, %v; lines at %v", resp, err, at)
		return
	}
	if at[1]-at[0] < b.long || (b.virtual != nil && at[1]-at[0] != b.long) {
		b.Errorf("slept %v, want %v", at[1]-at[0], b.long)
	}
}

func testTimeout(b *bench) {
	ctx, cancel := b.clk.WithTimeout(context.Background(), b.short)
	defer cancel()
	begin := b.clk.Now()
	resp, _ := b.invoke(ctx, request("Sleep", b.long.String()))
	if resp.Status != call.Cancelled || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		b.Errorf("got status %v, error %+v, context %v; want cancelled by the deadline", resp.Status, resp.Error, ctx.Err())
	}
	if took := b.clk.Now().Sub(begin); b.virtual != nil && took != b.short {
		b.Errorf("took %v, want %v", took, b.short)
	}
	b.lives()
}

func testCancel(b *bench) {
	ctx, cancel := b.clk.WithCancel(context.Background())
	defer cancel()
	resp, err := b.inv.Invoke(ctx, request("Sleep", b.long.String()), func(call.Log) {
		b.clk.AfterFunc(b.short, "cancel", cancel)
	})
	if err != nil || resp.Status != call.Cancelled {
		b.Errorf("got %+v, %v; want a cancelled attempt", resp, err)
	}
	b.lives()
}

// testRecall: the handler's context ends although the caller's does not.
func testRecall(b *bench) { recalled(b, request("Sleep", b.long.String())) }

func testRealWaitRecalled(b *bench) { recalled(b, request("Wait", "")) }

func recalled(b *bench, req *call.Request) {
	ended := 0
	req.OnRecall = func(end func()) func() {
		b.clk.AfterFunc(b.short, "recall", end)
		return func() { ended++ }
	}
	// A deadline lets virtual time pass while the handler waits, and ends a test that
	// fails.
	deadline := 3 * time.Hour
	if b.virtual == nil {
		deadline = 10 * time.Second
	}
	ctx, cancel := b.clk.WithTimeout(context.Background(), deadline)
	defer cancel()
	resp, _ := b.invoke(ctx, req)
	if resp.Status != call.Cancelled || ended != 1 {
		b.Errorf("got status %v, error %+v, %d ends; want cancelled, one end", resp.Status, resp.Error, ended)
	}
	if (b.virtual == nil || b.patience == 0) && ctx.Err() != nil { // with patience virtual time goes on while the handler ends
		b.Errorf("the caller's context ended: %v", ctx.Err())
	}
	b.lives()
}

func testGarbageOutputs(b *bench) {
	req := request("Odd", "")
	req.Outputs = []string{"text", "null", "json", "list", "kind"}
	resp, _ := b.invoke(context.Background(), req)
	if resp.Status != call.Succeeded {
		b.Errorf("got status %v, error %+v", resp.Status, resp.Error)
	}
	if got := resp.Outputs["list"].List; len(got) != 2 || got[1].Text != "x" {
		b.Errorf("list came back as %v", got)
	}
	b.lives()
}

func testConcurrent(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	for i := range 64 {
		g.Go("caller", func() {
			req := request("Echo", fmt.Sprint(i))
			req.Outputs = []string{"out", "seen", "$return"}
			if resp, _ := b.invoke(context.Background(), req); resp.Outputs["out"].Text != fmt.Sprint(i) {
				b.Errorf("call %d got %+v", i, resp.Outputs)
			}
		})
	}
	g.Wait()
}

// testConcurrentLarge: what is large does not get mixed up with anything else.
func testConcurrentLarge(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	for i := range 16 {
		size := 1 + i*37
		if i%4 == 0 {
			size = 3<<20 + i
		}
		g.Go("caller", func() {
			data := bytes.Repeat([]byte{byte(i), 0, byte(size)}, size/3)
			req := request("Echo", "")
			req.Inputs[0].Value = bindings.BytesValue(data)
			req.Outputs = []string{"out", "seen", "$return"}
			if resp, _ := b.invoke(context.Background(), req); !bytes.Equal(resp.Outputs["out"].Data, data) {
				b.Errorf("call %d: %d bytes came back as %d, or changed", i, len(data), len(resp.Outputs["out"].Data))
			}
		})
	}
	g.Wait()
}

// testFlood: a handler that logs faster than the host reads has to wait, and holds
// up no other call meanwhile.
func testFlood(b *bench) {
	const n = 1000
	asked, lines := 0, 0
	resp, err := b.inv.Invoke(context.Background(), request("Flood", fmt.Sprint(n)), func(l call.Log) {
		if got := l.Fields[0].Value; got != fmt.Sprint(lines) {
			b.Errorf("line %d has the number %s", lines, got)
		}
		if want := FloodLine; lines == n/2 && len(l.Message) != 200<<10 || lines != n/2 && len(l.Message) != want {
			b.Errorf("line %d has %d bytes", lines, len(l.Message))
		}
		lines++
		for lines == 1 && asked < 50 { // the host does not read on
			asked++
			resp, _ := b.invoke(context.Background(), request("Flooded", ""))
			ahead, err := strconv.Atoi(resp.Outputs["out"].Text)
			if err != nil || ahead*FloodLine > call.Window+FloodLine {
				b.Errorf("the handler is %d lines ahead, %v; want %d bytes at most", ahead, err, call.Window)
				return
			}
		}
	})
	if err != nil || resp.Status != call.Succeeded || lines != n {
		b.Errorf("got %+v, %v, and %d lines; want %d", resp, err, lines, n)
	}
}

func testCrash(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	for _, function := range []string{"Wait", "Wait", "Exit"} {
		g.Go(function, func() {
			resp, err := b.inv.Invoke(context.Background(), request(function, "3"), func(call.Log) {})
			if err == nil || !strings.Contains(err.Error(), "exit status 3") {
				b.Errorf("%s in a process that exits: %+v, %v; want an error with its status", function, resp, err)
			}
		})
	}
	g.Wait()
	b.lives()
	if err := b.inv.Health(context.Background()); err != nil {
		b.Errorf("Health after a restart: %v", err)
	}
}

func testFatalGoroutine(b *bench) {
	if resp, err := b.inv.Invoke(context.Background(), request("Fatal", ""), func(call.Log) {}); err == nil {
		b.Errorf("got %+v, want an error", resp)
	}
	b.lives()
}

func testGoexit(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Goexit", ""))
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Type, "Goexit") {
		b.Errorf("got status %v, error %+v", resp.Status, resp.Error)
	}
	b.lives()
}

func testRealWaitCancelled(b *bench) {
	ctx, cancel := b.clk.WithTimeout(context.Background(), b.short)
	defer cancel()
	resp, _ := b.invoke(ctx, request("Wait", ""))
	if resp.Status != call.Cancelled {
		b.Errorf("got status %v, error %+v; want cancelled", resp.Status, resp.Error)
	}
	b.lives()
}

func testHangDisposedOf(b *bench) {
	ctx, cancel := b.clk.WithTimeout(context.Background(), b.short)
	defer cancel()
	g := clock.NewGroup(b.clk, 0)
	g.Go("bystander", func() {
		if resp, err := b.inv.Invoke(context.Background(), request("Wait", ""), func(call.Log) {}); err == nil {
			b.Errorf("bystander got %+v, want the end of its process", resp)
		}
	})
	resp, err := b.inv.Invoke(ctx, request("Hang", ""), func(call.Log) {})
	if !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("got %+v, %v; want the context's error", resp, err)
	}
	g.Wait()
	b.lives()
}
