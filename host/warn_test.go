package host_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
)

// hostFile is a host.json with a policy of that many retries.
func hostFile(retries string) string {
	return `{"version":"2.0","retry":{"strategy":"fixedDelay","maxRetryCount":` + retries + `,"delayInterval":"00:00:01"}}`
}

// A start warns once, in one line for all functions, that their triggers have no official
// support for retries (spec host-and-retry 2.7); a reload does not repeat it, nor
// that a queue has no poison queue.
func TestWarningsAreGivenOnce(t *testing.T) {
	t.Parallel()
	app := functions.New()
	succeed := func(context.Context, functions.QueueMessage) error { return nil }
	app.Queue("Orders", "orders", succeed)
	app.Queue("Rest", "orders-poison", succeed)
	var log bytes.Buffer
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app, Logger: zerolog.New(zerolog.SyncWriter(&log)),
		Files: map[string]string{"host.json": hostFile("1")},
	})
	for _, retries := range []string{"2", "3"} {
		if err := h.Edit("host.json", hostFile(retries)); err != nil {
			t.Fatal(err)
		}
	}
	if h.Generation() != 3 {
		t.Fatalf("generation %d, want two reloads", h.Generation())
	}
	for _, want := range []string{`"functions":["Orders","Rest"],"help"`, `retries will soon not be supported`, `"lint":"L-12"`} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("%s was logged %d times, want once:\n%s", want, n, &log)
		}
	}
}

// A list of functions to run is told in one line, which names it
// (spec host-and-retry 6.2). A function that is in error is not indexed, so nothing is
// said about its policy (2.7).
func TestListOfFunctionsIsTold(t *testing.T) {
	t.Parallel()
	app := functions.New()
	succeed := func(context.Context, functions.QueueMessage) error { return nil }
	app.Queue("Orders", "orders", succeed)
	app.Queue("Others", "others", succeed)
	app.Queue("Wrong", "wrong", succeed)
	const list = `{"version":"2.0","functions":["orders","WRONG"],"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"0:1"}}`
	var log bytes.Buffer
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app, Logger: zerolog.New(zerolog.SyncWriter(&log)), InError: []string{"Wrong"},
		Files: map[string]string{
			"host.json":           list,
			"Wrong/function.json": `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"%NONE%"}]}`,
		},
	})
	if err := h.Edit("host.json", list+"\n"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		`"level":"info","functions":["orders","WRONG"]`: 1,
		`"functions":["Orders"],"help"`:                 1,
		`"Wrong","help"`:                                0,
		`Others`:                                        0,
	} {
		if n := strings.Count(log.String(), text); n != want {
			t.Errorf("%s was logged %d times, want %d:\n%s", text, n, want, &log)
		}
	}
}

// The journal keeps what to do about a refused edit, where the fault knows it.
func TestRefusedEditHasHint(t *testing.T) {
	t.Parallel()
	file := func(queue string) string {
		return `{"bindings":[{"type":"queueTrigger","direction":"in","name":"m","queueName":"` + queue + `"}]}`
	}
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{"Orders/function.json": file("orders")}})
	if err := h.Edit("Orders/function.json", file("%QUEUE%")); err == nil {
		t.Fatal("the edit was taken")
	}
	refused := h.AwaitKind(journal.GenerationRefused)
	if len(refused.Fields) != 1 || refused.Fields[0].Key != "hint" || !strings.HasPrefix(refused.Fields[0].Value, "set QUEUE ") {
		t.Errorf("fields of %v = %q, want the hint", refused, refused.Fields)
	}
}
