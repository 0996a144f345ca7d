package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
)

// dotnetApp is a built app of .NET, and a worker of it that is no .NET (package
// dotnettest): there is none where these tests run.
type dotnetApp struct {
	bench
	root    string
	notices []string
}

// onDotnet runs a test with the app of testdata/dotnet, on both clocks. change edits
// what the worker does and how it is started.
func onDotnet(t *testing.T, change func(root string, s *worker.Spec), test func(a *dotnetApp)) {
	t.Helper()
	onClocks(t, "", time.Millisecond, func(t *testing.T, clk clock.Clock) {
		a := &dotnetApp{bench: bench{T: t, clk: clk}, root: t.TempDir()}
		if err := os.CopyFS(a.root, os.DirFS("testdata/dotnet")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.root, "App.dll"), []byte("// first\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := worker.Spec{
			Language: languages.Dotnet, App: a.root, Directory: a.root, Indexing: true,
			Metadata: filepath.Join(a.root, "functions.metadata"),
			Notice:   func(l call.Log) { a.notices = append(a.notices, l.Message) },
			Log:      func(l call.Log) { t.Errorf("a line of no call: %+v", l) },
			Spec: process.Spec{
				Path: os.Args[0], Args: []string{filepath.Join(a.root, "App.dll")}, Dir: a.root, Grace: time.Millisecond, StopGrace: 5 * time.Second,
				Env: append(os.Environ(), roleVariable+"=dotnet", "GORACE=atexit_sleep_ms=0", "FUNCTIONS_APPLICATION_DIRECTORY="+a.root),
			},
		}
		if change != nil {
			change(a.root, &s)
		}
		a.live(s, func() { test(a) })
	})
}

// script changes worker.json.
func script(root string, change func(s map[string]any)) {
	path := filepath.Join(root, "worker.json")
	raw, err := os.ReadFile(path)
	check(err)
	s := map[string]any{}
	check(json.Unmarshal(raw, &s))
	change(s)
	raw, err = json.Marshal(s)
	check(err)
	check(os.WriteFile(path, raw, 0o600))
}

// ask has the worker declare its functions, and loads them.
func (a *dotnetApp) ask() []call.Declaration {
	list, err := a.w.Functions(context.Background())
	if err != nil {
		a.Error(err)
		return nil
	}
	var load []worker.Function
	for _, d := range list {
		f := worker.Function{Name: d.Name}
		for _, raw := range d.Bindings {
			var b struct{ Name, Type, Direction, DataType string }
			check(json.Unmarshal(raw, &b))
			binding := worker.Binding{Name: b.Name, Type: b.Type, Raw: raw}
			if b.Direction == "out" {
				binding.Direction = 1
			}
			if b.DataType == "string" {
				binding.DataType = 1
			}
			f.Bindings = append(f.Bindings, binding)
		}
		load = append(load, f)
	}
	failures, err := a.w.Load(context.Background(), load)
	if err != nil || len(failures) > 0 {
		a.Errorf("load: %v, %v", failures, err)
	}
	return list
}

// triggerNames are the names of triggers in testdata/dotnet.
var triggerNames = map[string]string{"ProcessOrder": "order", "ReadMeters": "readings", "ReadLines": "lines", "OnEvents": "events"} // read only

// call invokes a function and returns what it has seen.
func (a *dotnetApp) call(function string, v bindings.Value, output string, change func(*call.Request)) (seen map[string]any) {
	resp, _, err := a.invoke(function, v, func(r *call.Request) {
		r.Outputs, r.Inputs[0].Name = []string{output}, triggerNames[function]
		if change != nil {
			change(r)
		}
	})
	if err != nil || resp.Status != call.Succeeded {
		a.Errorf("%s: %v %+v, %v", function, resp.Status, resp.Error, err)
		return nil
	}
	if err := json.Unmarshal([]byte(resp.Outputs[output].Text), &seen); err != nil {
		a.Errorf("%s: output %q: %v", function, output, err)
	}
	return seen
}

