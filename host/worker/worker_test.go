//clock:outside real processes

package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/retrycontext"
)

// bench is a worker under test, on one transport and one clock.
type bench struct {
	*testing.T
	clk  clock.Clock
	w    *worker.Worker
	mu   sync.Mutex // guards:
	said []string   // lines that belong to no invocation
}

// names are the functions that every test has loaded.
var names = []string{"Echo", "Retry", "Metadata", "Return", "Fail", "Forgotten", "Log", "Garbage", "Exit", "Hang", "HangUp", "PID", "Unloadable", "Silent", "Odd", "OddNumber", "Settle", "Address", "Show", "Aside", "Unset", "Cloud", "Traced"}

func functions() (list []worker.Function) {
	for _, name := range names {
		list = append(list, worker.Function{
			Name: name, Directory: "/app/" + name, ScriptFile: "/app/" + name + "/index.js",
			Bindings: []worker.Binding{{Name: "in", Type: "queueTrigger", Raw: []byte(`{}`)}},
		})
	}
	return list
}

func spec(role string) worker.Spec {
	s := worker.Spec{Language: "node", App: os.TempDir(), Indexing: true, Spec: process.Spec{
		Path: os.Args[0], Args: []string{"worker.js"}, Grace: 200 * time.Millisecond,
		// The race detector otherwise waits a second before a process ends.
		Env: append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0"),
	}}
	if strings.HasPrefix(role, "lines") {
		s.Transport = worker.Lines
	}
	return s
}

// on runs a test with a worker of that role, on both transports and both clocks. A
// patient clock lets time pass although a call is out.
func on(t *testing.T, odd string, patience time.Duration, test func(b *bench)) {
	t.Helper()
	onWith(t, odd, patience, func(*bench, *worker.Spec) {}, test)
}

// onWith is on for a worker that is started otherwise.
func onWith(t *testing.T, odd string, patience time.Duration, change func(*bench, *worker.Spec), test func(b *bench)) {
	t.Helper()
	for _, transport := range []string{"grpc", "lines"} {
		onClocks(t, transport+"/", patience, func(t *testing.T, clk clock.Clock) {
			runWith(t, clk, spec(transport+" "+odd), change, test)
		})
	}
}

// onClocks runs a test on both clocks, under their names behind a prefix. The virtual one
// goes on by itself; a patient one does although a call is out.
func onClocks(t *testing.T, prefix string, patience time.Duration, test func(t *testing.T, clk clock.Clock)) {
	t.Helper()
	for _, c := range []string{"System", "Virtual"} {
		t.Run(prefix+c, func(t *testing.T) {
			t.Parallel()
			clk := clock.System()
			if c == "Virtual" {
				v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true, Patience: patience})
				t.Cleanup(v.Close)
				v.Auto()
				clk = v
			}
			test(t, clk)
		})
	}
}

// live starts a worker inside the bench's clock, has a test use it, and closes it.
func (b *bench) live(s worker.Spec, test func()) {
	b.Helper()
	done := make(chan struct{}) //clock:outside drives the clock from outside
	group := clock.NewGroup(b.clk, 0)
	b.clk.Inside("test", func() {
		group.Go("test", func() {
			defer close(done)
			var err error
			if b.w, err = worker.Start(b.clk, s); err != nil {
				b.Error(err)
				return
			}
			test()
			if err := b.w.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
	})
	<-done //clock:outside drives the clock from outside
}

// runWith starts a worker on a clock, has a test use it, and closes it.
func runWith(t *testing.T, clk clock.Clock, s worker.Spec, change func(*bench, *worker.Spec), test func(b *bench)) {
	t.Helper()
	b := &bench{T: t, clk: clk}
	s.Log = func(l call.Log) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, l.Message)
	}
	change(b, &s)
	b.live(s, func() { test(b) })
}

func (b *bench) load() {
	if _, err := b.w.Load(context.Background(), functions()); err != nil {
		b.Error(err)
	}
}

func (b *bench) invoke(function string, v bindings.Value, change func(*call.Request)) (*call.Response, []call.Log, error) {
	req := &call.Request{InvocationID: "inv " + function, Function: function, Inputs: []call.Input{{Name: "in", Value: v}}, Outputs: []string{"out"}}
	if change != nil {
		change(req)
	}
	var logs []call.Log
	resp, err := b.w.Invoke(context.Background(), req, func(l call.Log) { logs = append(logs, l) })
	if resp == nil {
		resp = &call.Response{}
	}
	return resp, logs, err
}

