// Package docs_test runs the Go code of README.md and docs: what a reader copies
// from there compiles, and passes.
package docs_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/scenario"
	"github.com/redeliver/redeliver/triggers"
)

func TestPoison(t *testing.T) {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, 15*time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned) // 5 hours of waits, in milliseconds
	h.WantAttempts("ProcessOrder", 25)
	h.WantQueue("orders-poison", `{"id":"7"}`)
}

func TestSampleRuns(t *testing.T) {
	h := hosttest.New(t, &hosttest.Options{Dir: "../functions/samples/orders"})
	h.Send("orders", `{"id":"7","flaky":2}`)
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	h.WantAttempts("ProcessOrder", 3)
}

func TestABillThatFailsLeavesTheOrder(t *testing.T) {
	place := functions.New()
	place.HTTP("Place", func(w http.ResponseWriter, r *http.Request) {
		if err := functions.SetOutput(r.Context(), "out", "7"); err != nil {
			functions.Fail(r.Context(), err)
		}
	}, functions.QueueOutput("out", "bills"))
	bill := functions.New()
	bill.Queue("Bill", "bills", func(context.Context, functions.QueueMessage) error {
		return errors.New("ledger is closed")
	})

	orders := hosttest.New(t, &hosttest.Options{App: "orders", Handlers: place})
	billing := orders.Beside(&hosttest.Options{App: "billing", Handlers: bill})
	orders.Request("POST", "/api/Place", "")
	billing.AwaitSettled("Bill", triggers.Poisoned)
	orders.WantAttempts("billing/Bill", 5)
	orders.WantAttempts("Place", 1)
}

func TestServiceBusEndsInTheDeadLetterQueue(t *testing.T) {
	app := functions.New()
	app.ServiceBusQueue("Ship", "parcels", func(context.Context, functions.ServiceBusMessage) error {
		return errors.New("carrier unavailable")
	}, functions.FixedDelay(4, 10*time.Second))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte(`{"id":"7"}`)})
	h.AwaitKind(journal.DeadLettered) // by the broker, after the tenth abandon
	h.WantAttempts("Ship", 50)        // 5 attempts in each of 10 deliveries
	dead := h.ServiceBusMessages("parcels/$DeadLetterQueue")
	if len(dead) != 1 || dead[0].ApplicationProperties[servicebus.DeadLetterReason] != "MaxDeliveryCountExceeded" {
		t.Errorf("dead letters: %v", dead)
	}
}