// policies are what the functions declare, for people.
func policies(list []call.Declaration) (out []string) {
	for _, d := range list {
		text := d.Name
		if p := d.Retry; p != nil {
			text += fmt.Sprintf(" %s %d", *p.Strategy, *p.MaxRetryCount)
			for _, d := range []*time.Duration{p.DelayInterval, p.MinimumInterval, p.MaximumInterval} {
				if d != nil {
					text += " " + d.String()
				}
			}
		}
		out = append(out, text)
	}
	return out
}

// Where the worker indexes, its answer counts, fractions of seconds included; bindings
// are as function.json has them (spec workers-dotnet-java 1.3, 1.4, 1.7).
func TestDotnetFunctions(t *testing.T) {
	t.Parallel()
	onDotnet(t, nil, func(a *dotnetApp) {
		list := a.ask()
		want := []string{"ProcessOrder", "Heartbeat fixedDelay 5 1.5s", "ReadMeters exponentialBackoff -1 4s 24h0m0.5s", "ReadLines", "OnEvents"}
		if diff := cmp.Diff(want, policies(list)); diff != "" {
			a.Errorf("policies (-want +got):\n%s", diff)
		}
		if len(list) == 0 {
			return
		}
		wantBinding := `{"blobPath":"documents/{id}","direction":"in","name":"Document","properties":{"supportsDeferredBinding":"False"},"type":"blob"}`
		if got := string(list[0].Bindings[1]); got != wantBinding {
			a.Errorf("the blob is %s, want %s", got, wantBinding)
		}
		if !a.w.InCode() || len(a.notices) > 0 {
			a.Errorf("in code %v, notices %q", a.w.InCode(), a.notices)
		}
		seen := a.call("ProcessOrder", bindings.StringValue(`{"id":7}`), "Invoice", func(r *call.Request) {
			r.Metadata = map[string]bindings.Value{"Id": bindings.StringValue("7"), "DequeueCount": {Kind: bindings.Int, Int: 2}}
		})
		if seen["id"] != "2764219087" || seen["app"] != a.root || seen["text"] != `{"id":7}` {
			a.Errorf("the function has seen %v", seen)
		}
	})
}

// With workerIndexing "false" the file counts, policies included, and the worker is not
// asked (spec workers-dotnet-java 1.4).
func TestDotnetMetadataFile(t *testing.T) {
	t.Parallel()
	onDotnet(t, func(root string, s *worker.Spec) {
		s.Indexing = false
		script(root, func(s map[string]any) { delete(s, "functions") })
	}, func(a *dotnetApp) {
		want := []string{"ProcessOrder", "Heartbeat fixedDelay 5 10s", "ReadMeters exponentialBackoff -1 4s 24h0m0.5s", "ReadLines", "OnEvents"}
		if diff := cmp.Diff(want, policies(a.ask())); diff != "" {
			a.Errorf("policies (-want +got):\n%s", diff)
		}
		if seen := a.call("ProcessOrder", bindings.StringValue(`{}`), "Invoice", nil); seen["id"] != "ProcessOrder" {
			a.Errorf("the function has seen %v", seen)
		}
	})
}

// A function of the file that the worker does not know is told: a silenced AZFW0012 drops it.
func TestDotnetFunctionsThatAreLost(t *testing.T) {
	t.Parallel()
	onDotnet(t, func(root string, _ *worker.Spec) {
		script(root, func(s map[string]any) {
			r := s["functions"].(map[string]any)
			r["functionMetadataResults"] = r["functionMetadataResults"].([]any)[1:]
		})
	}, func(a *dotnetApp) {
		a.ask()
		if len(a.notices) != 1 || !strings.Contains(a.notices[0], `function "ProcessOrder" stands in functions.metadata, and the worker does not know it`) {
			a.Errorf("notices %q", a.notices)
		}
	})
}

