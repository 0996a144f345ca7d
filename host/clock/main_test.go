package clock_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// TestMain fails the package when tests leave goroutines behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(); left != "" {
			fmt.Fprintln(os.Stderr, "leaked goroutines:\n"+left)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked returns the stacks of all goroutines but this one. A goroutine that has done
// its work may need a moment to disappear, so it yields a while before it complains.
func leaked() string {
	deadline := time.Now().Add(2 * time.Second)
	for runtime.NumGoroutine() > 1 && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if runtime.NumGoroutine() == 1 {
		return ""
	}
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	_, others, _ := strings.Cut(string(buf), "\n\n")
	if !strings.Contains(others, "host/clock") {
		return "" // signal handling and the like
	}
	return others
}

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func background() context.Context { return context.Background() }

// strict are the options of most tests.
func strict() *clock.VirtualOptions { return &clock.VirtualOptions{Strict: true} }

// A trace collects lines; safe for use by foreign goroutines too.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (tr *trace) add(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

func (tr *trace) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return strings.Join(tr.lines, " ")
}

func (tr *trace) is(t *testing.T, want string) {
	t.Helper()
	if got := tr.String(); got != want {
		t.Errorf("order of events\n got %s\nwant %s", got, want)
	}
}

// since returns how far a clock has moved from epoch.
func since(v *clock.Virtual) time.Duration { return v.Now().Sub(epoch) }

// mustPanic runs f and returns the text of its panic.
func mustPanic(t *testing.T, f func()) (text string) {
	t.Helper()
	defer func() {
		r := recover()
		if r == nil {
			t.Error("no panic")
			return
		}
		text = fmt.Sprint(r)
	}()
	f()
	return ""
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("got %q, want %q in it", text, p)
		}
	}
}