func TestEventGridTriesForADay(t *testing.T) {
	app := functions.New()
	app.EventGrid("OnOrder", func(context.Context, functions.EventGridEvent) error {
		return errors.New("index is read-only")
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json": `{"version": "2.0", "redeliver": {"eventGrid": {"topics": [
			{"name": "shop", "subscriptions": [{"name": "index", "function": "OnOrder"}]}]}}}`,
	}})
	h.PublishEvents("shop", `[{"id":"1","subject":"/orders/7","eventType":"Shop.Ordered","eventTime":"2030-01-01T00:00:00Z","data":{}}]`)
	h.AwaitKind(journal.EventDropped) // with deadLetterContainer: journal.DeadLettered
	attempts := h.Attempts("OnOrder")
	if last := attempts[len(attempts)-1].Time.Sub(hosttest.Start); len(attempts) != 30 || last != 23*time.Hour+46*time.Minute+40*time.Second {
		t.Errorf("%d attempts, the last after %v", len(attempts), last)
	}
}

func TestEventHubsLoseEventsThatNoPolicySaves(t *testing.T) {
	app := functions.New()
	app.EventHubBatch("Meter", "readings", func(_ context.Context, _ functions.EventHubPartition, events []functions.EventHubEvent) error {
		if events[0].Text() == "bad" {
			return errors.New("no reading")
		}
		return nil
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.SendEvents("readings", "meter-1", "bad")
	h.SendEvents("readings", "meter-1", "good") // of the same key: behind it
	h.WantAttempts("Meter", 1)                  // time stands still, and so does the partition
	h.AwaitSettled("Meter", triggers.Checkpointed)
	h.AwaitSettled("Meter", triggers.Checkpointed)
	h.WantAttempts("Meter", 6)
}

func TestCosmosWithoutPolicyGoesOn(t *testing.T) {
	app := functions.New()
	app.CosmosDB("Index", "shop", "orders", func(context.Context, []functions.CosmosDocument) error {
		return errors.New("index is read-only")
	}, functions.CreateLeases())

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.CreateCosmos("shop", "orders")
	h.WriteCosmos("shop", "orders", `{"id":"7"}`)
	h.AwaitSettled("Index", triggers.Checkpointed)
	h.WantAttempts("Index", 1)
}

func TestOnlyPassingFaultsAreRetried(t *testing.T) {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		err := errors.New("card refused") // what the payment service said
		if !functions.IsTransient(err) {
			return functions.Permanent(err)
		}
		return err
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantAttempts("ProcessOrder", 5) // one in each of 5 deliveries, not 25
}

func TestChargesOnce(t *testing.T) {
	type order struct{ ID string }
	charges := map[string]int{} // what the payment service did, by idempotency key
	app := functions.New()
	functions.QueueJSON(app, "ProcessOrder", "orders", func(_ context.Context, o order) error {
		if charges[o.ID] == 0 { // the service knows the key: a second call does nothing
			charges[o.ID]++
		}
		return errors.New("receipt not written") // fails after the charge
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantAttempts("ProcessOrder", 25)
	if got := charges["7"]; got != 1 {
		t.Errorf("25 attempts charged %d times, want once", got)
	}
}

func TestCallerDoesNotWaitLong(t *testing.T) {
	app := functions.New()
	app.HTTP("Quote", func(w http.ResponseWriter, r *http.Request) {
		functions.Fail(r.Context(), errors.New("no quote"))
	}, functions.FixedDelay(2, 500*time.Millisecond))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if got := h.Request("GET", "/api/Quote", "").StatusCode; got != 500 {
		t.Errorf("status %d, want 500", got)
	}
	h.WantAttempts("Quote", 3)
	if got := h.Clock().Now().Sub(hosttest.Start); got != time.Second {
		t.Errorf("the caller waited %v, want 1s", got)
	}
}

func TestBatchWorkWaitsLonger(t *testing.T) {
	app := functions.New()
	app.Queue("Bill", "bills", func(context.Context, functions.QueueMessage) error {
		return errors.New("ledger is closed")
	}, functions.ExponentialBackoff(4, 10*time.Second, 15*time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app, Seed: 1}) // the seed decides the jitter
	h.Send("bills", "7")
	h.AwaitSettled("Bill", triggers.Released)
	waits := h.Select(func(r *journal.Record) bool { return r.Kind == journal.RetryScheduled })
	for i := 1; i < len(waits); i++ {
		if waits[i].Delay <= waits[i-1].Delay {
			t.Errorf("wait %d is %v, after %v", i+1, waits[i].Delay, waits[i-1].Delay)
		}
	}
}

func TestOneLayerOfRetry(t *testing.T) {
	calls := 0
	charge := func() error { calls++; return errors.New("unavailable") } // fails fast, no loop of its own
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return charge()
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	if got := len(h.Attempts("ProcessOrder")); got != calls {
		t.Errorf("%d calls in %d attempts", calls, got)
	}
}

func TestRetriesLeaveATrace(t *testing.T) {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		r := functions.Retry(ctx)
		if r.RetryCount == 0 {
			return errors.New("connection reset")
		}
		functions.Logger(ctx).Warn("trying again", "retry", r.RetryCount, "after", r.Exception.Message)
		return nil
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Deleted)
	warnings := h.Select(func(r *journal.Record) bool { return r.Kind == journal.HandlerLog && r.Level == "warning" })
	if len(warnings) != 1 {
		t.Errorf("%d warnings, want 1: a cured fault is still a fault", len(warnings))
	}
}

func TestNoPolicyIsNotTheLastAttempt(t *testing.T) {
	gaveUp := 0
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		if r := functions.Retry(ctx); r != nil && r.LastAttempt() {
			gaveUp++
		}
		return errors.New("unavailable")
	}) // no policy: Retry returns nil

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantAttempts("ProcessOrder", 5)
	if gaveUp != 0 {
		t.Errorf("gave up %d times without a policy", gaveUp)
	}
}

func TestStatus500IsNoFailure(t *testing.T) {
	app := functions.New()
	app.HTTP("Quote", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no quote", http.StatusInternalServerError) // an answer: sent as it is
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Request("GET", "/api/Quote", "")
	h.WantAttempts("Quote", 1)
}

// Every Go block of the documents is in this file, or in another one of this
// folder.
func TestCodeOfDocuments(t *testing.T) {
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, name := range tests {
		code.WriteString(read(t, name))
	}
	for _, name := range append(pages(t), "../README.md") {
		for i, block := range strings.Split(read(t, name), "```go\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			if !strings.Contains(code.String(), block) {
				t.Errorf("%s: Go block %d is not in a test:\n%s", name, i+1, block)
			}
		}
	}
}

