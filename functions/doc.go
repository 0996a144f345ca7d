// Package functions is what the author of a handler imports: an [App] takes
// functions, one method per kind of trigger, and [Main] serves them to the host.
//
//	func main() {
//		app := functions.New()
//		app.Queue("ProcessOrder", "orders", process, functions.FixedDelay(4, 10*time.Second))
//		functions.Main(app)
//	}
//
//	func process(ctx context.Context, m functions.QueueMessage) error {
//		functions.Logger(ctx).Info("processing", "dequeues", m.DequeueCount)
//		...
//	}
//
// Read [New], [App.Queue] and [Main] first; then [FromContext] and [Retry] (what
// an attempt knows of itself), [SetOutput], and [Permanent] with its neighbours
// (what a failure can ask for). The examples are the manual.
//
// Nothing here needs a function.json. Where there is one of the same name, it
// wins as a whole: a policy, a circuit breaker or Disabled of the registration has
// no effect beside it, and "redeliver check" says so.
//
// Left out: building and starting the host (package host and its test kit), and
// the services themselves. A handler that wants more than its bindings uses the
// Azure SDK as in the cloud.
//
// # Writing handlers that are tried again
//
// Faults come from triggers and bindings, from the platform's services, from
// REST endpoints and from libraries. Catch them at the top of the handler, and
// let out only what another attempt can cure:
//
//	err := charge(ctx, order)
//	if err != nil && !functions.IsTransient(err) {
//		err = functions.Permanent(err) // no further attempt in this delivery
//	}
//	return err
//
// Make handlers idempotent. A run can repeat although it succeeded, and work
// that belongs to one transaction must not be done by halves:
//
//	if done, err := store.Seen(ctx, m.ID); done || err != nil {
//		return err
//	}
//
// Fit the policy to the caller: few tries and short waits where a person waits,
// many and growing ones for work in batches, spread over time so that instances
// do not retry in step:
//
//	app.HTTP("quote", quote, functions.FixedDelay(2, 500*time.Millisecond))
//	app.Queue("bill", "bills", bill, functions.ExponentialBackoff(5, 4*time.Second, 15*time.Minute))
//
// Retry in one layer. Inner calls fail fast and leave the decision to the policy;
// three layers of three tries are 27 calls. Retries do not cure a lasting fault:
// use a circuit breaker, another service or less function. Frequent faults ask
// for more capacity, not for more retries:
//
//	client := &http.Client{Timeout: 2 * time.Second} // no retries of its own
//
// Record every retry. A fault that the second try always cures is still a fault:
//
//	if r := functions.Retry(ctx); r != nil && r.Exception != nil {
//		functions.Logger(ctx).Warn("trying again", "retry", r.RetryCount, "after", r.Exception.Message)
//	}
package functions
