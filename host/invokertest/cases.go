package invokertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/retrycontext"
)

func testHealth(b *bench) {
	if err := b.inv.Health(context.Background()); err != nil {
		b.Errorf("Health: %v", err)
	}
}

// testFunctions: what is declared in code is told, and nothing else.
func testFunctions(b *bench) {
	list, err := b.inv.Functions(context.Background())
	if err != nil {
		b.Errorf("Functions: %v", err)
	}
	for _, name := range Names() {
		declared := slices.ContainsFunc(list, func(d call.Declaration) bool { return d.Name == name })
		if want := b.h.Language == nil || b.h.Language.Declares; declared != want {
			b.Errorf("%s is declared: %v, want %v", name, declared, want)
		}
	}
}

// testContext: a function knows its invocation, its trace and each retry from 0 to the
// last with the failure before; without a policy it knows that too.
func testContext(b *bench) {
	seen := func(rc *retrycontext.Context) string {
		req := request("Seen", "x")
		req.InvocationID, req.Retry = "inv-7", rc
		req.Metadata = map[string]bindings.Value{"Id": bindings.StringValue("message-1")}
		req.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		resp, _ := b.invoke(context.Background(), req)
		trace := req.TraceParent
		if l := b.h.Language; l != nil && l.NoTrace {
			trace = ""
		}
		got, ok := strings.CutPrefix(resp.Outputs["out"].Text, "inv-7 Seen message-1 "+trace)
		if !ok {
			b.Errorf("with retry context %+v the function saw %q, %+v", rc, resp.Outputs["out"].Text, resp.Error)
		}
		return got
	}
	want := ""
	if b.h.Language != nil {
		want = b.h.Language.NoPolicy
	}
	if got := seen(nil); got != want {
		b.Errorf("without a policy it saw %q, want %q", got, want)
	}
	for _, limit := range []int{4, -1} {
		for i := range 5 {
			rc, want := &retrycontext.Context{RetryCount: i, MaxRetryCount: limit}, fmt.Sprintf(" retry %d/%d", i, limit)
			if i > 0 {
				rc.Exception = &retrycontext.Exception{Type: "Error", Message: fmt.Sprint("failure ", i), StackTrace: "here"}
				want += fmt.Sprint(" after failure ", i)
			}
			if got := seen(rc); got != want {
				b.Errorf("it saw %q, want %q", got, want)
			}
		}
	}
}

// testValues: a value of each type comes in and goes out.
func testValues(b *bench) {
	values := []bindings.Value{
		{},
		bindings.StringValue(""),
		bindings.StringValue("grüße"),
		bindings.JSONValue([]byte(`[1,2]`)),
		bindings.JSONValue([]byte(`{"id":7}`)),
		bindings.BytesValue([]byte{0, 255, 10}),
		bindings.JSONValue([]byte(`-2147483648`)),
		bindings.JSONValue([]byte(`0.1`)),
		{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("a"), bindings.StringValue("b")}},
		{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{1})}},
	}
	if b.h.Language == nil {
		values = append(values,
			bindings.Value{Kind: bindings.Int, Int: math.MinInt64},
			bindings.Value{Kind: bindings.Double, Double: 0.1},
			bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue("")}},
			bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
				Method: "POST", URL: "http://localhost:7071/api/orders/7?x=1", Header: http.Header{"X-A": {"1", "\xff"}},
				Params: map[string]string{"id": "7"}, Body: []byte("body"),
			}},
			bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{
				StatusCode: 418, Header: http.Header{"X-B": {"2"}}, Body: []byte("tea"),
			}})
	}
	for _, v := range values {
		want := v
		if b.h.Language != nil {
			var ok bool
			if want, ok = b.h.Language.Carried(v); !ok {
				continue
			}
		}
		if diff := cmp.Diff(want, b.echo(v)); diff != "" {
			b.Errorf("value of kind %d (-want +got):\n%s", v.Kind, diff)
		}
	}
}

// echo is what Echo gives back of a value.
func (b *bench) echo(v bindings.Value) bindings.Value {
	b.Helper()
	resp, _ := b.invoke(context.Background(), b.echoing("inv", v))
	if resp.Error != nil {
		b.Errorf("Echo of a value of kind %d: %+v", v.Kind, resp.Error)
	}
	return resp.Outputs["out"]
}