// What a worker declares comes as function.json has it: the trigger first, words in
// small letters, a policy where there is one (spec workers 4.3).
func TestFunctions(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		list, err := b.w.Functions(context.Background())
		if err != nil {
			b.Error(err)
			return
		}
		var got []string
		for _, d := range list {
			text := d.Name + " " + string(d.Bindings[0])
			if p := d.Retry; p != nil {
				text += fmt.Sprintf(" %s %d", *p.Strategy, *p.MaxRetryCount)
				for _, d := range []*time.Duration{p.DelayInterval, p.MinimumInterval, p.MaximumInterval} {
					if d != nil {
						text += " " + d.String()
					}
				}
			}
			got = append(got, text)
		}
		trigger := ` {"dataType":"string","direction":"in","name":"in","queueName":"orders","type":"queueTrigger"}`
		want := []string{"Plain" + trigger, "Fixed" + trigger + " fixedDelay 4 10s", "Exponential" + trigger + " exponentialBackoff -1 1s 1m0s"}
		if diff := cmp.Diff(want, got); diff != "" {
			b.Errorf("functions (-want +got):\n%s", diff)
		}
		if !b.w.InCode() {
			b.Error("InCode is false")
		}
		if err := b.w.Health(context.Background()); err != nil {
			b.Error(err)
		}
		// The worker's own identifiers come back to it.
		if _, err := b.w.Load(context.Background(), []worker.Function{{Name: "Plain", Bindings: []worker.Binding{{Name: "in", Type: "queueTrigger"}}}}); err != nil {
			b.Error(err)
		}
		if resp, _, err := b.invoke("Plain", bindings.Value{}, nil); err != nil || resp.Status != call.Succeeded {
			b.Errorf("%+v, %v", resp, err)
		}
	})
}

func TestFunctionsInFiles(t *testing.T) {
	t.Parallel()
	on(t, "files", 0, func(b *bench) {
		if list, err := b.w.Functions(context.Background()); err != nil || len(list) != 0 || b.w.InCode() {
			b.Errorf("%v, %v, in code %v; want none, and the files to count", list, err, b.w.InCode())
		}
	})
}

// An error that a worker tells instead of functions is kept, for who has none.
func TestTrouble(t *testing.T) {
	t.Parallel()
	on(t, "complains", 0, func(b *bench) {
		if list, err := b.w.Functions(context.Background()); err != nil || len(list) != 0 || b.w.InCode() || b.w.IndexingError() != "cannot load app.js: unexpected token" {
			b.Errorf("%v, %v, in code %v, trouble %q", list, err, b.w.InCode(), b.w.IndexingError())
		}
	})
}

// An exception of user code at the start is told, with its place.
func TestBrokenApp(t *testing.T) {
	t.Parallel()
	on(t, "broken", 0, func(b *bench) {
		_, err := b.w.Functions(context.Background())
		if err == nil || !strings.Contains(err.Error(), "app.js: unexpected token") || !strings.Contains(err.Error(), "at somewhere") {
			b.Errorf("got %v", err)
		}
	})
}

