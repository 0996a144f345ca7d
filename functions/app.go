package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/retrycontext"
)

// An App is the functions of one handler process. Register them, one method per
// kind of trigger, then hand the App to [Main].
//
// Registration panics on a mistake of the program (an empty or repeated name, a nil
// handler), as net/http does, and is not safe for concurrent use. All other methods
// are; an App does not change once it serves.
type App struct {
	functions []*function
}

// New returns an App without functions.
func New() *App { return &App{} }

// function is one registered function.
type function struct {
	name     string
	trigger  map[string]any    // nil: function.json says what triggers it
	bindings []json.RawMessage // after the trigger
	retry    *retrycontext.PolicyConfig
	disabled bool
	breaker  *call.CircuitBreaker
	http     bool
	handle   func(ctx context.Context, c *invocation) error
}

// HTTP registers a function that answers HTTP requests, at /api/{name} unless
// [Route] says otherwise.
//
// The request is the caller's: method, URL, header, body, and the parameters of
// the route through [http.Request.PathValue]. Its context carries the
// invocation, so that [FromContext], [Logger], [Sleep] and [SetOutput] take
// r.Context(). The answer is kept until the handler returns; there is no
// streaming.
//
// As on the platform, a status of 500 is an answer, not a failure, and is never
// retried. A handler fails its attempt with [Fail] or by a panic; the caller
// then gets an empty 500 after the last attempt.
func (a *App) HTTP(name string, h http.HandlerFunc, opts ...HTTPOption) {
	f := a.register(name, h == nil)
	f.http = true
	f.trigger = map[string]any{"type": "httpTrigger", "direction": "in", "name": "req"}
	f.bindings = []json.RawMessage{json.RawMessage(`{"direction":"out","name":"$return","type":"http"}`)}
	f.handle = func(ctx context.Context, c *invocation) error { return serveHTTP(ctx, c, h) }
	for _, o := range opts {
		o.applyHTTP(f)
	}
}

// Queue registers a function that a storage queue triggers. A nil error deletes
// the message. After the last failed attempt of a delivery the queue's own rule
// applies: released for the next delivery, or moved to the poison queue.
func (a *App) Queue(name, queue string, h func(ctx context.Context, m QueueMessage) error, opts ...QueueOption) {
	f := a.register(name, h == nil)
	f.trigger = map[string]any{
		"type": "queueTrigger", "direction": "in", "name": "message", "queueName": queue,
		"dataType": "binary", // the body as it is, also when it is no text
	}
	f.handle = func(ctx context.Context, c *invocation) error { return h(ctx, newQueueMessage(c.request)) }
	for _, o := range opts {
		o.applyQueue(f)
	}
}

// Timer registers a function that runs on a schedule: six NCRONTAB fields with
// seconds first ("0 */5 * * * *"), five without, or a time span ("00:05:00").
func (a *App) Timer(name, schedule string, h func(ctx context.Context, t TimerInfo) error, opts ...TimerOption) {
	f := a.register(name, h == nil)
	f.trigger = map[string]any{"type": "timerTrigger", "direction": "in", "name": "timer", "schedule": schedule}
	f.handle = func(ctx context.Context, c *invocation) error {
		t, err := newTimerInfo(c.request)
		if err != nil {
			return err
		}
		return h(ctx, t)
	}
	for _, o := range opts {
		o.applyTimer(f)
	}
}

// Handle registers a function of any kind with raw access to its trigger and
// inputs. Its bindings come from a function.json of the same name, or from
// [Binding] options, the trigger first. It is for triggers that have no method of their
// own, such as manualTrigger and warmupTrigger:
//
//	app.Handle("Rebuild", rebuild, functions.Binding(`{"type": "manualTrigger", "name": "input"}`))
func (a *App) Handle(name string, h func(ctx context.Context, t *Trigger) error, opts ...Option) {
	f := a.register(name, h == nil)
	f.handle = func(ctx context.Context, c *invocation) error { return h(ctx, newTrigger(c.request)) }
	for _, o := range opts {
		o.applyAny(f)
	}
}

// register adds an empty function under name.
func (a *App) register(name string, nilHandler bool) *function {
	switch {
	case name == "":
		panic("functions: a function needs a name")
	case nilHandler:
		panic(fmt.Sprintf("functions: function %q has a nil handler", name))
	case a.lookup(name) != nil:
		panic(fmt.Sprintf("functions: function %q is registered twice (names ignore case)", name))
	}
	f := &function{name: name}
	a.functions = append(a.functions, f)
	return f
}

// lookup finds a function, ignoring case as the platform does; nil if there is
// none.
func (a *App) lookup(name string) *function {
	i := slices.IndexFunc(a.functions, func(f *function) bool { return strings.EqualFold(f.name, name) })
	if i < 0 {
		return nil
	}
	return a.functions[i]
}

// Declarations returns what the App offers, in the order of registration. The
// host calls it; handler authors do not need it.
func (a *App) Declarations() []call.Declaration {
	list := make([]call.Declaration, 0, len(a.functions))
	for _, f := range a.functions {
		d := call.Declaration{Name: f.name, Retry: f.retry, Disabled: f.disabled, CircuitBreaker: f.breaker}
		if f.trigger != nil {
			d.Bindings = append(d.Bindings, object(f.trigger))
		}
		d.Bindings = append(d.Bindings, f.bindings...)
		list = append(list, d)
	}
	return list
}

// object returns m as JSON, keys sorted.
func object(m map[string]any) json.RawMessage {
	b, err := json.Marshal(m)
	if err != nil { // only strings, booleans and lists of strings get here
		panic(fmt.Sprintf("functions: binding: %v", err))
	}
	return b
}