// Every scenario of the documents holds: a block of "yaml" is one, other files are "yml".
// README's is run on the sample.
func TestScenariosOfDocuments(t *testing.T) {
	ran := 0
	for _, name := range append(pages(t), "../README.md") {
		if strings.HasPrefix(name, "kits") { // their tests are beside the kits
			continue
		}
		for _, block := range strings.Split(read(t, name), "```yaml\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			list, faults := scenario.Parse(filepath.Base(name), []byte(block))
			if len(faults) > 0 {
				t.Errorf("%s: %v", name, faults)
			}
			for _, s := range list {
				res := scenario.Run(context.Background(), s, &scenario.Options{App: "../functions/samples/orders"})
				for _, f := range res.Failures {
					t.Error(f.String())
				}
				ran++
			}
		}
	}
	if ran < 25 {
		t.Errorf("%d scenarios were found", ran)
	}
}

// The questions of a team are answered by their scenarios, and each is red for an app that is
// wrong.
func TestQuestionsOfATeam(t *testing.T) {
	t.Parallel()
	wrong := map[string][]string{ // pairs: text of the right app, and of the wrong one
		"an order that always fails":                     {"maxRetryCount: 4", "maxRetryCount: 3"},
		"an order that is sent three times":              {"requiresDuplicateDetection: true", "requiresDuplicateDetection: false"},
		"poison orders are given back":                   {"[{do: fail, times: 5}]", "fail"},
		"a partition waits for its first event":          {"maxRetryCount: -1", "maxRetryCount: 3"},
		"a report that was missed":                       {"0 0 * * * *\"", "0 0 * * * *\", useMonitor: false"},
		"steps of a session":                             {"requiresSession: true, ", "", ", isSessionsEnabled: true", ""},
		"a payment service that is down for three calls": {"failures: 3", "failures: 4"},
		"an outage of storage":                           {"handler: {outputs: {shipped: a}}", "handler: succeed"},
		"a crash after the output":                       {"handler: {outputs: {out: {order: 7}}}", "handler: {outputs: {out: {ordr: 7}}}"},
		"an instance goes in a wait":                     {"maxRetryCount: 3", "maxRetryCount: 0"},
		"a picture that is no picture":                   {"handler: fail", "handler: [{do: fail, times: 4}]"},
		"a subscriber that is down for a day":            {", deadLetterContainer: dead", ""},
	}
	_, section, _ := strings.Cut(read(t, "testing.md"), "### Twelve questions of a team")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```yaml\n")[1:]
	if len(blocks) != len(wrong) {
		t.Errorf("%d questions, want %d", len(blocks), len(wrong))
	}
	failures := func(t *testing.T, text string) []scenario.Failure {
		t.Helper()
		list, faults := scenario.Parse("testing.md", []byte(text))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return scenario.Run(context.Background(), list[0], nil).Failures
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range failures(t, text) {
				t.Error(f.String())
			}
			pairs := wrong[name]
			for i := 0; i < len(pairs); i += 2 {
				if !strings.Contains(text, pairs[i]) {
					t.Fatalf("no %q in it", pairs[i])
				}
			}
			if other := strings.NewReplacer(pairs...).Replace(text); len(failures(t, other)) == 0 {
				t.Errorf("it holds for a wrong app too:\n%s", other)
			}
		})
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func TestCountsDoNotSurvive(t *testing.T) {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(context.Context, functions.QueueMessage) error {
		return errors.New("payment service unavailable")
	}, functions.FixedDelay(4, time.Minute))

	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", `{"id":"7"}`)
	h.Advance(90 * time.Second)
	h.Kill()                             // in the second retry wait
	h.WantHidden("orders", `{"id":"7"}`) // until its visibility timeout ends, by the clock
	h.StartAgain()
	h.AwaitSettled("ProcessOrder", triggers.Poisoned)
	h.WantDeliveries("ProcessOrder", 2, 5, 5, 5, 5)
}