// A file that cannot be read is a failure that names it, and the function.
func TestDotnetMetadataFileWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: "functions.metadata: ",
		`[{"name": "A", "retry": {"strategy": "linear", "maxRetryCount": 1}}]`:                                  `functions.metadata: [0].retry of function "A": `,
		`[{"name": "A", "retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "10 s"}}]`:     `functions.metadata: [0].retry of function "A": `,
		`[{"name": "A", "bindings": ["queue"], "retry": {"strategy": "fixedDelay", "delayInterval": "00:01"}}]`: `function "A": `,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			onDotnet(t, func(root string, s *worker.Spec) {
				s.Indexing = false
				check(os.WriteFile(s.Metadata, []byte(text), 0o600))
			}, func(a *dotnetApp) {
				if _, err := a.w.Functions(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
					a.Errorf("got %v, want %s", err, want)
				}
			})
		})
	}
}

// The worker of an app in F# drops policies and invents identifiers for each process: the
// platform has no policy then, which is said, and those of the first process count (spec
// workers-dotnet-java 1.4, 1.7).
func TestDotnetFSharp(t *testing.T) {
	t.Parallel()
	onDotnet(t, func(root string, s *worker.Spec) {
		script(root, func(s map[string]any) {
			s["random"] = true
			for _, f := range s["functions"].(map[string]any)["functionMetadataResults"].([]any) {
				delete(f.(map[string]any), "retryOptions")
			}
		})
	}, func(a *dotnetApp) {
		want := []string{"ProcessOrder", "Heartbeat", "ReadMeters", "ReadLines", "OnEvents"}
		if diff := cmp.Diff(want, policies(a.ask())); diff != "" {
			a.Errorf("policies (-want +got):\n%s", diff)
		}
		if len(a.notices) != 2 || !strings.Contains(a.notices[0], `function "Heartbeat" has a retry attribute`) || !strings.Contains(a.notices[1], `"ReadMeters"`) {
			a.Errorf("notices %q", a.notices)
		}
		first := a.call("ProcessOrder", bindings.StringValue(`{}`), "Invoice", nil)["id"]
		if _, _, err := a.invoke("ProcessOrder", bindings.StringValue(`{"exit":true}`), nil); err == nil {
			a.Error("the process has ended, and its call has not failed")
		}
		second := a.call("ProcessOrder", bindings.StringValue(`{}`), "Invoice", nil)["id"]
		if first != second || first == nil {
			a.Errorf("the second process knows the function as %v, want %v", second, first)
		}
		// Each process has loaded each function once.
		raw, err := os.ReadFile(filepath.Join(a.root, "loads.log"))
		if got := strings.Count(string(raw), "\n"); got != 10 || err != nil {
			a.Errorf("%d loads, %v; want 10:\n%s", got, err, raw)
		}
	})
}

// Batches travel as collections where a dataType says of what, else as one JSON array;
// those of Event Grid always so (spec workers-dotnet-java 1.7).
func TestDotnetBatches(t *testing.T) {
	t.Parallel()
	batch := bindings.Value{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue(`{"w":1}`), bindings.StringValue(""), bindings.StringValue("plain")}}
	onDotnet(t, nil, func(a *dotnetApp) {
		a.ask()
		for _, tt := range []struct {
			function string
			value    bindings.Value
			want     string
		}{
			{"ReadMeters", bindings.JSONValue([]byte(`[{"w":1},2]`)), `*workerpb.TypedData_Json [{"w":1},2] <nil>`},
			{"ReadMeters", bindings.StringValue(`{"w":1}`), `*workerpb.TypedData_String_  <nil>`},
			{"ReadLines", batch, `*workerpb.TypedData_CollectionString  [{"w":1}  plain]`},
			{"OnEvents", bindings.JSONValue([]byte(`[{"id":"e"}]`)), `*workerpb.TypedData_Json [{"id":"e"}] <nil>`},
		} {
			seen := a.call(tt.function, tt.value, "Seen", nil)
			if got := fmt.Sprint(seen["kind"], " ", seen["json"], " ", seen["list"]); got != tt.want {
				a.Errorf("%s got %s, want %s", tt.function, got, tt.want)
			}
		}
	})
}

