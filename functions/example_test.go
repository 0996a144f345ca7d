package functions_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// printing is a host that prints what it is told, for the examples.
type printing struct{}

func (printing) Log(l call.Log) {
	fmt.Print("log: ", l.Message)
	for _, f := range l.Fields {
		fmt.Printf(" %s=%s", f.Key, f.Value)
	}
	fmt.Println()
}

func (printing) Sleep(_ context.Context, d time.Duration) error {
	fmt.Println("the host waits", d)
	return nil
}

// attempt calls a function as the host does, and prints what came of it.
func attempt(app *functions.App, req *call.Request) {
	resp := app.Call(context.Background(), req, printing{})
	switch {
	case resp.Error != nil && resp.Asked.Decision != "":
		fmt.Println("failed, asks for", resp.Asked.Decision)
	case resp.Error != nil && resp.Error.Panic:
		fmt.Println("failed by a panic:", resp.Error.Message)
	case resp.Error != nil && resp.Error.Declared.Kind != 0:
		fmt.Println("failed,", resp.Error.Declared.Kind, resp.Error.Declared.Delay)
	case resp.Error != nil:
		fmt.Println("failed")
	default:
		fmt.Println("succeeded")
	}
	for _, name := range req.Outputs {
		if v, ok := resp.Outputs[name]; ok {
			fmt.Printf("%s: %s\n", name, v.Text)
		}
	}
	if r := resp.Return; r != nil && r.HTTPResponse != nil {
		fmt.Printf("%d %s\n", r.HTTPResponse.StatusCode, r.HTTPResponse.Body)
	}
}

func message(function, body string) *call.Request {
	return &call.Request{Function: function, DeliveryCount: 1,
		Inputs: []call.Input{{Name: "message", Value: bindings.BytesValue([]byte(body))}}}
}

// A whole handler. The host starts it; by hand it only says how to.
func ExampleMain() {
	main := func() {
		app := functions.New()
		app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
			functions.Logger(ctx).Info("processing", "body", m.Text())
			return nil
		})
		functions.Main(app)
	}
	_ = main
}

func ExampleApp_HTTP() {
	app := functions.New()
	app.HTTP("order", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "order %s, %s", r.PathValue("id"), r.URL.Query().Get("view"))
	}, functions.Route("orders/{id}"), functions.Methods("GET"), functions.AuthLevel(functions.AuthAnonymous))

	attempt(app, &call.Request{Function: "order", Outputs: []string{"$return"},
		Inputs: []call.Input{{Name: "req", Value: bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
			Method: "GET", URL: "http://localhost:7071/api/orders/7?view=full", Params: map[string]string{"id": "7"},
		}}}}})
	// Output:
	// succeeded
	// 200 order 7, full
}

func ExampleApp_Queue() {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(_ context.Context, m functions.QueueMessage) error {
		fmt.Printf("delivery %d of %s\n", m.DequeueCount, m.Text())
		return errors.New("the warehouse does not answer")
	}, functions.FixedDelay(4, 10*time.Second), functions.Connection("OrdersStorage"))

	attempt(app, message("ProcessOrder", "order 7"))
	// Output:
	// delivery 1 of order 7
	// failed
}

func ExampleQueueJSON() {
	type order struct{ ID string }
	app := functions.New()
	functions.QueueJSON(app, "ProcessOrder", "orders", func(_ context.Context, o order) error {
		fmt.Println("order", o.ID)
		return nil
	})
	attempt(app, message("ProcessOrder", `{"id":"7"}`))
	attempt(app, message("ProcessOrder", `no JSON`))
	// Output:
	// order 7
	// succeeded
	// failed
}

func ExampleApp_Timer() {
	app := functions.New()
	app.Timer("Cleanup", "0 */5 * * * *", func(_ context.Context, t functions.TimerInfo) error {
		fmt.Println("past due:", t.IsPastDue)
		return nil
	}, functions.RunOnStartup())

	attempt(app, &call.Request{Function: "Cleanup",
		Inputs: []call.Input{{Name: "timer", Value: bindings.JSONValue([]byte(`{"IsPastDue":true}`))}}})
	// Output:
	// past due: true
	// succeeded
}

// A function that a function.json describes, or a kind without a method of its
// own.
func ExampleApp_Handle() {
	app := functions.New()
	app.Handle("Thumbnail", func(_ context.Context, t *functions.Trigger) error {
		fmt.Printf("%d bytes of %s\n", len(t.Bytes()), t.Metadata.Get("name"))
		return nil
	}, functions.Binding(`{"type":"blobTrigger","direction":"in","name":"photo","path":"photos/{name}"}`))

	attempt(app, &call.Request{Function: "Thumbnail",
		Inputs:   []call.Input{{Name: "photo", Value: bindings.BytesValue([]byte{1, 2, 3})}},
		Metadata: map[string]bindings.Value{"name": bindings.StringValue("cat.jpg")}})
	// Output:
	// 3 bytes of cat.jpg
	// succeeded
}

