package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// Failed attempts of every sort are tried again (spec host-and-retry 2.2).
func TestFailedAttempts(t *testing.T) {
	t.Parallel()
	const policy = `"retry":{"strategy":"fixedDelay","maxRetryCount":2,"delayInterval":"00:00:10"}`
	ran := func(h *hosttest.Host) int {
		return len(h.Select(func(r *journal.Record) bool { return r.Kind == journal.HandlerLog }))
	}
	for _, tt := range []struct {
		name    string
		handler func(ctx context.Context, tr *functions.Trigger) error
		binding string
		host    string
		raw     string // wire text; "" for the body "x"
		status  string
		text    string // in the error
		runs    int
	}{
		{name: "handler fails", handler: func(context.Context, *functions.Trigger) error { return errBroken }, status: "failed", text: "broken", runs: 3},
		{name: "handler panics", handler: func(context.Context, *functions.Trigger) error { panic("boom") }, status: "failed", text: "boom", runs: 3},
		{
			name: "timeout", status: "timed_out", text: "timeout value of 00:00:05", runs: 3, host: `"functionTimeout":"00:00:05",`,
			handler: func(ctx context.Context, _ *functions.Trigger) error {
				return functions.Sleep(ctx, time.Hour)
			},
		},
		{
			name: "timeout, success after it", status: "timed_out", text: "timeout value", runs: 3, host: `"functionTimeout":"00:00:05",`,
			handler: func(ctx context.Context, _ *functions.Trigger) error {
				_ = functions.Sleep(ctx, time.Hour)
				return nil
			},
		},
		{name: "body is no text", handler: func(context.Context, *functions.Trigger) error { return nil }, raw: "/////w==", status: "failed", text: "UTF-8", runs: 0},
		{
			name: "output fails", status: "failed", text: `"out"`, runs: 3,
			binding: `,{"type":"queue","direction":"out","name":"out","queueName":"{nowhere}"}`,
			handler: func(ctx context.Context, _ *functions.Trigger) error { return functions.SetOutput(ctx, "out", "x") },
		},
		{
			name: "output looks like JSON and is none", status: "failed", text: "JSON", runs: 3,
			binding: `,{"type":"queue","direction":"out","name":"out","queueName":"somewhere"}`,
			handler: func(ctx context.Context, _ *functions.Trigger) error { return functions.SetOutput(ctx, "out", "{x}") },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			app := functions.New()
			app.Handle("F", func(ctx context.Context, tr *functions.Trigger) error {
				functions.Logger(ctx).Info("ran")
				return tt.handler(ctx, tr)
			})
			files := map[string]string{
				"host.json":       `{"version":"2.0",` + tt.host + policy + `}`,
				"F/function.json": `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"in-queue"}` + tt.binding + `]}`,
			}
			h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: files})
			if tt.raw != "" {
				h.SendRaw("in-queue", tt.raw)
			} else {
				h.Send("in-queue", "x")
			}
			h.AwaitSettled("F", "")
			h.WantAttempts("F", 3)
			for _, r := range h.Attempts("F") {
				if r.Status != tt.status || !strings.Contains(r.Error, tt.text) {
					t.Errorf("attempt %d: status %q, error %q; want %q and %q", r.Attempt, r.Status, r.Error, tt.status, tt.text)
				}
			}
			if got := ran(h); got != tt.runs {
				t.Errorf("the handler ran %d times, want %d", got, tt.runs)
			}
		})
	}
}

// A body that cannot be decoded goes to poison without an attempt (spec storage
// 4.1 row 1), raw text untouched, with the hint of 4.3.
func TestUndecodableBody(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: alwaysFails()})
	h.SendRaw("orders", "plain text!")
	r := h.AwaitSettled("Orders", triggers.Undecodable)
	h.WantAttempts("Orders", 0)
	if r.Target != "orders-poison" || !strings.Contains(r.Message, "messageEncoding") {
		t.Errorf("settled = %v, want target orders-poison and a hint at messageEncoding", r)
	}
	m := h.Messages("orders-poison")
	if len(m) != 1 || m[0].Text != "plain text!" || m[0].DequeueCount != 0 {
		t.Errorf("poison queue holds %+v, want the raw text with dequeue count 0", m)
	}
	if got := h.PoisonError(m[0].ID); !strings.Contains(got, "not base64") {
		t.Errorf("error of the poison message = %q, want the error of the decoding", got)
	}
}