// A function that cannot be loaded fails its attempts with the reason, whatever else is
// loaded; a missing result is a failure.
func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"", "collection"} {
		t.Run("odd "+odd, func(t *testing.T) {
			t.Parallel()
			on(t, odd, 0, func(b *bench) {
				failures, err := b.w.Load(context.Background(), functions())
				if err != nil || len(failures) != 2 || failures["Unloadable"] == nil || failures["Silent"] == nil {
					b.Errorf("failures %v, %v", failures, err)
				}
				resp, _, err := b.invoke("Unloadable", bindings.StringValue("x"), nil)
				if err != nil || resp.Status != call.Failed || resp.Error.Message != "unexpected token in /app/Unloadable/index.js" {
					b.Errorf("%+v, %v", resp, err)
				}
				resp, _, err = b.invoke("Nobody", bindings.StringValue("x"), nil)
				if err != nil || resp.Status != call.Failed || !strings.Contains(resp.Error.Message, `"Nobody"`) {
					b.Errorf("%+v, %v", resp, err)
				}
				if resp, _, err := b.invoke("eCHO", bindings.StringValue("x"), nil); err != nil || resp.Outputs["out"].Text != "x" {
					b.Errorf("%+v, %v", resp, err)
				}
			})
		})
	}
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		for _, v := range []bindings.Value{
			{},
			bindings.StringValue(""), bindings.StringValue("grüße"), bindings.JSONValue([]byte(`{"id":[1]}`)),
			bindings.BytesValue([]byte{0, 255}), {Kind: bindings.Int, Int: -1 << 63}, {Kind: bindings.Double, Double: 0.1},
			{Kind: bindings.Strings, List: []bindings.Value{bindings.StringValue(""), bindings.StringValue("b")}},
			{Kind: bindings.BytesList, List: []bindings.Value{bindings.BytesValue([]byte{1})}},
			bindings.BytesValue(bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)),
		} {
			resp, _, err := b.invoke("Echo", v, nil)
			if err != nil || resp.Status != call.Succeeded || len(resp.Outputs) != 1 {
				b.Errorf("kind %d: %v with %d outputs, %v", v.Kind, resp.Status, len(resp.Outputs), err)
			}
			if !reflect.DeepEqual(v, resp.Outputs["out"]) {
				b.Errorf("a value of kind %d came back as one of kind %d, or changed", v.Kind, resp.Outputs["out"].Kind)
			}
		}
		if resp, _, _ := b.invoke("Return", bindings.StringValue("x"), nil); resp.Return == nil || resp.Return.Text != "x" {
			b.Errorf("return value: %+v", resp)
		}
		resp, _, err := b.invoke("Fail", bindings.StringValue("no such order"), nil)
		want := &call.Response{Error: &call.Error{Type: "TypeError", Message: "no such order", Stack: "at somewhere"}}
		if diff := cmp.Diff(want, resp); diff != "" || err != nil {
			b.Errorf("a failure, %v (-want +got):\n%s", err, diff)
		}
		if resp, _, err := b.invoke("Forgotten", bindings.Value{}, nil); err != nil || resp.Status != call.Failed || resp.Error == nil {
			b.Errorf("without a result: %+v, %v", resp, err)
		}
		if _, _, err := b.invoke("Garbage", bindings.Value{}, nil); !errors.Is(err, process.ErrNoResult) {
			b.Errorf("an output that is no JSON: %v", err)
		}
	})
}

// What user code says may have no form on the wire. That costs no more than its own
// attempt: the others in the process go on.
func TestOddMessages(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		before, _, _ := b.invoke("PID", bindings.Value{}, nil)
		resp, logs, err := b.invoke("Odd", bindings.Value{}, nil)
		if err != nil || !strings.Contains(resp.Outputs["out"].Text, "\uFFFD") || len(logs) != 1 || !strings.HasPrefix(logs[0].Message, "said \uFFFD") {
			b.Errorf("half a character: %+v, %v, %v", resp, logs, err)
		}
		if strings.Contains(b.Name(), "lines") {
			resp, _, err := b.invoke("OddNumber", bindings.Value{}, nil)
			if err != nil || resp.Status != call.Failed || !strings.Contains(resp.Error.Message, "1e30") {
				b.Errorf("a number that is too large: %+v, %v", resp, err)
			}
		}
		after, _, err := b.invoke("PID", bindings.Value{}, nil)
		if err != nil || after.Outputs["out"].Text != before.Outputs["out"].Text {
			b.Errorf("the process was replaced: %+v, %v", after, err)
		}
	})
}

// Fields of the protocol of 2026 are taken (spec drift-2026 C-18).
func TestNewerFields(t *testing.T) {
	t.Parallel()
	on(t, "newer", 0, func(b *bench) {
		b.load()
		for text, status := range map[string]call.Status{"": call.Succeeded, "fails": call.Failed} {
			resp, _, err := b.invoke("Traced", bindings.StringValue(text), nil)
			if want := map[string]string{"shop.order": "7", "": "ü"}; err != nil || resp.Status != status || !maps.Equal(resp.Span, want) {
				b.Errorf("%q: %+v, %v; want the attributes %v", text, resp, err, want)
			}
		}
	})
}

// A retry context that is absent is not one of zeroes (spec workers 7).
func TestRetryContext(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		for _, tt := range []struct {
			rc   *retrycontext.Context
			want string
		}{
			{nil, "none"},
			{&retrycontext.Context{MaxRetryCount: 4}, `0/4 ""`},
			{&retrycontext.Context{RetryCount: 2, MaxRetryCount: -1, Exception: &retrycontext.Exception{Message: "boom", StackTrace: "here"}},
				`2/-1 "boom"`},
		} {
			resp, _, err := b.invoke("Retry", bindings.Value{}, func(r *call.Request) { r.Retry = tt.rc })
			if got := resp.Outputs["out"].Text; got != tt.want || err != nil {
				b.Errorf("the function saw %s, %v; want %s", got, err, tt.want)
			}
		}
		resp, _, _ := b.invoke("Metadata", bindings.Value{}, func(r *call.Request) {
			r.Metadata = map[string]bindings.Value{"DequeueCount": {Kind: bindings.Int, Int: 2}}
		})
		if got := resp.Outputs["out"].Text; got != `json:"2"` {
			b.Errorf("a number in the metadata travels as %s, want json", got)
		}
	})
}

