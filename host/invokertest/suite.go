// Package invokertest holds the suite that every way of running functions passes: in the
// host's process, in a Go program, through a language worker, behind an HTTP custom
// handler.
//
// [Run] is the suite. It calls the functions of [App], or functions that do the same in
// another language: see [Language].
package invokertest

import (
	"context"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
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
	// New returns a ready Invoker for [App], or for the functions of Language. It is
	// called with the clock's baton; the suite closes what it returns.
	New func(t *testing.T, clk clock.Clock) Invoker
	// Process is set when the functions have a process of their own: one that can
	// die, and in which waiting for a context does not hold up the host.
	Process bool
	// Language is how functions in another language differ; nil for those of App. They
	// all run in one process for each clock, since interpreters take their time to start.
	Language *Language
}

// Language says what functions in another language see and say otherwise than those of
// [App]. They have its names ([Names]), the input "item", and the output "out".
type Language struct {
	// Declares says that the functions are declared in code.
	Declares bool
	// Carried is what Echo gives back of a value, since some change their type on the
	// way. Not ok: Echo cannot be given it.
	Carried func(bindings.Value) (carried bindings.Value, ok bool)
	// Echoes names the function that echoes a value, where types of the language decide
	// what arrives; nil for Echo.
	Echoes func(bindings.Value) string
	// NoPolicy is what Seen tells of the retry context where there is no policy.
	NoPolicy string
	// ErrorType is the type of the failure of Fail, Stack a text in its stack trace.
	ErrorType, Stack string
	// NoTrace says that they are not told of the trace of their call.
	NoTrace bool
	// Chatter is in the lines that a worker adds to those of a call; empty for none.
	Chatter string
	// Levels are those of the lines that Log writes, in turn.
	Levels [3]call.Level
}

// Names are the functions that exist in every language.
func Names() []string {
	return []string{"Nothing", "Echo", "Seen", "Fail", "Log", "Odd", "Noise", "Exit", "Fatal", "Wait", "Hang"}
}

// A test of the suite.
type test struct {
	name string
	who  who
	run  func(*bench)
	// patience lets virtual time pass although a function waits for real.
	patience time.Duration
}

// who can pass a test.
type who int

const (
	everyone  who = iota
	processes     // of any language
	goOnly        // it is about the Go SDK
	goProcess
)

const impatient = 200 * time.Millisecond

func tests() []test {
	return []test{
		{"Functions", everyone, testFunctions, 0},
		{"Health", everyone, testHealth, 0},
		{"Context", everyone, testContext, 0},
		{"Values", everyone, testValues, 0},
		{"LargePayload", everyone, testLargePayload, 0},
		{"UnknownFunction", everyone, testUnknownFunction, 0},
		{"Failure", everyone, testFailure, 0},
		{"LogOrder", everyone, testLogOrder, 0},
		{"OddOutputs", everyone, testOddOutputs, 0},
		{"Concurrent", everyone, testConcurrent, 0},
		{"ConcurrentLarge", everyone, testConcurrentLarge, 0},
		{"RoundTrip", goOnly, testRoundTrip, 0},
		{"Declarations", goOnly, testDeclarations, 0},
		{"Error", goOnly, testError, 0},
		{"DeclaredOutcomes", goOnly, testDeclaredOutcomes, 0},
		{"Panic", goOnly, testPanic, 0},
		{"LogFields", goOnly, testLogFields, 0},
		{"Sleep", goOnly, testSleep, 0},
		{"Timeout", goOnly, testTimeout, 0},
		{"Cancel", goOnly, testCancel, 0},
		{"Recall", goOnly, testRecall, 0},
		{"GarbageOutputs", goOnly, testGarbageOutputs, 0},
		{"Flood", goProcess, testFlood, 0},
		{"Goexit", goProcess, testGoexit, 0},
		{"RealWaitCancelled", goProcess, testRealWaitCancelled, impatient},
		{"RealWaitRecalled", goProcess, testRealWaitRecalled, impatient},
		{"Noise", processes, testNoise, 0},
		{"Crash", processes, testCrash, 0},
		{"Taken", everyone, testTaken, 0},
		{"WaitForProcess", processes, testWaitForProcess, 0},
		{"Fatal", processes, testFatal, 0},
		{"HangDisposedOf", processes, testHangDisposedOf, impatient},
		{"HangCancelled", processes, testHangCancelled, impatient},
	}
}