// echoing asks for a value back.
func (b *bench) echoing(id string, v bindings.Value) *call.Request {
	name := "Echo"
	if l := b.h.Language; l != nil && l.Echoes != nil {
		name = l.Echoes(v)
	}
	req := request(name, "")
	req.InvocationID, req.Inputs[0].Value = id, v
	req.Outputs = []string{"out", "seen", "$return"}
	return req
}

func testLargePayload(b *bench) {
	size := 20 << 20
	if b.h.Language != nil { // interpreters take their time; what 4 MiB hold back is seen
		size = 5 << 20
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	if got := b.echo(bindings.BytesValue(big)); !bytes.Equal(got.Data, big) {
		b.Errorf("%d bytes came back as %d, or changed", size, len(got.Data))
	}
}

func testUnknownFunction(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Nobody", ""))
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, "Nobody") {
		b.Errorf("got status %v, error %+v; want a failure that names the function", resp.Status, resp.Error)
	}
}

// testFailure: a failure comes with its text, its type and its stack, and without
// outputs.
func testFailure(b *bench) {
	resp, _ := b.invoke(context.Background(), request("Fail", "boom"))
	if resp.Status != call.Failed || !strings.Contains(resp.Error.Message, "boom") || len(resp.Outputs) > 0 {
		b.Errorf("got status %v, error %+v, outputs %v; want a failure that says boom", resp.Status, resp.Error, resp.Outputs)
	}
	if l := b.h.Language; l != nil && (resp.Error.Type != l.ErrorType || !strings.Contains(resp.Error.Stack, l.Stack)) {
		b.Errorf("got type %q and stack %q; want %q, and %q in the stack", resp.Error.Type, resp.Error.Stack, l.ErrorType, l.Stack)
	}
	b.lives()
}

func testLogOrder(b *bench) {
	const n = 300
	levels := [3]call.Level{call.Information, call.Warning, call.ErrorLevel}
	if b.h.Language != nil {
		levels = b.h.Language.Levels
	}
	resp, logs := b.invoke(context.Background(), request("Log", fmt.Sprint(n)))
	logs = slices.DeleteFunc(logs, func(l call.Log) bool {
		return b.h.Language != nil && b.h.Language.Chatter != "" && strings.Contains(l.Message, b.h.Language.Chatter)
	})
	if resp.Status != call.Succeeded || len(logs) != n {
		b.Errorf("got status %v and %d lines, want %d", resp.Status, len(logs), n)
		return
	}
	for i, l := range logs {
		text := l.Message
		if len(l.Fields) > 0 {
			text += " " + l.Fields[0].Value
		}
		if text != fmt.Sprint("line ", i) || l.Level != levels[i%3] {
			b.Errorf("line %d is %+v", i, l)
			return
		}
	}
}

// testOddOutputs: an output that cannot be carried harms no other call.
func testOddOutputs(b *bench) {
	req := request("Odd", "x")
	if resp, err := b.inv.Invoke(context.Background(), req, func(call.Log) {}); err == nil && resp.Status == call.Cancelled {
		b.Errorf("got %+v", resp)
	}
	b.lives()
}

func testConcurrent(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	for i := range 64 {
		g.Go("caller", func() {
			req := b.echoing(fmt.Sprint("inv-", i), bindings.StringValue(fmt.Sprint("call ", i)))
			if resp, _ := b.invoke(context.Background(), req); resp.Outputs["out"].Text != fmt.Sprint("call ", i) {
				b.Errorf("call %d got %+v", i, resp.Outputs)
			}
		})
	}
	g.Wait()
}

// testConcurrentLarge: what is large does not get mixed up with anything else.
func testConcurrentLarge(b *bench) {
	large := 3 << 20
	if b.h.Language != nil {
		large = 300 << 10
	}
	g := clock.NewGroup(b.clk, 0)
	for i := range 16 {
		size := 1 + i*37
		if i%4 == 0 {
			size = large + i
		}
		g.Go("caller", func() {
			data := bytes.Repeat([]byte{byte(i), 0, byte(size)}, 1+size/3)
			req := b.echoing(fmt.Sprint("inv-", i), bindings.BytesValue(data))
			if resp, _ := b.invoke(context.Background(), req); !bytes.Equal(resp.Outputs["out"].Data, data) {
				b.Errorf("call %d: %d bytes came back as %d, or changed", i, len(data), len(resp.Outputs["out"].Data))
			}
		})
	}
	g.Wait()
}

