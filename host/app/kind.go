package app

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// Kind holds the facts of one trigger kind that loading and checking need. The
// functions may be nil.
type Kind struct {
	// Type is the canonical spelling, e.g. "queueTrigger"; types match ignoring
	// case.
	Type string

	// OfficialRetry marks the kinds that the platform supports retries on
	// (timer, Cosmos DB, Event Hubs, Kafka): no warning, and they keep their
	// policy under retryTriggers "ga".
	OfficialRetry bool

	// NeedsStorage is set for kinds that cannot start without
	// AzureWebJobsStorage: all but http, kafka and rabbitmq.
	NeedsStorage bool

	// Connection is the name that an empty "connection" stands for, e.g.
	// "Storage"; "" for kinds without connections.
	Connection string

	// Odd says what the platform makes of a direction that is not written as its word.
	Odd DirectionRule

	// Literal is the property in which %NAME% is text, on the platform too (observed: host
	// 4.1037).
	Literal string

	// Routed kinds are triggered by HTTP requests, which find a function by its route.
	Routed bool

	// TakesEvents is set for kinds whose functions event subscriptions may name.
	TakesEvents bool

	// Deliveries returns how often the source hands out a message that always
	// fails. Nil means once.
	Deliveries func(a *App, f *Function) (n int, unbounded bool)

	// End says where a message ends after its last failed delivery, e.g.
	// `queue "orders-poison"` or "500 to the caller".
	End func(a *App, f *Function) string

	// Redelivery names what decides how often the source delivers, for lint L-10, e.g.
	// "the queue's maxDequeueCount"; empty for "the trigger".
	Redelivery string

	// Endless says what follows from a delivery that never ends, for lint L-3; empty:
	// its message is never given up.
	Endless string

	// Feeds returns the property by which an output names what triggers the function,
	// and that in words, for lint L-16, e.g. `queue "orders"`. An empty key: the output
	// goes elsewhere.
	Feeds func(trigger, out *Binding) (key, target string)

	// Lint finds the lints that only this kind knows, in a function without faults.
	Lint func(r *Review)

	// InWork says, for an overview of the app, how many messages of one source its
	// functions have in work at once.
	InWork func(a *App) string

	// Warn finds what is wrong with the trigger and harmless. The faults are
	// completed as by Validate.
	Warn func(a *App, f *Function) []*schemas.Fault

	// Validate checks what only this kind knows: names, schedules, routes. It is
	// not called when something is wrong with the trigger already. File, position
	// and quotes around Found are filled in.
	Validate func(a *App, f *Function) []*schemas.Fault
}

// Kinds are the kinds of triggers and bindings that a host serves. A new kind states its
// facts in its own package.
type Kinds struct {
	Triggers []Kind
	Bindings []BindingKind
}

// trigger returns the trigger kind of a type, or nil.
func (k *Kinds) trigger(typ string) *Kind {
	for i := range k.Triggers {
		if strings.EqualFold(k.Triggers[i].Type, typ) {
			return &k.Triggers[i]
		}
	}
	return nil
}

// binding returns the facts of a type that is served or of the platform, or nil.
func (k *Kinds) binding(typ string) *BindingKind {
	for _, kind := range slices.Concat(k.Bindings, foreignKinds) {
		if strings.EqualFold(kind.Type, typ) {
			return &kind
		}
	}
	return nil
}