// The host knows why a message is in its poison queue, which the message itself
// cannot say (spec storage 4.2).
func TestPoisonError(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
		return fmt.Errorf("%s failed in delivery %d", m.Text(), m.DequeueCount)
	})
	app.Blob("Files", "files/{name}", func(context.Context, functions.Blob) error { return errors.New("bad file") })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "a")
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.Send("orders", "b")
	h.AwaitSettled("Orders", triggers.Poisoned)
	h.Upload("files/x", "x")
	h.AwaitSettled("Files", triggers.Poisoned)
	var got []string
	for _, m := range append(h.Messages("orders-poison"), h.Messages("webjobs-blobtrigger-poison")...) {
		got = append(got, h.PoisonError(m.ID))
	}
	want := []string{
		`function "Orders": *errors.errorString: a failed in delivery 5`, `function "Orders": *errors.errorString: b failed in delivery 5`, `function "Files": *errors.errorString: bad file`,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("errors (-got +want):\n%s", diff)
	}
	h.Reset()
	if got := h.PoisonError(h.Send("orders-poison", "by hand")); got != "" {
		t.Errorf("error of a message that somebody put there = %q", got)
	}
}

// Outputs reach the next function, with binding expressions from the message.
func TestQueueOutput(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("First", "first", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "out", []string{"one", "two"})
	}, functions.QueueOutput("out", "to-{kind}"))
	app.Queue("Second", "to-plain", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).Info(m.Text())
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("first", `{"kind":"plain"}`)
	h.AwaitSettled("Second", triggers.Deleted)
	h.AwaitSettled("Second", triggers.Deleted)
	var got []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.HandlerLog }) {
		got = append(got, r.Message)
	}
	if diff := cmp.Diff(got, []string{"one", "two"}); diff != "" {
		t.Errorf("messages (-got +want):\n%s", diff)
	}
}

// HTTP: the caller waits for the whole loop and sees the last attempt only; each
// attempt has an ID of its own; a status of 500 is an answer (9.3, 9.4, 2.2, 2.3).
func TestHTTPRetry(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.HTTP("flaky", func(w http.ResponseWriter, r *http.Request) {
		rc := functions.Retry(r.Context())
		if rc.RetryCount < 2 {
			http.Error(w, "discarded", http.StatusTeapot)
			functions.Fail(r.Context(), errBroken)
			return
		}
		fmt.Fprintf(w, "attempt %d of %s", rc.RetryCount+1, r.PathValue("id"))
	}, functions.Route("flaky/{id}"))
	app.HTTP("answers500", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	app.HTTP("fails", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "discarded", http.StatusTeapot)
		functions.Fail(r.Context(), errBroken)
	}, functions.Methods("GET"))
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app,
		Files:    hostJSON(`"retry":{"strategy":"fixedDelay","maxRetryCount":2,"delayInterval":"00:01:00"}`),
	})
	resp := h.Request("GET", "/api/FLAKY/7?x=1", "")
	if resp.StatusCode != 200 || string(resp.Body) != "attempt 3 of 7" {
		t.Errorf("GET /api/flaky/7 = %d %q, want 200 and the third attempt's body", resp.StatusCode, resp.Body)
	}
	if got := h.Clock().Now().Sub(hosttest.Start); got != 2*time.Minute {
		t.Errorf("two retries took %v, want 2m", got)
	}
	ids := map[string]bool{}
	for _, r := range h.Attempts("flaky") {
		ids[r.Invocation] = true
	}
	if len(ids) != 3 {
		t.Errorf("3 attempts had %d invocation IDs, want one each", len(ids))
	}
	h.WantSettled("flaky", triggers.Responded)

	if resp := h.Request("POST", "/api/answers500", ""); resp.StatusCode != 500 {
		t.Errorf("answers500 = %d, want 500", resp.StatusCode)
	}
	h.WantAttempts("answers500", 1)
	if resp := h.Request("GET", "/api/fails", ""); resp.StatusCode != 500 || len(resp.Body) != 0 {
		t.Errorf("fails = %d %q, want 500 and no body", resp.StatusCode, resp.Body)
	}
	h.WantAttempts("fails", 3)
	for path, method := range map[string]string{"/api/fails": "POST", "/api/none": "GET", "/fails": "GET"} {
		if resp := h.Request(method, path, ""); resp.StatusCode != 404 {
			t.Errorf("%s %s = %d, want 404", method, path, resp.StatusCode)
		}
	}
}