// passes reports whether a test is for what the harness runs.
func (h *Harness) passes(tt test) bool {
	switch tt.who {
	case processes:
		return h.Process
	case goOnly:
		return h.Language == nil
	case goProcess:
		return h.Process && h.Language == nil
	}
	return true
}

// Run runs the suite, on the system's clock and on a virtual one.
func Run(t *testing.T, h Harness) {
	for _, c := range []string{"System", "Virtual"} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			if h.Language != nil {
				runShared(t, h, c == "Virtual")
				return
			}
			for _, tt := range tests() {
				if !h.passes(tt) {
					continue
				}
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					b := newBench(t, h, c == "Virtual", tt.patience)
					if tt.name == "Timeout" || tt.name == "Cancel" || tt.name == "Recall" {
						b.long = time.Hour
					}
					b.run(func() {
						b.inv = h.New(t, b.clk)
						if b.inv == nil {
							return
						}
						tt.run(b)
						b.close()
					})
				})
			}
		})
	}
}

// runShared runs the tests one after the other on one Invoker.
func runShared(t *testing.T, h Harness, virtual bool) {
	shared := newBench(t, h, virtual, impatient)
	if virtual {
		shared.virtual.Auto()
		defer shared.virtual.Close()
	}
	shared.inside(func() { shared.inv = h.New(t, shared.clk) })
	if shared.inv == nil {
		return
	}
	defer shared.inside(shared.close)
	for _, tt := range tests() {
		if !h.passes(tt) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			b := *shared
			b.T = t
			b.inside(func() { tt.run(&b) })
		})
	}
}

// bench is one test of the suite.
type bench struct {
	*testing.T
	h           Harness
	clk         clock.Clock
	virtual     *clock.Virtual // nil on System
	patience    time.Duration  // of virtual
	long, short time.Duration
	inv         Invoker
}

func newBench(t *testing.T, h Harness, virtual bool, patience time.Duration) *bench {
	if !virtual {
		return &bench{T: t, h: h, clk: clock.System(), long: 50 * time.Millisecond, short: 10 * time.Millisecond, patience: patience}
	}
	v := clock.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), &clock.VirtualOptions{Strict: true, Patience: patience})
	return &bench{T: t, h: h, clk: v, virtual: v, long: time.Hour, short: 5 * time.Minute, patience: patience}
}

func (b *bench) close() {
	if err := b.inv.Close(context.Background()); err != nil {
		b.Errorf("Close: %v", err)
	}
}

// run runs f in a goroutine of the clock and lets time pass until it is done.
func (b *bench) run(f func()) {
	switch {
	case b.virtual == nil:
		b.inside(f)
	case b.patience > 0: // the end cannot be told from a call that holds no time
		b.virtual.Auto()
		b.inside(f)
		b.virtual.Close()
	default:
		g := clock.NewGroup(b.clk, 0)
		done := false
		b.virtual.Do("test", func() { g.Go("test", func() { f(); done = true }) })
		b.virtual.Run(24 * time.Hour)
		if !done && !b.Failed() {
			b.Errorf("the test did not end; waiting: %v", b.virtual.Waiting())
		}
	}
}

// inside runs f in a goroutine of a clock that moves by itself.
func (b *bench) inside(f func()) {
	g := clock.NewGroup(b.clk, 0)
	done := false
	ended := make(chan struct{}) //clock:outside the test itself is of the real world
	b.clk.Inside("test", func() {
		g.Go("test", func() { defer close(ended); f(); done = true })
	})
	<-ended //clock:outside the test itself is of the real world
	if !done && !b.Failed() {
		b.Error("the test ended early")
	}
}

func request(function, text string) *call.Request {
	return &call.Request{
		InvocationID: "inv-1", Function: function,
		Inputs:  []call.Input{{Name: "item", Value: bindings.StringValue(text)}},
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

// lives checks that functions can be called.
func (b *bench) lives() {
	b.Helper()
	if resp, _ := b.invoke(context.Background(), request("Log", "1")); resp.Status != call.Succeeded {
		b.Errorf("a call afterwards failed: %v", resp.Error)
	}
}