// What says that a process runs in the cloud does not reach a worker (spec workers 3.2).
func TestCloudVariables(t *testing.T) {
	t.Parallel()
	onWith(t, "", 0, func(_ *bench, s *worker.Spec) {
		s.Env = append(s.Env, "CONTAINER_NAME=c", "WEBSITE_INSTANCE_ID=i", "WEBSITE_PLACEHOLDER_MODE=1", "KEPT=yes")
	}, func(b *bench) {
		b.load()
		if resp, _, err := b.invoke("Cloud", bindings.Value{}, nil); err != nil || resp.Outputs["out"].Text != "yes" {
			b.Errorf("the worker sees %q, %v", resp.Outputs["out"].Text, err)
		}
	})
}

// Lines of a call come in order and before its end, the worker's own are left out.
func TestLogs(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		_, logs, err := b.invoke("Log", bindings.StringValue("200"), nil)
		if err != nil || len(logs) != 200 {
			b.Errorf("%d lines, %v", len(logs), err)
			return
		}
		for i, l := range logs {
			if l.Message != fmt.Sprint(i) || l.Level != call.Level(i%6) {
				b.Errorf("line %d: %+v", i, l)
				return
			}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if diff := cmp.Diff([]string{"of no invocation"}, b.said); diff != "" {
			b.Errorf("lines of no invocation (-want +got):\n%s", diff)
		}
	})
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		group := clock.NewGroup(b.clk, 0)
		for i := range 32 {
			group.Go("call", func() {
				want := fmt.Sprint("value ", i)
				resp, _, err := b.invoke("Echo", bindings.StringValue(want), func(r *call.Request) { r.InvocationID = want })
				if err != nil || resp.Outputs["out"].Text != want {
					b.Errorf("call %d: %+v, %v", i, resp, err)
				}
			})
		}
		group.Wait()
	})
}

// Each of those who ask at once gets the answer.
func TestConcurrentHealth(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		group := clock.NewGroup(b.clk, 0)
		for range 8 {
			group.Go("health", func() {
				if err := b.w.Health(context.Background()); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	})
}

// A process that ends fails its call; the next one has loaded the functions.
func TestExit(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		before, _, _ := b.invoke("PID", bindings.Value{}, nil)
		_, _, err := b.invoke("Exit", bindings.Value{}, nil)
		if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Exit.Code != 7 || err.Error() != "worker process exited: exit status 7" {
			b.Errorf("got %v", err)
		}
		after, _, err := b.invoke("PID", bindings.Value{}, nil)
		if err != nil || after.Status != call.Succeeded || after.Outputs["out"].Text == before.Outputs["out"].Text {
			b.Errorf("after the exit: %+v, %v", after, err)
		}
	})
}

// A process that has hung up and lives on is of no use: the call that finds out fails, and
// the next one has another process.
func TestHangUp(t *testing.T) {
	t.Parallel()
	on(t, "lingers", 0, func(b *bench) {
		b.load()
		before, _, _ := b.invoke("PID", bindings.Value{}, nil)
		if resp, _, err := b.invoke("HangUp", bindings.Value{}, nil); err != nil || resp.Status != call.Succeeded {
			b.Errorf("%+v, %v", resp, err)
		}
		for range 50 { // the process may answer a few calls before it has hung up
			after, _, err := b.invoke("PID", bindings.Value{}, nil)
			if err == nil && after.Outputs["out"].Text != before.Outputs["out"].Text {
				return
			}
		}
		b.Error("no other process answers after the worker has hung up")
	})
}

// A worker that cannot cancel loses its process when the time of a call is over; one
// that can is told, and lives on (spec workers 7).
func TestTimeout(t *testing.T) {
	t.Parallel()
	for odd, lives := range map[string]bool{"": false, "cancels": true} {
		t.Run("odd "+odd, func(t *testing.T) {
			t.Parallel()
			on(t, odd, 100*time.Millisecond, func(b *bench) {
				b.load()
				before, _, _ := b.invoke("PID", bindings.Value{}, nil)
				ctx, cancel := b.clk.WithTimeout(context.Background(), 50*time.Millisecond)
				defer cancel()
				req := &call.Request{InvocationID: "i", Function: "Hang", Inputs: []call.Input{{Name: "in"}}}
				resp, err := b.w.Invoke(ctx, req, func(call.Log) {})
				if lives && (err != nil || resp.Status != call.Cancelled) || !lives && !errors.Is(err, context.DeadlineExceeded) {
					b.Errorf("got %+v, %v", resp, err)
				}
				after, _, err := b.invoke("PID", bindings.Value{}, nil)
				if same := before.Outputs["out"].Text == after.Outputs["out"].Text; err != nil || same != lives {
					b.Errorf("the same process runs: %v, %v", same, err)
				}
			})
		})
	}
}

