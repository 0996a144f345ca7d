package hosttest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A function in error ends the test unless the error is expected. An expected
// error that does not come ends it too.
func TestFunctionsInError(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Good", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	app.Queue("Bad", "or ders", func(context.Context, functions.QueueMessage) error { return nil })
	nothing := func(*hosttest.Host) {}
	for _, test := range []struct {
		inError []string
		want    string
	}{
		{nil, `function "Bad" is in error: code: Bad.bindings[0].queueName`},
		{[]string{"Bad", "Good"}, `function "Good" is not in error`},
		{[]string{"Bad", "Other"}, `the app has no function "Other"`},
	} {
		if said := fails(t, &hosttest.Options{Handlers: app, InError: test.inError}, nothing); !strings.Contains(said, test.want) {
			t.Errorf("InError %v: %q, want %q", test.inError, said, test.want)
		}
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: app, InError: []string{"bad"}})
	h.Send("orders", "7")
	h.WantAttempts("Good", 1)
}

// The kit writes into no folder of the test author.
func TestDirStaysAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "host.json")
	if err := os.WriteFile(file, []byte(`{"version":"2.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	app := functions.New()
	app.Queue("Good", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	const edited = `{"version":"2.0","functionTimeout":"00:01:00"}`
	said := fails(t, &hosttest.Options{Dir: dir, Handlers: app}, func(h *hosttest.Host) { _ = h.Edit("host.json", edited) })
	if !strings.Contains(said, "set Options.Files") {
		t.Errorf("it says %q", said)
	}
	h := hosttest.New(t, &hosttest.Options{Dir: dir, Handlers: app, Files: map[string]string{}})
	if err := h.Edit("host.json", edited); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != `{"version":"2.0"}` {
		t.Errorf("host.json is %s, %v", text, err)
	}
}

// An app below its module's root is copied with what its program is built of; an edit is
// one of the copy, also when it is of a package outside the app.
func TestCopyOfAnAppInsideAModule(t *testing.T) {
	t.Parallel()
	const sample = "../../functions/samples/orders"
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(sample, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files := map[string]string{}
	for _, name := range []string{"host.json", "../../app.go"} {
		files[name] = read(name)
	}
	h := hosttest.New(t, &hosttest.Options{Dir: sample, Files: map[string]string{"notes/7.txt": "seven"}})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	if err := h.Edit("host.json", strings.Replace(files["host.json"], "{", "{\"functionTimeout\":\"00:01:00\",", 1)); err != nil {
		t.Error(err)
	}
	if err := h.Edit("../../app.go", "no Go"); err == nil || !strings.Contains(err.Error(), "app.go:1:1") {
		t.Errorf("an edit of a package outside the app: %v", err)
	}
	if h.Generation() != 2 {
		t.Errorf("generation %d, want 2", h.Generation())
	}
	for name, want := range files {
		if got := read(name); got != want {
			t.Errorf("the original of %s is now %s", name, got)
		}
	}
	said := fails(t, &hosttest.Options{}, func(h *hosttest.Host) { _ = h.Edit("../../../elsewhere.go", "") })
	if !strings.Contains(said, "it is not in the copy") {
		t.Errorf("an edit outside the copy: %q", said)
	}
}

// A removed folder takes its function along; Processors decide what depends on them.
func TestRemoveAndProcessors(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Handle("Gone", func(context.Context, *functions.Trigger) error { return nil })
	app.Queue("Good", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	for processors, want := range map[int]int{0: 16, 6: 48} {
		h := hosttest.New(t, &hosttest.Options{Handlers: app, Processors: processors, Files: map[string]string{
			"Gone/function.json": `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"gone"}]}`,
		}})
		if got := h.App().Config.Queues.NewBatchThreshold; got != want {
			t.Errorf("%d processors: newBatchThreshold %d, want %d", processors, got, want)
		}
		if err := h.Remove("Gone"); err != nil {
			t.Errorf("Remove: %v", err)
		}
		if h.App().Function("Gone") != nil || h.App().Function("Good") == nil {
			t.Errorf("functions %v after Gone was removed", h.App().Functions)
		}
	}
}

// A Patience that ends before a handler had its time to return would let virtual time
// run past it.
func TestPatienceBelowTheGrace(t *testing.T) {
	t.Parallel()
	said := fails(t, &hosttest.Options{Patience: time.Second}, func(*hosttest.Host) {})
	if !strings.Contains(said, "Options.Patience is 1s: want more than 2s") {
		t.Errorf("it says %q", said)
	}
}
