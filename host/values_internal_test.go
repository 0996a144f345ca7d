package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/retrycontext"
)

// Attempts 1 to 8 wait 1, 2, 4, ..., 120 s, and so does every later one
// (spec host-and-retry 1.4; host: Utility.cs ComputeBackoff).
func TestStartBackoff(t *testing.T) {
	t.Parallel()
	want := []int{1, 2, 4, 8, 16, 32, 64, 120, 120, 120}
	var got []int
	for attempt := 1; attempt <= len(want); attempt++ {
		got = append(got, int(startBackoff(attempt)/time.Second))
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("waits in seconds (-got +want):\n%s", diff)
	}
	if d := startBackoff(1 << 30); d != 2*time.Minute {
		t.Errorf("startBackoff of a late attempt = %v", d)
	}
}

// A failure in the retry context of the next attempt (spec host-and-retry 3.2).
func TestExceptionOf(t *testing.T) {
	t.Parallel()
	inner := errors.New("connection refused")
	for _, tt := range []struct {
		name   string
		err    error
		typ    string
		source string
		stack  string
		has    []string
		hasNot string
	}{
		{
			name: "handler",
			err:  functions.NewError("Orders", "id-1", &call.Error{Type: "*shop.PaymentError", Message: "*shop.PaymentError: payment failed: *net.OpError: refused", Stack: "main.go:7"}),
			typ:  "*shop.PaymentError", source: "Functions.Orders", stack: "main.go:7",
			has: []string{"exception while executing function Functions.Orders", "*shop.PaymentError", "payment failed", "*net.OpError", "refused"},
		},
		{
			name: "timeout, unwrapped",
			err:  &TimeoutError{Function: "Orders", Limit: 90 * time.Second},
			typ:  "FunctionTimeoutException", source: "Functions.Orders",
			has: []string{"FunctionTimeoutException", "00:01:30", `"Orders"`}, hasNot: "exception while executing",
		},
		{
			name: "output", err: &invocationError{function: "Orders", err: fmt.Errorf("output binding %q: %w", "out", inner)},
			typ: "FunctionInvocationException", source: "Functions.Orders", has: []string{`function "Orders"`, `output binding "out"`, "connection refused"}, hasNot: "*",
		},
		{name: "plain", err: inner, typ: "FunctionInvocationException", has: []string{"connection refused"}, hasNot: "*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := exceptionOf(tt.err)
			if tt.typ != "" && x.Type != tt.typ {
				t.Errorf("type %q, want %q", x.Type, tt.typ)
			}
			if x.Source != tt.source || x.StackTrace != tt.stack {
				t.Errorf("source %q, stack %q; want %q and %q", x.Source, x.StackTrace, tt.source, tt.stack)
			}
			for _, part := range tt.has {
				if !strings.Contains(x.Message, part) {
					t.Errorf("message %q does not contain %q", x.Message, part)
				}
			}
			if tt.hasNot != "" && strings.Contains(x.Message, tt.hasNot) {
				t.Errorf("message %q contains %q", x.Message, tt.hasNot)
			}
		})
	}
	var timeout interface{ Timeout() bool }
	if !errors.As(error(&TimeoutError{}), &timeout) || !timeout.Timeout() {
		t.Error("a TimeoutError is no time-out in the sense of package net")
	}
	if err := (&invocationError{function: "f", err: inner}); !errors.Is(err, inner) {
		t.Error("an invocation error hides its cause")
	}
	if class := retrycontext.NewException(inner); class.Message == "" {
		t.Error("an exception has no message")
	}
}

// stubOutput is an output binding of that name.
type stubOutput string

func (o stubOutput) binding() *app.Binding { return &app.Binding{Name: string(o)} }
func (o stubOutput) write(context.Context, *delivery, bindings.Value) error {
	return errors.New("not written in this test")
}