// An admin call applies the policy, counts nothing and reaches disabled
// functions (9.5, 5.6).
func TestInvokeByHand(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Orders", "orders", func(_ context.Context, m functions.QueueMessage) error {
		return fmt.Errorf("got %q, dequeued %d times", m.Text(), m.DequeueCount)
	}, functions.FixedDelay(2, time.Minute), functions.Disabled())
	app.Timer("Tick", "0 0 0 1 1 *", func(_ context.Context, info functions.TimerInfo) error { return nil })
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	res := h.Call("orders", "hello")
	if res.Attempts != 3 || res.Err == nil || !strings.Contains(res.Err.Error(), `got "hello", dequeued 0 times`) {
		t.Errorf("Call = %+v, want three failed attempts with the input", res)
	}
	h.WantQueue("orders-poison")
	if res := h.Call("Tick", "ignored"); res.Err != nil {
		t.Errorf("Call of a timer: %v", res.Err)
	}
	if _, err := h.Invoke(context.Background(), "nope", ""); err == nil || !strings.Contains(err.Error(), "no such function") {
		t.Errorf("Invoke of an unknown function = %v", err)
	}
}

// A drain lets queue deliveries keep their token and ends a timer's; it is
// complete when neither invocations nor retries are outstanding (2.6, 7.3).
func TestDrain(t *testing.T) {
	t.Parallel()
	app := functions.New()
	var h *hosttest.Host
	var during []host.DrainStatus
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
		if status, err := h.DrainStatus(); err == nil {
			status.State = ""
			during = append(during, status)
		}
		return errBroken
	}, functions.FixedDelay(1, time.Minute))
	h = hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("orders", "x")
	if err := h.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := host.DrainStatus{State: host.DrainInProgress, OutstandingRetries: 1} // it waits: no invocation
	if got, err := h.DrainStatus(); err != nil || got != want {
		t.Errorf("DrainStatus = %+v, %v; want %+v", got, err, want)
	}
	h.Send("orders", "y") // nobody listens
	h.AwaitSettled("Orders", triggers.Released)
	h.WantAttempts("Orders", 2)
	if diff := cmp.Diff([]host.DrainStatus{{OutstandingInvocations: 1}, {OutstandingInvocations: 1, OutstandingRetries: 1}}, during); diff != "" {
		t.Errorf("during the attempts (-want +got):\n%s", diff)
	}
	want = host.DrainStatus{State: host.DrainCompleted}
	if got, _ := h.DrainStatus(); got != want {
		t.Errorf("DrainStatus = %+v, want %+v", got, want)
	}
	if err := h.Resume(context.Background()); err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Orders", "")
	if got, _ := h.DrainStatus(); got.State != host.DrainDisabled {
		t.Errorf("after resume the state is %s, want Disabled", got.State)
	}
}

// A handler process that exits at every attempt, more often than any crash
// budget: the host lives and the message follows its rule (D-13).
func TestCrashingProcess(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, process(t, "crashes", hostJSON(`"retry":{"strategy":"fixedDelay","maxRetryCount":1,"delayInterval":"00:00:01"}`)))
	h.Send("crash", "x")
	h.AwaitSettled("Crash", triggers.Poisoned)
	h.WantAttempts("Crash", 10)
	for _, r := range h.Attempts("Crash") {
		if r.Status != "failed" || !strings.Contains(r.Error, "exit status 3") {
			t.Errorf("attempt: status %q, error %q; want the exit of the process", r.Status, r.Error)
		}
	}
	if h.State() != host.Running {
		t.Errorf("the host is %s, want Running", h.State())
	}
	h.Send("fine", "x")
	h.AwaitSettled("Fine", triggers.Deleted)
}

