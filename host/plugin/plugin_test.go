//clock:outside waits for real processes and their output

package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/invokertest"
	"github.com/redeliver/redeliver/host/plugin"
	"github.com/redeliver/redeliver/host/process"
)

func TestInvoker(t *testing.T) {
	invokertest.Run(t, invokertest.Harness{
		Process: true,
		New: func(t *testing.T, clk clock.Clock) invokertest.Invoker {
			h, err := startSpec(clk, process.Spec{Path: os.Args[0], Env: environ("handler"), Grace: time.Second})
			if err != nil {
				t.Errorf("Start: %v", err)
				return nil
			}
			return h
		},
	})
}

// under runs f in a goroutine of a virtual clock and lets time pass until it is
// done.
func under(t *testing.T, f func(v *clock.Virtual)) {
	t.Helper()
	v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		&clock.VirtualOptions{Strict: true})
	g := clock.NewGroup(v, 0)
	done := false
	v.Do("test", func() { g.Go("test", func() { f(v); done = true }) })
	v.Run(100 * 24 * time.Hour)
	if !done {
		t.Errorf("the test did not end; waiting: %v", v.Waiting())
	}
}

func start(t *testing.T, clk clock.Clock, spec process.Spec) *plugin.Handlers {
	t.Helper()
	spec.Path = os.Args[0]
	if spec.Env == nil {
		spec.Env = environ("handler")
	}
	h, err := startSpec(clk, spec)
	if err != nil {
		t.Errorf("Start: %v", err)
		runtime.Goexit()
	}
	return h
}

func closeHandlers(t *testing.T, h *plugin.Handlers) {
	t.Helper()
	if err := h.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func request(function, text string) *call.Request {
	return &call.Request{
		InvocationID: "inv-1", Function: function, Outputs: []string{"out"},
		Inputs: []call.Input{{Name: "item", Value: bindings.StringValue(text)}},
	}
}

func nolog(call.Log) {}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, mode os.FileMode, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name   string
		spec   process.Spec
		want   []string // in the text
		hint   string   // in the hint
		output []string
	}{
		{"missing", process.Spec{Path: filepath.Join(dir, "nowhere")}, []string{"nowhere", "no such program"}, "", nil},
		{"missing folder", process.Spec{Path: os.Args[0], Dir: filepath.Join(dir, "none")}, []string{"no folder"}, "", nil},
		{"not executable", process.Spec{Path: write("plain", 0o600, "x")}, []string{"not executable"}, "chmod", nil},
		{"not a program", process.Spec{Path: write("text", 0o700, "just text")}, []string{"cannot run it"}, runtime.GOARCH, nil},
		{"exits", process.Spec{Path: os.Args[0], Env: environ("exits")}, []string{"exit status 1", "\tfirst line", "cannot open the database"}, "functions.Main", nil},
		{"prints", process.Spec{Path: os.Args[0], Env: environ("prints")}, []string{`"starting up ..."`, "standard output"}, "standard error", nil},
		{"silent", process.Spec{Path: os.Args[0], Env: environ("silent"), StartTimeout: 300 * time.Millisecond}, []string{"not ready after 300ms"}, "functions.Main", nil},
		{"serves something else", process.Spec{Path: os.Args[0], Env: environ("serves"), StartTimeout: 300 * time.Millisecond}, []string{`"GET /health"`, "\t", "listening on :8080"}, "functions.Main", nil},
		{"older version", process.Spec{Path: os.Args[0], Env: environ("version1")}, []string{"another version of the protocol"}, "build it", nil},
		{"newer version", process.Spec{Path: os.Args[0], Env: environ("version9")}, []string{"another version of the protocol"}, "build it", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && (tt.name == "not executable" || tt.name == "not a program") {
				t.Skip("the system has no such notion")
			}
			under(t, func(v *clock.Virtual) {
				h, err := startSpec(v, tt.spec)
				if err == nil {
					closeHandlers(t, h)
				}
				serr, ok := errors.AsType[*process.StartError](err)
				if !ok {
					t.Errorf("Start: %v, want a *StartError", err)
					return
				}
				for _, want := range tt.want {
					if !strings.Contains(serr.Error(), want) {
						t.Errorf("error %q does not contain %q", serr, want)
					}
				}
				if !strings.Contains(serr.Hint, tt.hint) {
					t.Errorf("hint %q does not contain %q", serr.Hint, tt.hint)
				}
			})
		})
	}
}