// Outputs are declared where the function is registered, and set by name.
func ExampleSetOutput() {
	app := functions.New()
	app.Queue("Split", "baskets", func(ctx context.Context, m functions.QueueMessage) error {
		// One message per element.
		return functions.SetOutput(ctx, "parts", []map[string]int{{"part": 1}, {"part": 2}})
	}, functions.QueueOutput("parts", "parts"))

	req := message("Split", "basket")
	req.Outputs = []string{"parts"}
	attempt(app, req)
	// Output:
	// succeeded
	// parts: [{"part":1},{"part":2}]
}

func ExampleRetry() {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
		switch r := functions.Retry(ctx); {
		case r == nil:
			fmt.Println("no policy")
		case r.LastAttempt():
			fmt.Println("last attempt after:", r.Exception.Message)
		default:
			fmt.Printf("retry %d of %d\n", r.RetryCount, r.MaxRetryCount)
		}
		return nil
	})
	req := message("ProcessOrder", "")
	attempt(app, req)
	req.Retry = &retrycontext.Context{RetryCount: 0, MaxRetryCount: 4}
	attempt(app, req)
	req.Retry = &retrycontext.Context{RetryCount: 4, MaxRetryCount: 4, Exception: &retrycontext.Exception{Message: "boom"}}
	attempt(app, req)
	// Output:
	// no policy
	// succeeded
	// retry 0 of 4
	// succeeded
	// last attempt after: boom
	// succeeded
}

func ExampleFromContext() {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
		inv := functions.FromContext(ctx)
		fmt.Println(inv.ID, inv.Function, inv.DeliveryCount, inv.Deadline.Sub(inv.Now))
		return nil
	})
	req := message("ProcessOrder", "")
	req.InvocationID = "5f1d"
	req.Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	req.Deadline = req.Now.Add(5 * time.Minute)
	attempt(app, req)
	// Output:
	// 5f1d ProcessOrder 1 5m0s
	// succeeded
}

func ExampleLogger() {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).Info("processing", "dequeues", m.DequeueCount)
		return nil
	})
	attempt(app, message("ProcessOrder", ""))
	// Output:
	// log: processing dequeues=1
	// succeeded
}

// A wait in the host's time costs a test nothing.
func ExampleSleep() {
	app := functions.New()
	app.Queue("Poll", "jobs", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.Sleep(ctx, 15*time.Minute)
	})
	attempt(app, message("Poll", ""))
	// Output:
	// the host waits 15m0s
	// succeeded
}

// The requests that a failure can make.
func ExamplePermanent() {
	fault := errors.New("fault")
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(_ context.Context, m functions.QueueMessage) error {
		switch m.Text() {
		case "bad card":
			return functions.Permanent(fault)
		case "glitch":
			return functions.RetryNow(fault)
		case "busy":
			return functions.RetryAfter(fault, 90*time.Second)
		}
		return fault
	})
	for _, body := range []string{"bad card", "glitch", "busy", "other"} {
		attempt(app, message("ProcessOrder", body))
	}
	// Output:
	// failed, permanent 0s
	// failed, retryNow 0s
	// failed, retryAfter 1m30s
	// failed
}

func ExamplePoison() {
	app := functions.New()
	app.Queue("ProcessOrder", "orders", func(_ context.Context, m functions.QueueMessage) error {
		return functions.Poison(errors.New("no such customer"))
	})
	attempt(app, message("ProcessOrder", ""))
	// Output:
	// failed, asks for poisoned
}

func ExampleDeadLetter() {
	app := functions.New()
	app.Handle("ProcessOrder", func(context.Context, *functions.Trigger) error {
		return functions.DeadLetter("NoCustomer", "the customer was deleted", errors.New("no such customer"))
	})
	attempt(app, message("ProcessOrder", ""))
	// Output:
	// failed, asks for dead_lettered
}

// A status is an answer; only Fail and a panic fail an HTTP function's attempt.
func ExampleFail() {
	app := functions.New()
	app.HTTP("quote", func(w http.ResponseWriter, r *http.Request) {
		functions.Fail(r.Context(), errors.New("no rates"))
	}, functions.FixedDelay(2, 500*time.Millisecond))
	attempt(app, &call.Request{Function: "quote", Inputs: []call.Input{{Name: "req", Value: bindings.Value{
		Kind: bindings.Request, HTTP: &bindings.HTTPRequest{Method: "GET", URL: "http://localhost/api/quote"},
	}}}})
	// Output:
	// failed
}