// A function whose time is over is told so, and has its own grace to answer in; then its
// process goes. What it answers is a failure (spec workers-dotnet-java 1.9). The next
// attempt of the invocation is sent when the last one has ended in its process: a worker
// refuses one that runs already (spec workers-dotnet-java 1.7).
func TestDotnetCancel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		grace      time.Duration // real time; long where the answer ends it
		want       string
	}{
		{"Answers", `{"hang":true}`, time.Minute, "A task was canceled."},
		{"Ignores", `{"ignore":true}`, 50 * time.Millisecond, "did not return"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onDotnet(t, func(_ string, s *worker.Spec) { s.CancelGrace = tt.grace }, func(a *dotnetApp) {
				a.ask()
				ctx, end := a.clk.WithTimeout(context.Background(), 50*time.Millisecond)
				defer end()
				req := &call.Request{InvocationID: "inv", Function: "ProcessOrder", Inputs: []call.Input{{Name: "order", Value: bindings.StringValue(tt.body)}}}
				resp, err := a.w.Invoke(ctx, req, func(call.Log) {})
				got := fmt.Sprint(err)
				if resp != nil {
					got = fmt.Sprint(resp.Status == call.Cancelled, " ", resp.Error.Message)
				}
				if !strings.Contains(got, tt.want) {
					a.Errorf("got %s, want %s", got, tt.want)
				}
				next := &call.Request{InvocationID: "inv", Function: "ProcessOrder", Inputs: []call.Input{{Name: "order", Value: bindings.StringValue(`{}`)}}}
				if resp, err := a.w.Invoke(context.Background(), next, func(call.Log) {}); err != nil || resp.Status != call.Succeeded {
					a.Errorf("the next attempt: %+v, %v", resp, err)
				}
			})
		})
	}
}

// The line with which a worker announces the failure of a call is one of details: the
// failure itself is told by the answer (spec workers-dotnet-java 1.12).
func TestDotnetFailure(t *testing.T) {
	t.Parallel()
	onDotnet(t, nil, func(a *dotnetApp) {
		a.ask()
		resp, logs, err := a.invoke("ProcessOrder", bindings.StringValue(`{"id":7,"fail":true}`), nil)
		want := &call.Error{Type: "System.InvalidOperationException", Text: "System.InvalidOperationException: no such order", Message: "no such order", Stack: "   at Shop.Orders.Process() in Orders.cs:line 7"}
		if diff := cmp.Diff(want, resp.Error); diff != "" || err != nil {
			a.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if len(logs) != 2 || logs[0].Level != call.Information || logs[1].Level != call.Debug || !strings.Contains(logs[1].Message, "System.InvalidOperationException: no such order") {
			a.Errorf("lines %+v", logs)
		}
	})
}

// A process that waits for a debugger has all the time of the person who attaches it (spec
// workers-dotnet-java 1.5).
func TestDotnetDebuggerWait(t *testing.T) {
	t.Parallel()
	onDotnet(t, func(_ string, s *worker.Spec) {
		s.StartTimeout, s.InitTimeout = time.Nanosecond, time.Nanosecond
		s.Env = append(s.Env, "FUNCTIONS_ENABLE_DEBUGGER_WAIT=True")
	}, func(a *dotnetApp) { a.ask() })
}

// A program that runs, or ends well, and never connects lacks a line, which the hint names;
// one that fails has said itself what it lacks, and that of another language has no such line.
func TestDotnetNeverConnects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		role, language string
		want           bool
	}{
		{"grpc silent", languages.Dotnet, true},
		{"grpc exitsWell", languages.Dotnet, true},
		{"grpc exits", languages.Dotnet, false},
		{"grpc silent", "node", false},
		{"grpc exitsWell", "node", false},
	} {
		t.Run(tt.role+" "+tt.language, func(t *testing.T) {
			t.Parallel()
			s := spec(tt.role)
			s.Language = tt.language
			if strings.HasSuffix(tt.role, "silent") {
				s.StartTimeout = 50 * time.Millisecond
			}
			_, err := worker.Start(clock.System(), s)
			fault, ok := errors.AsType[*process.StartError](err)
			if !ok {
				t.Fatalf("got %v, want a *process.StartError", err)
			}
			if got := strings.Contains(fault.Hint, "does Program call FunctionsApplication.CreateBuilder") && strings.HasSuffix(fault.Hint, "and Run?"); got != tt.want {
				t.Errorf("hint %q, of %v", fault.Hint, err)
			}
		})
	}
}