// The values of a handler, assigned to its bindings (spec workers 6.3).
func TestOutputValues(t *testing.T) {
	t.Parallel()
	text := func(s string) *bindings.Value { v := bindings.StringValue(s); return &v }
	object := func(s string) *bindings.Value { v := bindings.JSONValue([]byte(s)); return &v }
	for _, tt := range []struct {
		name    string
		outputs []output
		set     map[string]bindings.Value
		ret     *bindings.Value
		want    map[string]string
		fault   string
	}{
		{name: "nothing set", outputs: []output{stubOutput("out")}, want: map[string]string{}},
		{name: "by name", outputs: []output{stubOutput("out")}, set: map[string]bindings.Value{"out": *text("x")}, want: map[string]string{"out": "x"}},
		{name: "unknown name", outputs: []output{stubOutput("out")}, set: map[string]bindings.Value{"nope": *text("x"), "also": *text("y")}, fault: `"also" "nope"`},
		{name: "return value to $return", outputs: []output{stubOutput("$return")}, ret: text("x"), want: map[string]string{"$return": "x"}},
		{name: "object to $return, whole", outputs: []output{stubOutput("$return"), stubOutput("out")}, ret: object(`{"out":1}`), want: map[string]string{"$return": `{"out":1}`}},
		{name: "object is spread without $return", outputs: []output{stubOutput("a"), stubOutput("b")}, ret: object(`{"a":1,"c":3}`), want: map[string]string{"a": "1"}},
		{name: "list is ignored without $return", outputs: []output{stubOutput("a")}, ret: object(`["a"]`), want: map[string]string{}},
		{name: "text is ignored without $return", outputs: []output{stubOutput("a")}, ret: text(`{"a":1}`), want: map[string]string{}},
		{name: "spread wins over set by name", outputs: []output{stubOutput("a"), stubOutput("b")}, set: map[string]bindings.Value{"a": *text("set"), "b": *text("set")}, ret: object(`{"a":"spread"}`), want: map[string]string{"a": `"spread"`, "b": "set"}},
		{name: "null is spread too", outputs: []output{stubOutput("a")}, set: map[string]bindings.Value{"a": *text("set")}, ret: object(`{"a":null}`), want: map[string]string{}},
		{name: "names are exact", outputs: []output{stubOutput("a")}, set: map[string]bindings.Value{"a": *text("set")}, ret: object(`{"A":1}`), want: map[string]string{"a": "set"}},
		{name: "return value wins over an output $return", outputs: []output{stubOutput("$return"), stubOutput("a")}, set: map[string]bindings.Value{"$return": *text("set"), "a": *text("set")}, ret: text("x"), want: map[string]string{"$return": "x", "a": "set"}},
		{name: "null return", outputs: []output{stubOutput("$return")}, ret: &bindings.Value{}, want: map[string]string{}},
		{name: "no return wins over an output $return", outputs: []output{stubOutput("$return")}, set: map[string]bindings.Value{"$return": *text("set")}, want: map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			values, err := outputValues(tt.outputs, &call.Response{Outputs: tt.set, Return: tt.ret})
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("outputValues: %v, want a fault with %s", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, out := range tt.outputs {
				if v := values.of(out.binding().Name); !v.IsNull() {
					got[out.binding().Name] = v.Text
				}
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("values (-got +want):\n%s", diff)
			}
		})
	}
}

// Trigger metadata travel in the platform's JSON: times with at most seven digits, a DateTime
// with Z and a DateTimeOffset with its offset, an address in quotes; a member "sys" of a
// payload is one like others (host: ScriptInvocationContextExtensions.cs; observed, 4.1037).
func TestMetadataValues(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_123, time.UTC)
	got := metadataValues(map[string]any{
		"EnqueuedTimeUtc": at, "InsertionTime": bindings.DateTimeOffset{Time: at}, "Never": bindings.DateTimeOffset{Time: time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC)},
		"Whole": bindings.DateTimeOffset{Time: at.Truncate(time.Second)}, "Uri": bindings.URI("http://h/c/a%20b?x=1&y=<>"), "sys": "5", "DequeueCount": int64(1), "Id": "7", "None": nil,
	})
	text := map[string]string{}
	for name, v := range got {
		text[name] = fmt.Sprint(v.Kind, " ", v.Text)
	}
	want := map[string]string{
		"EnqueuedTimeUtc": `2 "2026-01-02T03:04:05.6789001"`, "InsertionTime": `2 "2026-01-02T03:04:05.6789001+00:00"`, "Never": `2 "9999-12-31T23:59:59.9999999+00:00"`,
		"Whole": `2 "2026-01-02T03:04:05+00:00"`, "Uri": `2 "http://h/c/a%20b?x=1&y=<>"`, "sys": "1 5", "DequeueCount": "2 1", "Id": "1 7",
	}
	if diff := cmp.Diff(text, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