// Who is not the worker is sent away.
func TestStranger(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"stranger", "flooder"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			w, err := worker.Start(clock.System(), spec("lines "+first))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		role string
		edit func(*worker.Spec)
		want []string
	}{
		"missing": {"grpc", func(s *worker.Spec) { s.Path = filepath.Join(t.TempDir(), "node") }, []string{"node", "no such program"}},
		"exits":   {"grpc exits", nil, []string{"it ended before it connected to the host: exit status 3", "no such module"}},
		"silent":  {"lines silent", func(s *worker.Spec) { s.StartTimeout = 300 * time.Millisecond }, []string{"has not connected to the host within 300ms"}},
		"refuses": {"grpc refuses", nil, []string{"it refused to start: this version of the interpreter is too old"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(tt.role)
			if tt.edit != nil {
				tt.edit(&s)
			}
			_, err := worker.Start(clock.System(), s)
			if _, ok := errors.AsType[*process.StartError](err); !ok {
				t.Fatalf("got %v, want a *process.StartError", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// A process that ends while it loads functions is that, and no function that cannot be
// loaded.
func TestExitDuringLoad(t *testing.T) {
	t.Parallel()
	on(t, "exitsOnLoad", 0, func(b *bench) {
		failures, err := b.w.Load(context.Background(), functions())
		if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Exit.Code != 7 {
			b.Errorf("got %v, %v", failures, err)
		}
	})
}

// A process that ends before it has loaded functions is replaced by one that knows what it
// declares.
func TestExitBeforeLoad(t *testing.T) {
	t.Parallel()
	s := spec("grpc")
	pids := make(chan int, 2)
	s.OnStart = func(p process.Process) { pids <- p.PID }
	w, err := worker.Start(clock.System(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(context.Background()) }()
	if _, err := w.Functions(context.Background()); err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(<-pids)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	<-pids
	failures, err := w.Load(context.Background(), []worker.Function{{Name: "Plain", Bindings: []worker.Binding{{Name: "in", Type: "queueTrigger", Raw: []byte("{}")}}}})
	if err != nil || len(failures) != 0 {
		t.Errorf("got %v, %v", failures, err)
	}
}

// patience is more than a process takes to be killed, and less than any limit of a start.
const patience = 20 * time.Second

// A start that is under way ends with Spec.Life, however far it is: nobody waits for its
// limits.
func TestStartGivenUp(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{"silent", "mute", "muteFunctions", "muteLoad"} {
		t.Run(odd, func(t *testing.T) {
			t.Parallel()
			life, end := context.WithCancel(t.Context())
			defer end()
			s := spec("lines " + odd)
			s.Life = life
			s.Output = func(l process.Line) {
				if l.Text == "silent" {
					end()
				}
			}
			began := time.Now()
			w, err := worker.Start(clock.System(), s)
			if err == nil {
				defer func() { _ = w.Close(context.Background()) }()
				if _, err = w.Functions(context.Background()); err == nil {
					_, err = w.Load(context.Background(), functions())
				}
			}
			if err == nil || life.Err() == nil || time.Since(began) > patience {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		})
	}
}

// The end of a worker does not wait for a process that starts in the place of another.
func TestCloseDuringRestart(t *testing.T) {
	t.Parallel()
	s := spec("lines silentAgain")
	s.Env = append(s.Env, markVariable+"="+filepath.Join(t.TempDir(), "mark"))
	silent := make(chan struct{})
	s.Output = func(l process.Line) {
		if l.Text == "silent" {
			close(silent)
		}
	}
	w, err := worker.Start(clock.System(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Load(context.Background(), functions()); err != nil {
		t.Fatal(err)
	}
	_, err = w.Invoke(context.Background(), &call.Request{Function: "Exit", Inputs: []call.Input{{Name: "in"}}}, nil)
	if err == nil {
		t.Error("no error")
	}
	<-silent
	began := time.Now()
	if err := w.Close(context.Background()); err != nil || time.Since(began) > patience {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