// testNoise: what a process writes to its standard outputs, in any amount, is no answer.
func testNoise(b *bench) {
	if resp, _ := b.invoke(context.Background(), request("Noise", "1000")); resp.Status != call.Succeeded {
		b.Errorf("got status %v, error %+v", resp.Status, resp.Error)
	}
	b.lives()
}

// testCrash: a process that ends takes its calls along, and another one serves the next.
func testCrash(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	for i, function := range []string{"Wait", "Wait", "Exit"} {
		g.Go(function, func() {
			req := request(function, "3")
			req.InvocationID = fmt.Sprint("inv-", i)
			resp, err := b.inv.Invoke(context.Background(), req, func(call.Log) {})
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

// testTaken: who calls learns when the call is taken, once, and what comes back then is the
// handler's context.
func testTaken(b *bench) {
	for range 2 {
		taken := 0
		req := request("Nothing", "")
		req.OnTaken = func(ctx context.Context) context.Context { taken++; return ctx }
		if _, _ = b.invoke(context.Background(), req); taken != 1 {
			b.Errorf("taken %d times", taken)
		}
	}
}

// testWaitForProcess: the time in which no process runs is not the handler's, and of the
// calls that wait for one the call that ends it takes no other along.
func testWaitForProcess(b *bench) {
	if b.virtual == nil {
		return // it waits for seconds
	}
	exit := func() {
		req := request("Exit", "3")
		req.InvocationID = "inv-exit"
		if resp, err := b.inv.Invoke(context.Background(), req, func(call.Log) {}); err == nil {
			b.Errorf("got %+v, want the end of the process", resp)
		}
	}
	for range 4 { // from the third on there is a pause
		exit()
	}
	g := clock.NewGroup(b.clk, 0)
	g.Go("crash", exit)
	for i := range 3 {
		g.Go("bystander", func() {
			req := request("Log", "1")
			req.InvocationID = fmt.Sprint("inv-", i)
			begun, limited := b.clk.Now(), false
			req.OnTaken = func(ctx context.Context) context.Context {
				if limited = true; !b.clk.Now().After(begun) {
					b.Error("taken at once, want a pause before")
				}
				return ctx
			}
			_, err := b.inv.Invoke(context.Background(), req, func(call.Log) {})
			if !limited || err != nil && b.patience == 0 { // else time may pass while the process ends
				b.Errorf("call %d: %v; taken: %v", i, err, limited)
			}
		})
	}
	g.Wait()
}

// testFatal: what goes wrong where nobody waits for it ends the process.
func testFatal(b *bench) {
	if resp, err := b.inv.Invoke(context.Background(), request("Fatal", ""), func(call.Log) {}); err == nil {
		b.Errorf("got %+v, want an error", resp)
	}
	b.lives()
}

// testHangDisposedOf: a function that does not return loses its process when its time is
// over, with all other calls.
func testHangDisposedOf(b *bench) {
	g := clock.NewGroup(b.clk, 0)
	g.Go("bystander", func() {
		req := request("Wait", "")
		req.InvocationID = "inv-2"
		if resp, err := b.inv.Invoke(context.Background(), req, func(call.Log) {}); err == nil {
			b.Errorf("bystander got %+v, want the end of its process", resp)
		}
	})
	req := request("Hang", "")
	req.OnTaken = func(ctx context.Context) context.Context {
		ctx, cancel := b.clk.WithTimeout(ctx, b.short)
		b.Cleanup(cancel)
		return ctx
	}
	resp, err := b.inv.Invoke(context.Background(), req, func(call.Log) {})
	if !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("got %+v, %v; want the context's error", resp, err)
	}
	g.Wait()
	b.lives()
}

// testHangCancelled: the same when the host itself ends the attempt.
func testHangCancelled(b *bench) {
	ctx, cancel := b.clk.WithCancel(context.Background())
	defer cancel()
	g := clock.NewGroup(b.clk, 0)
	g.Go("cancel", func() {
		_ = b.clk.Sleep(context.Background(), b.short)
		cancel()
	})
	if resp, err := b.inv.Invoke(ctx, request("Hang", ""), func(call.Log) {}); !errors.Is(err, context.Canceled) {
		b.Errorf("got %+v, %v; want the context's error", resp, err)
	}
	g.Wait()
	b.lives()
}