func crashes() *functions.App {
	app := functions.New()
	app.Queue("Crash", "crash", func(ctx context.Context, m functions.QueueMessage) error {
		if string(m.Body) == "later" {
			if err := functions.Sleep(ctx, 2*time.Second); err != nil {
				return err
			}
		}
		os.Exit(3)
		return nil
	})
	app.Queue("Fine", "fine", func(context.Context, functions.QueueMessage) error { return nil })
	return app
}

// The platform stops after three crashes; so do we when asked (workerCrash).
func TestWorkerCrashStop(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, process(t, "crashes", hostJSON(`"redeliver":{"workerCrash":"stop"}`)))
	h.Send("crash", "x")
	h.AwaitKind(journal.GenerationRefused)
	if h.State() != host.Error {
		t.Errorf("the host is %s, want Error", h.State())
	}
}

// A crash in a generation that a reload has replaced stops nothing, not even as the
// last of its budget.
func TestWorkerCrashOfARetiredGeneration(t *testing.T) {
	t.Parallel()
	conf := func(timeout string) string {
		return `{"version":"2.0","functionTimeout":"` + timeout + `","extensions":{"queues":{"maxDequeueCount":1}},"redeliver":{"workerCrash":"stop"}}`
	}
	h := hosttest.New(t, process(t, "crashes", map[string]string{"host.json": conf("00:10:00")}))
	for range 2 {
		h.Send("crash", "x")
		h.AwaitSettled("Crash", triggers.Poisoned)
	}
	h.Send("crash", "later")
	h.Advance(time.Second)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	custom := fmt.Sprintf(`"customHandler":{"description":{"defaultExecutablePath":%q}},`, executable)
	if err := h.Edit("host.json", strings.Replace(conf("00:09:00"), "{", "{"+custom, 1)); err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Crash", triggers.Poisoned) // the third crash, of the old process
	h.Advance(time.Minute)
	if h.State() != host.Running || h.Generation() != 2 {
		t.Errorf("the host is %s with generation %d, want the second one running", h.State(), h.Generation())
	}
	h.Send("fine", "x")
	h.AwaitSettled("Fine", triggers.Deleted)
}

// The circuit breaker of one function (14.2).
func TestCircuitBreaker(t *testing.T) {
	t.Parallel()
	fail := true
	app := functions.New()
	app.Queue("Orders", "orders", func(context.Context, functions.QueueMessage) error {
		if fail {
			return errBroken
		}
		return nil
	})
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json":            `{"version":"2.0","extensions":{"queues":{"batchSize":1,"newBatchThreshold":0,"maxDequeueCount":100}}}`,
		"Orders/function.json": queueFunction("orders", `,"redeliver":{"circuitBreaker":{"failures":3,"pause":"00:10:00"}}`),
	}})
	h.Send("orders", "x")
	h.AwaitKind(journal.CircuitOpened)
	h.WantAttempts("Orders", 3)
	h.Advance(9 * time.Minute)
	h.WantAttempts("Orders", 3)
	h.AwaitKind(journal.CircuitHalfOpened)
	h.AwaitKind(journal.CircuitOpened)
	h.WantAttempts("Orders", 4)
	fail = false
	h.AwaitKind(journal.CircuitClosed)
	h.AwaitSettled("Orders", triggers.Deleted)
	h.WantAttempts("Orders", 5)
}

// A timer's loop: the next tick waits for it, the failure is swallowed (4.2,
// 10.5).
func TestTimerRetry(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Timer("Tick", "0 * * * * *", func(context.Context, functions.TimerInfo) error { return errBroken },
		functions.FixedDelay(1, 90*time.Second))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.AwaitSettled("Tick", triggers.Recorded)
	h.AwaitSettled("Tick", triggers.Recorded)
	var got []string
	for _, r := range h.Select(func(r *journal.Record) bool { return r.Kind == journal.AttemptStarted }) {
		got = append(got, r.Time.Sub(hosttest.Start).String())
	}
	want := []string{"1m0s", "2m30s", "2m30s", "4m0s"}
	if diff := cmp.Diff(got[:len(want)], want); diff != "" { // the third tick may have begun
		t.Errorf("attempts at (-got +want):\n%s", diff)
	}
}