func TestStartedByHand(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = environ("handler")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "redeliver start") {
		t.Errorf("got %v, output %q; want exit status 1 and the next step", err, lines(out))
	}
}

func TestGarbage(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		h := start(t, v, process.Spec{Env: environ("garbage")})
		defer closeHandlers(t, h)
		for _, function := range []string{
			"refusal", "empty message", "torn message", "piece of a piece", "status", "declared", "nested",
		} {
			resp, err := h.Invoke(context.Background(), request(function, ""), nolog)
			if !errors.Is(err, process.ErrNoResult) {
				t.Errorf("%s: got %+v, %v; want ErrNoResult", function, resp, err)
			}
		}
		for _, function := range []string{"good", "two results", "negative sleep"} {
			resp, err := h.Invoke(context.Background(), request(function, ""), nolog)
			if err != nil || resp.Status != call.Succeeded {
				t.Errorf("%s: got %+v, %v; want success", function, resp, err)
			}
		}
		resp, err := h.Invoke(context.Background(), request("failure without error", ""), nolog)
		if err != nil || resp.Status != call.Failed || resp.Error == nil {
			t.Errorf("failure without error: got %+v, %v; want a failure with an error", resp, err)
		}
		if list, err := h.Functions(context.Background()); err == nil {
			t.Errorf("Functions: got %v, want an error about the bindings", list)
		}
	})
}

// A process that ends the stream of all calls cannot be called any more, and is
// replaced.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"no result", "grpc error", "unimplemented"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			under(t, func(v *clock.Virtual) {
				h := start(t, v, process.Spec{Env: environ("garbage")})
				defer closeHandlers(t, h)
				resp, err := h.Invoke(context.Background(), request(function, ""), nolog)
				if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Exit.Reason != "its connection broke" {
					t.Errorf("got %+v, %v; want an *ExitError with the reason", resp, err)
				}
				resp, err = h.Invoke(context.Background(), request("good", ""), nolog)
				if err != nil || resp.Status != call.Succeeded {
					t.Errorf("the next call: got %+v, %v; want success", resp, err)
				}
			})
		})
	}
}

// events records what the callbacks say, without process ids.
type events struct {
	clk  clock.Clock
	from time.Time
	list []string
}

func record(spec process.Spec, clk clock.Clock) (process.Spec, *events) {
	e := &events{clk: clk, from: clk.Now()}
	spec.OnStart = func(p process.Process) { e.add("start %d", p.Number) }
	spec.OnExit = func(x process.Exit) {
		e.add("exit %d %s planned=%v %q restart=%v", x.Process.Number, x.Status, x.Planned, x.Reason, x.Restart)
	}
	return spec, e
}

func (e *events) add(format string, args ...any) {
	e.list = append(e.list, fmt.Sprintf("%v: ", e.clk.Now().Sub(e.from))+fmt.Sprintf(format, args...))
}

