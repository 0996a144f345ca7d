package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
)

// The kinds of package journal and of schemas/journal.json are the same.
func TestJournalKindsAndSchema(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties struct {
			Kind struct{ Enum []string }
		}
	}
	if err := json.Unmarshal(schemas.Schema(schemas.Journal), &schema); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, k := range journal.Kinds() {
		kinds = append(kinds, string(k))
	}
	want := schema.Properties.Kind.Enum
	slices.Sort(kinds)
	slices.Sort(want)
	if diff := cmp.Diff(kinds, want); diff != "" {
		t.Errorf("kinds of the package and of the schema (-package +schema):\n%s", diff)
	}
}

// all is an app that makes every kind of record that a host can write by now.
func all() *functions.App {
	app := functions.New()
	app.Queue("Orders", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).WarnContext(ctx, "got one", "text", m.Text(), "n", 1)
		switch m.Text() {
		case "crash":
			os.Exit(3)
		case "fail":
			return errBroken
		case "slow":
			return functions.Sleep(ctx, 7*time.Minute)
		case "hang":
			return functions.Sleep(ctx, 24*time.Hour)
		case "permanent":
			return functions.Poison(functions.Permanent(errBroken))
		}
		return errors.Join(functions.SetOutput(ctx, "out", "done"), functions.SetOutput(ctx, "mail", "done"), functions.SetOutput(ctx, "row", `{"PartitionKey":"p","RowKey":"r","ETag":"*"}`))
	})
	app.Queue("Flaky", "flaky", func(_ context.Context, m functions.QueueMessage) error {
		if m.DequeueCount == 1 {
			return errBroken
		}
		return nil
	})
	app.Timer("Tick", "0 */5 * * * *", func(context.Context, functions.TimerInfo) error { return errBroken })
	app.HTTP("hello", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "DELETE" {
			functions.Fail(r.Context(), errors.New("not that"))
		}
		fmt.Fprint(w, "hello")
	})
	return app
}

// Every record that a host writes is as schemas/journal.json describes it.
func TestRecordsFitTheSchema(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	function := func(rest string) string {
		return `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"orders"},{"type":"queue","direction":"out","name":"out","queueName":"done"},{"type":"sendGrid","direction":"out","name":"mail"},{"type":"table","direction":"out","name":"row","tableName":"rows"}]` + rest + `}`
	}
	h := hosttest.New(t, &hosttest.Options{
		Executable: exe, InError: []string{"Broken"}, Env: []string{handlerVariable + "=all", "GORACE=atexit_sleep_ms=0"}, // the race detector else sleeps a second at each exit
		Files: map[string]string{
			"host.json": `{"version":"2.0","functionTimeout":"00:30:00","redeliver":{"eventGrid":{"topics":[{"name":"t","subscriptions":[
				{"name":"s","function":"Nobody","maxDeliveryAttempts":1}]}]}}}`,
			"Broken/function.json": `{}`,
			"Orders/function.json": function(`,"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:01:00"}`),
			"Flaky/function.json":  `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"flaky"}],"redeliver":{"circuitBreaker":{"failures":1,"pause":"00:02:00"}}}`,
		},
	})
	h.Send("orders", "ok") // by itself: a crash ends the attempts beside it
	if err := h.FailOutput("Orders/mail", 1, ""); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"ok", "fail", "slow", "hang", "permanent", "crash"} {
		h.Send("orders", body)
	}
	h.SendRaw("orders", "no base64!")
	h.PublishEvents("t", `[{"id":"1","subject":"s","eventType":"t","eventTime":"2030-01-01T00:00:00Z"}]`)
	h.Request("GET", "/api/hello", "")
	h.Request("DELETE", "/api/hello", "")
	h.Call("Orders", "fail")
	h.Advance(11 * time.Minute)
	if err := h.Edit("Orders/function.json", `{`); err == nil {
		t.Error("the edit was not refused")
	}
	if err := h.Edit("Orders/function.json", function(`,"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:01:00"}`)); err != nil { // undoes it
		t.Fatal(err)
	}
	h.Send("flaky", "x")
	h.AwaitKind(journal.CircuitClosed)
	if err := h.Edit("Orders/function.json", function(`,"retry":{"strategy":"fixedDelay","maxRetryCount":3,"delayInterval":"01:00:00"}`)); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "fail")
	h.Advance(time.Minute)
	if err := h.Edit("Orders/function.json", function(`,"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:01:00"}`)); err != nil { // cuts the wait short
		t.Fatal(err)
	}
	h.Clock().Do("put", func() {
		if _, err := queue.PutOrCreate(context.Background(), h.Services().Storage().Queue("short-lived"), "x", &queue.PutOptions{TTL: time.Second}); err != nil {
			t.Error(err)
		}
	})
	h.Advance(time.Minute)
	h.Clock().Do("purge", func() {
		if err := h.Services().Storage().Queue("done").Clear(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}

	seen := map[journal.Kind]int{}
	for _, r := range h.Journal().Records() {
		seen[r.Kind]++
		line := r.AppendLine(nil)
		doc, fault := schemas.Parse("journal", line)
		if fault != nil {
			t.Fatalf("record %d is no JSON: %v\n%s", r.Seq, fault, line)
		}
		for _, fault := range doc.Validate(schemas.Journal) {
			t.Errorf("record %d: %v\n%s", r.Seq, fault, line)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	// Records that need a crash of the host, services outside, or services and controls of
	// later versions.
	later := []journal.Kind{
		journal.LockRenewed, journal.LockExpired, journal.DeadLettered, journal.Forwarded, journal.CheckpointWritten, journal.TransactionEnded, journal.EventDelayed,
		journal.ServiceUnreachable, journal.ServiceBack, journal.ListenerLockLost, journal.StateLoaded,
		journal.InstanceStarted, journal.OrchestrationTurn, journal.TaskScheduled, journal.TaskEnded, journal.EventRaised, journal.InstanceControlled, journal.InstanceEnded, journal.EntityBatch, journal.DurableFinding,
	}
	var missing []string
	for _, k := range journal.Kinds() {
		if seen[k] == 0 && !slices.Contains(later, k) {
			missing = append(missing, string(k))
		}
	}
	if len(missing) > 0 {
		t.Errorf("the run wrote no %s", strings.Join(missing, ", "))
	}
}
