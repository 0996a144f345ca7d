package invokertest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

func testDeclarations(b *bench) {
	got, err := b.inv.Functions(context.Background())
	if err != nil {
		b.Errorf("Functions: %v", err)
	}
	if diff := cmp.Diff(App().Declarations(), got); diff != "" {
		b.Errorf("Functions (-want +got):\n%s", diff)
	}
}

func testRoundTrip(b *bench) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	req := &call.Request{
		InvocationID: "inv-7", Function: "eCHO", // names ignore case
		Inputs:        []call.Input{{Name: "item", Value: bindings.JSONValue([]byte(`{"id":7}`))}, {Name: "more", Value: bindings.Value{}}},
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
	if resp.Status != call.Failed || !e.Panic || e.Message != "oh no" || !strings.Contains(e.Stack, "invokertest") {
		b.Errorf("got status %v, panic %v, message %q, stack %d bytes", resp.Status, e.Panic, e.Message, len(e.Stack))
	}
	if len(resp.Outputs) > 0 {
		b.Errorf("outputs of a failed attempt left the handler: %v", resp.Outputs)
	}
	b.lives()
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

func testLogFields(b *bench) {
	_, logs := b.invoke(context.Background(), request("Log", "2"))
	if len(logs) != 2 {
		b.Errorf("got %d lines, want 2", len(logs))
		return
	}
	want := []call.Field{{Key: "i", Value: "1"}, {Key: "g.x", Value: "1s"}}
	if diff := cmp.Diff(want, logs[1].Fields); diff != "" {
		b.Errorf("fields of a group (-want +got):\n%s", diff)
	}
}