func TestCrashBudget(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		spec, events := record(process.Spec{}, v)
		h := start(t, v, spec)
		crash := func() {
			_, err := h.Invoke(context.Background(), request("Exit", "3"), nolog)
			if exit, ok := errors.AsType[*process.ExitError](err); !ok || exit.Exit.Code != 3 {
				t.Errorf("Invoke: %v, want an *ExitError with status 3", err)
			}
		}
		for range 5 {
			crash()
		}
		// Quiet time forgets crashes; exactly 30 minutes do not.
		_ = v.Sleep(context.Background(), 30*time.Minute)
		crash()
		_ = v.Sleep(context.Background(), 30*time.Minute+time.Nanosecond)
		crash()
		if _, err := h.Invoke(context.Background(), request("Exit", "200"), nolog); err == nil {
			t.Error("Exit 200: no error")
		}
		crash()
		_, _ = h.Invoke(context.Background(), request("Log", "1"), nolog)
		closeHandlers(t, h)

		at := func(d time.Duration) string { return d.String() + ": " }
		want := []string{
			"0s: start 1",
			`0s: exit 1 exit status 3 planned=false "" restart=0s`,
			"0s: start 2",
			`0s: exit 2 exit status 3 planned=false "" restart=0s`,
			"0s: start 3",
			`0s: exit 3 exit status 3 planned=false "" restart=1s`,
			"1s: start 4",
			`1s: exit 4 exit status 3 planned=false "" restart=2s`,
			"3s: start 5",
			`3s: exit 5 exit status 3 planned=false "" restart=4s`,
		}
		sixth := 3*time.Second + 30*time.Minute // the pause of 4 s passes meanwhile
		want = append(want,
			"7s: start 6",
			at(sixth)+`exit 6 exit status 3 planned=false "" restart=8s`,
			at(sixth+8*time.Second)+"start 7",
			at(sixth+30*time.Minute+1)+`exit 7 exit status 3 planned=false "" restart=0s`,
			at(sixth+30*time.Minute+1)+"start 8",
			at(sixth+30*time.Minute+1)+`exit 8 exit status 200 planned=true "asked for a new process" restart=0s`,
			at(sixth+30*time.Minute+1)+"start 9",
			at(sixth+30*time.Minute+1)+`exit 9 exit status 3 planned=false "" restart=0s`,
			at(sixth+30*time.Minute+1)+"start 10",
			at(sixth+30*time.Minute+1)+`exit 10 exit status 0 planned=true "the host closed it" restart=-1ns`)
		if diff := cmp.Diff(want, events.list); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestStopHost(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		var stopped []error
		h := start(t, v, process.Spec{StopHost: func(err error) { stopped = append(stopped, err) }})
		defer closeHandlers(t, h)
		for range 3 {
			_, _ = h.Invoke(context.Background(), request("Exit", "3"), nolog)
		}
		if len(stopped) != 1 {
			t.Errorf("StopHost was called with %v, want one error", stopped)
		}
		if _, err := h.Invoke(context.Background(), request("Log", "1"), nolog); err == nil {
			t.Error("a call after the stop succeeded")
		}
	})
}

// A process that ends by itself with 0, or on Linux by SIGTERM, is no crash: four of them
// stop nothing, and the pauses of the restarts grow nevertheless.
func TestQuietEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		code  string
		stops bool
	}{{"0", false}, {"200", false}, {"143", runtime.GOOS != "linux"}, {"1", true}, {"137", true}} {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			under(t, func(v *clock.Virtual) {
				var stopped []error
				h := start(t, v, process.Spec{StopHost: func(err error) { stopped = append(stopped, err) }})
				defer closeHandlers(t, h)
				begun := v.Now()
				for range 4 {
					if _, err := h.Invoke(context.Background(), request("Exit", tt.code), nolog); err == nil {
						t.Error("a call in a process that ends succeeded")
					}
				}
				if len(stopped) > 0 != tt.stops {
					t.Errorf("StopHost was called with %v", stopped)
				}
				if paused := v.Now().After(begun); paused != (tt.code != "200" && !tt.stops) {
					t.Errorf("a pause before the fourth process: %v", paused)
				}
			})
		})
	}
}

