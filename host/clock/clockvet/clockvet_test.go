package clockvet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/clock/clockvet"
)

// TestModule is the guard itself: no code under the clock goes around it.
func TestModule(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found, err := clockvet.Module(root,
		"cmd",              // the program: starts the clock, and lives in real time itself
		"host/invokertest", // a test suite: its handlers are the outside world
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestFindsEveryBreach shows that the guard can fail: every line marked "want" is found, and no other.
func TestFindsEveryBreach(t *testing.T) {
	t.Parallel()
	const src = `package p

import (
	"context"
	clk "time"
	"os/signal"
	. "sync" // want dot import of sync
	"golang.org/x/sync/errgroup"
)

type t struct {
	done chan struct{} // want channel type
	tick clk.Duration
}

func f(ctx context.Context, in <-chan int) { // want channel type
	go f(ctx, nil) // want go statement
	_ = clk.Now() // want time.Now
	_ = clk.Since(clk.Time{}) // want time.Since
	_ = clk.Until(clk.Time{}) // want time.Until
	clk.Sleep(clk.Second) // want time.Sleep
	clk.AfterFunc(1, nil) // want time.AfterFunc
	_ = clk.After // want time.After
	_ = clk.Tick // want time.Tick
	_ = clk.NewTimer // want time.NewTimer
	_ = clk.NewTicker // want time.NewTicker
	_, _ = context.WithCancel(ctx) // want context.WithCancel
	_, _ = context.WithCancelCause(ctx) // want context.WithCancelCause
	_, _ = context.WithTimeout(ctx, 1) // want context.WithTimeout
	_, _ = context.WithTimeoutCause(ctx, 1, nil) // want context.WithTimeoutCause
	_, _ = context.WithDeadline(ctx, clk.Time{}) // want context.WithDeadline
	_, _ = context.WithDeadlineCause(ctx, clk.Time{}, nil) // want context.WithDeadlineCause
	context.AfterFunc(ctx, nil) // want context.AfterFunc
	signal.NotifyContext(ctx) // want signal.NotifyContext
	_ = errgroup.Group{} // want errgroup.Group
	x := func(int) {}
	<-ctx.Done() // want receive from a channel
	x(<-in) // want receive from a channel
	out <- 1 // want send on a channel
	select { // want select statement
	default:
	}
	ctx = context.WithValue(context.Background(), 1, 2)
	_ = clk.Date(2030, 1, 1, 0, 0, 0, 0, clk.UTC)
	go f(ctx, nil) //clock:outside serves a socket
	//clock:outside the process is waited for below
	go f(ctx, nil)
	//clock:outside // want //clock:outside without a reason
	go f(ctx, nil) // want go statement
	_ = b.time.Now()
}
`
	// A directive cannot carry a want comment and stay empty.
	code := strings.Replace(src, " // want //clock:outside without a reason", "", 1)
	var want []string
	for i, line := range strings.Split(src, "\n") {
		if _, use, ok := strings.Cut(line, "// want "); ok {
			want = append(want, fmt.Sprintf("%d %s", i+1, use))
		}
	}
	found, err := clockvet.Source("p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s", f.Pos.Line, f.Use))
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

func TestModuleChoosesFiles(t *testing.T) {
	t.Parallel()
	const bad = "\nfunc f() { go f() }\n"
	const under = "package p\nimport _ \"github.com/redeliver/redeliver/host/clock\"\n"
	dir := t.TempDir()
	for name, src := range map[string]string{
		"go.mod":               "module github.com/redeliver/redeliver\n",
		"under/a.go":           under,
		"under/b.go":           "package p\n" + bad,
		"under/b_test.go":      "package p\n" + bad,
		"under/exempt.go":      "//clock:outside talks to a socket\n\npackage p\n" + bad,
		"free/a.go":            "package p\n" + bad,
		"host/clock/a.go":      under + bad,
		"host/clock/sub/a.go":  under + bad,
		"cmd/deep/a.go":        under + bad,
		"testdata/a.go":        under + bad,
		"other/go.mod":         "module other\n",
		"other/a.go":           under + bad,
		"under/.hidden/a.go":   under + bad,
		"under/deeper/ok/a.go": under,
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := clockvet.Module(dir, "cmd")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.String())
	}
	want := []string{
		"host/clock/sub/a.go:4:12: go statement: use clock.Group",
		"under/b.go:3:12: go statement: use clock.Group",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "under", "c.go"), []byte("package"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := clockvet.Module(dir); err == nil {
		t.Error("a file that does not parse is no error")
	}
}
