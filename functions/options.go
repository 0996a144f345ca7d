package functions

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// Each option of a registration belongs to some kinds of triggers, and the compiler
// checks it: a [Route] does not fit a queue.
type (
	// HTTPOption is an option of [App.HTTP].
	HTTPOption interface{ applyHTTP(*function) }
	// QueueOption is an option of [App.Queue].
	QueueOption interface{ applyQueue(*function) }
	// TimerOption is an option of [App.Timer].
	TimerOption interface{ applyTimer(*function) }
	// OutputOption is an option of an output, such as [QueueOutput].
	OutputOption interface{ applyOutput(map[string]any) }

	// Option is an option of functions of every kind.
	Option interface {
		HTTPOption
		QueueOption
		TimerOption
		BlobOption
		ServiceBusOption
		EventGridOption
		EventHubOption
		CosmosOption
		applyAny(*function)
	}
)

type anyOption func(*function)

func (o anyOption) applyHTTP(f *function)  { o(f) }
func (o anyOption) applyQueue(f *function) { o(f) }
func (o anyOption) applyTimer(f *function) { o(f) }
func (o anyOption) applyAny(f *function)   { o(f) }

// FixedDelay gives the function a retry policy: up to count retries in one
// delivery, each after the same delay. -1 retries for ever. As everywhere in
// Azure, count retries make count+1 attempts. The policy takes the place of the
// app's in host.json; a policy in function.json takes the place of both.
//
// The host checks the values by the rules for function.json; a bad policy puts
// this one function in error.
func FixedDelay(count int, delay time.Duration) Option {
	strategy := retrycontext.FixedDelay.String()
	return anyOption(func(f *function) {
		f.retry = &retrycontext.PolicyConfig{Strategy: &strategy, MaxRetryCount: &count, DelayInterval: &delay}
	})
}

// ExponentialBackoff gives the function a retry policy: up to count retries in
// one delivery, the first after min, each later one after about twice the
// previous wait, never after more than max. In all other points it is like
// [FixedDelay].
func ExponentialBackoff(count int, min, max time.Duration) Option {
	strategy := retrycontext.ExponentialBackoff.String()
	return anyOption(func(f *function) {
		f.retry = &retrycontext.PolicyConfig{
			Strategy: &strategy, MaxRetryCount: &count, MinimumInterval: &min, MaximumInterval: &max,
		}
	})
}

// Disabled registers the function without starting its trigger, as "disabled"
// in function.json does.
func Disabled() Option {
	return anyOption(func(f *function) { f.disabled = true })
}

// CircuitBreaker has the function take nothing for a while when its work keeps failing:
// after that many deliveries in a row whose last attempt failed the circuit opens for
// pause, and messages stay where they are, callers get 503, ticks are skipped. Then that
// many probes, deliveries of which all must succeed, close it again; one that fails opens it
// anew. It is an extension of Redeliver, and the platform has none; the object
// redeliver.circuitBreaker of function.json takes its place.
//
// The host checks the values: failures and probes are 1 or more, pause is above 0. A bad
// one puts this one function in error.
func CircuitBreaker(failures int, pause time.Duration, probes int) Option {
	return anyOption(func(f *function) {
		f.breaker = &call.CircuitBreaker{Failures: failures, Pause: pause, Probes: probes}
	})
}

// Binding adds one binding in the words of function.json, for bindings without an
// option of their own: inputs, outputs, or with [App.Handle] the trigger. It panics
// if raw is not a JSON object; the host checks the rest. An output of a service
// that the host does not have (sendGrid, sql, ...) is set like every other, and
// recorded; such an input has the fixed value that host.json gives it ([GetInput]).
func Binding(raw string) Option {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &object); err != nil || object == nil {
		panic(fmt.Sprintf("functions: binding is not a JSON object: %s", raw))
	}
	return anyOption(func(f *function) { f.bindings = append(f.bindings, json.RawMessage(raw)) })
}

// QueueOutput declares an output to a storage queue. The handler fills it with
// [SetOutput] under name; "$return" stands for the function's return value
// ([SetReturn]). queue may hold binding expressions ("orders-{region}"). The
// messages are sent after the handler returned without an error.
func QueueOutput(name, queue string, opts ...OutputOption) Option {
	b := map[string]any{"type": "queue", "direction": "out", "name": name, "queueName": queue}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}

// ConnectionOption is the option that [Connection] returns.
type ConnectionOption struct{ setting string }

func (o ConnectionOption) applyQueue(f *function)         { f.trigger["connection"] = o.setting }
func (o ConnectionOption) applyOutput(out map[string]any) { out["connection"] = o.setting }

// Connection names the app setting that says where the service is. Without it
// the platform's default for the kind holds, "AzureWebJobsStorage" for storage.
func Connection(setting string) ConnectionOption { return ConnectionOption{setting} }

type httpOption func(*function)

func (o httpOption) applyHTTP(f *function) { o(f) }

// Route sets the path below the route prefix, in the platform's words:
// "orders/{id}", "orders/{id?}", "orders/{id:int}", "files/{*rest}".
func Route(route string) HTTPOption {
	return httpOption(func(f *function) { f.trigger["route"] = route })
}

// Methods restricts the function to these methods. Without it all are served.
func Methods(methods ...string) HTTPOption {
	return httpOption(func(f *function) { f.trigger["methods"] = methods })
}

// Auth is the key that a caller of an HTTP function needs. Locally no key is
// asked for unless the host runs with --enableAuth.
type Auth string

// The levels.
const (
	AuthAnonymous Auth = "anonymous" // none
	AuthFunction  Auth = "function"  // a key of the function or of the host; the default
	AuthAdmin     Auth = "admin"     // the master key
)

// AuthLevel sets the key that callers need.
func AuthLevel(a Auth) HTTPOption {
	return httpOption(func(f *function) { f.trigger["authLevel"] = string(a) })
}

type timerOption func(*function)

func (o timerOption) applyTimer(f *function) { o(f) }

// RunOnStartup runs the function once at each start of the host, a reload
// included.
func RunOnStartup() TimerOption {
	return timerOption(func(f *function) { f.trigger["runOnStartup"] = true })
}

// UseMonitor says whether the schedule is written down, so that a tick missed
// while the host was down is made up for at the next start. The default is
// true; schedules below one minute are never monitored.
func UseMonitor(monitor bool) TimerOption {
	return timerOption(func(f *function) { f.trigger["useMonitor"] = monitor })
}