func TestRestartFails(t *testing.T) {
	t.Parallel()
	// A program that disappears while it runs: a link to the test binary.
	link := filepath.Join(t.TempDir(), "handler")
	if err := os.Symlink(os.Args[0], link); err != nil {
		t.Skip(err)
	}
	under(t, func(v *clock.Virtual) {
		spec := process.Spec{Path: link, Env: environ("handler")}
		var failed []string
		spec.OnExit = func(x process.Exit) {
			if x.Err != nil {
				failed = append(failed, fmt.Sprint(x.Status, " ", x.Restart))
				if len(failed) == 3 { // it comes back
					if err := os.Symlink(os.Args[0], link); err != nil {
						t.Error(err)
					}
				}
			}
		}
		h, err := startSpec(v, spec)
		if err != nil {
			t.Error(err)
			return
		}
		defer closeHandlers(t, h)
		if err := os.Remove(link); err != nil {
			t.Error(err)
		}
		_, _ = h.Invoke(context.Background(), request("Exit", "3"), nolog)
		resp, err := h.Invoke(context.Background(), request("Log", "1"), nolog)
		if err != nil || resp.Status != call.Succeeded {
			t.Errorf("Invoke after the program came back: %+v, %v", resp, err)
		}
		want := []string{"there is no such program 0s", "there is no such program 1s", "there is no such program 2s"}
		if diff := cmp.Diff(want, failed); diff != "" {
			t.Errorf("failed starts (-want +got):\n%s", diff)
		}
	})
}

// A process that dies while nobody calls it is replaced all the same.
func TestIdleCrash(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(time.Unix(0, 0), &clock.VirtualOptions{Strict: true})
	exited, started := make(chan process.Exit, 1), make(chan int, 2)
	var h *plugin.Handlers
	v.Do("start", func() {
		h = start(t, v, process.Spec{
			OnStart: func(p process.Process) { started <- p.PID },
			OnExit: func(e process.Exit) {
				select {
				case exited <- e:
				default:
				}
			},
		})
	})
	p, err := os.FindProcess(<-started)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if e := <-exited; e.Planned || e.Code != -1 {
		t.Errorf("exit %+v, want an unplanned one by a signal", e)
	}
	<-started
	v.Do("close", func() { closeHandlers(t, h) })
}

func TestCloseWhileCalled(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"Wait", "Hang"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			under(t, func(v *clock.Virtual) {
				h := start(t, v, process.Spec{StopGrace: 100 * time.Millisecond})
				g := clock.NewGroup(v, 0)
				g.Go("call", func() {
					resp, err := h.Invoke(context.Background(), request(function, ""), func(call.Log) {
						v.AfterFunc(0, "close", func() { closeHandlers(t, h) })
					})
					if err == nil {
						t.Errorf("got %+v, want an error", resp)
					}
				})
				g.Wait()
				if _, err := h.Invoke(context.Background(), request("Log", "1"), nolog); !errors.Is(err, process.ErrClosed) {
					t.Errorf("Invoke after Close: %v, want ErrClosed", err)
				}
				if err := h.Health(context.Background()); !errors.Is(err, process.ErrClosed) {
					t.Errorf("Health after Close: %v, want ErrClosed", err)
				}
				closeHandlers(t, h)
			})
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		h := start(t, v, process.Spec{Env: environ("handler", "CONTAINER_NAME=c", "WEBSITE_INSTANCE_ID=i", "WEBSITE_PLACEHOLDER_MODE=1", "KEPT=yes")})
		defer closeHandlers(t, h)
		resp, err := h.Invoke(context.Background(), request("Env", ""), nolog)
		if err != nil {
			t.Errorf("Invoke: %v", err)
			return
		}
		env := strings.Split(resp.Outputs["out"].Text, "\n")
		if !slices.Contains(env, "KEPT=yes") {
			t.Error("KEPT is missing")
		}
		for _, kv := range env {
			for _, name := range []string{"CONTAINER_NAME=", "WEBSITE_INSTANCE_ID=", "WEBSITE_PLACEHOLDER_MODE="} {
				if strings.HasPrefix(kv, name) {
					t.Errorf("%s reached the process", kv)
				}
			}
		}
	})
}

// collector keeps lines; its methods may be called by any goroutine.
type collector struct {
	mu    sync.Mutex
	lines []process.Line
	seen  chan struct{} // closed by the first line that match accepts
	match func(process.Line) bool
}

func (c *collector) add(l process.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, l)
	if c.match != nil && c.match(l) {
		close(c.seen)
		c.match = nil
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20+100)
	tests := []struct {
		name  string
		text  string
		times int
		match func(process.Line) bool
	}{
		{"stdout", "hello", 0, func(l process.Line) bool {
			return !l.Stderr && l.Level == call.Information && l.Text == "hello" && !l.Cut
		}},
		{"stderr", "hello", 0, func(l process.Line) bool {
			return l.Stderr && l.Level == call.ErrorLevel && l.Text == "error: hello"
		}},
		{"long line", long, 0, func(l process.Line) bool { return !l.Stderr && l.Cut && l.Text == long[:1<<20] }},
		{"flood", "spam", 20000, func(l process.Line) bool { return strings.Contains(l.Text, "lines left out") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &collector{seen: make(chan struct{}), match: tt.match}
			seen := c.seen
			under(t, func(v *clock.Virtual) {
				h := start(t, v, process.Spec{Output: c.add})
				req := request("Print", tt.text)
				req.Metadata = map[string]bindings.Value{"times": bindings.StringValue(fmt.Sprint(tt.times))}
				var logs []call.Log
				if _, err := h.Invoke(context.Background(), req, func(l call.Log) { logs = append(logs, l) }); err != nil {
					t.Errorf("Invoke: %v", err)
				}
				if len(logs) != 1 || logs[0].Message != "default logger" {
					t.Errorf("slog's default logger gave %v", logs)
				}
				if tt.name == "flood" { // said at the end, or after a second
					closeHandlers(t, h)
					<-seen
					return
				}
				v.Outside(context.Background(), "wait for the line", func() { <-seen })
				closeHandlers(t, h)
			})
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.lines) > 4100 {
				t.Errorf("%d lines came through", len(c.lines))
			}
		})
	}
}

func TestPlainOutputOfCrash(t *testing.T) {
	t.Parallel()
	under(t, func(v *clock.Virtual) {
		var last process.Exit
		h := start(t, v, process.Spec{OnExit: func(e process.Exit) {
			if !e.Planned {
				last = e
			}
		}})
		defer closeHandlers(t, h)
		_, err := h.Invoke(context.Background(), request("Fatal", ""), nolog)
		if _, ok := errors.AsType[*process.ExitError](err); !ok {
			t.Errorf("Invoke: %v, want an *ExitError", err)
		}
		if !slices.ContainsFunc(last.Output, func(s string) bool { return strings.Contains(s, "panic: from a goroutine") }) {
			t.Errorf("the report of the crash has only %q", last.Output)
		}
	})
}

// The same calls happen in the same order every time, however fast the process
// is, crashes included. (What else a process does in the instant in which it
// crashes is its own affair, so nothing else is in flight here.)
func TestRepeatable(t *testing.T) {
	t.Parallel()
	run := func() []string {
		var got []string
		under(t, func(v *clock.Virtual) {
			spec, events := record(process.Spec{}, v)
			h := start(t, v, spec)
			g := clock.NewGroup(v, 0)
			invoke := func(i int, function, text string) {
				resp, err := h.Invoke(context.Background(), request(function, text), func(l call.Log) {
					events.add("call %d log %s", i, l.Message)
				})
				if err != nil {
					events.add("call %d %v", i, err)
					return
				}
				events.add("call %d status %d", i, resp.Status)
			}
			for round := range 4 {
				for i := range 12 {
					g.Go("call", func() { invoke(i, "Sleep", fmt.Sprintf("%ds", i%4)) })
				}
				g.Wait()
				invoke(12+round, "Exit", "3")
			}
			closeHandlers(t, h)
			got = events.list
		})
		return got
	}
	want := run()
	for range 10 {
		if diff := cmp.Diff(want, run()); diff != "" {
			t.Fatalf("another run differs (-first +this):\n%s", diff)
		}
	}
}
