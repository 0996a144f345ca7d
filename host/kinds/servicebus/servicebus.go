// Package servicebus is the trigger and the output of Service Bus as the host knows them,
// and what an app names in the embedded namespace.
package servicebus

import (
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	trigger "github.com/redeliver/redeliver/triggers/servicebus"
)

// Kind is the Service Bus trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "serviceBusTrigger", NeedsStorage: true, Connection: "ServiceBus",
			Deliveries: deliveries, End: end, Validate: validate, Warn: warnDeferral, Lint: lint,
			Redelivery: "the entity's maxDeliveryCount",
			Feeds:      kinds.Fed("serviceBus", kinds.Named{Key: "queueName", Noun: "queue"}, kinds.Named{Key: "topicName", Noun: "topic"}),
		},
		Keeper: "servicebus", Connect: connect, Listen: listen, Unsettled: triggers.LockLost, Message: message,
	}
}

// namespaceOf returns the namespace that a binding's connection names.
func namespaceOf(f *kinds.Function, b *app.Binding) (servicebus.Namespace, error) {
	conn, err := f.Connection(b.Connection, "ServiceBus")
	if err != nil {
		return nil, err
	}
	return f.Connections.ServiceBus(conn)
}

// sourceOf is the path that a trigger receives from. Its parts may name
// a sub-queue: "orders/$DeadLetterQueue", or a subscription "all/$DeadLetterQueue".
func sourceOf(b *app.Binding) (servicebus.Path, error) {
	queue, topic, subscription := b.String("queueName"), b.String("topicName"), b.String("subscriptionName")
	switch {
	case queue != "" && topic != "":
		return servicebus.Path{}, errors.New("queueName and topicName exclude each other")
	case queue != "":
		return servicebus.ParsePath(queue)
	case topic == "" || subscription == "":
		return servicebus.Path{}, errors.New("either queueName, or topicName with subscriptionName, is needed")
	}
	return servicebus.ParsePath(topic + "/Subscriptions/" + subscription)
}

func hasSessions(b *app.Binding) bool { return kinds.IsTrue(b.Value("isSessionsEnabled"), false) }

func connect(f *kinds.Function) error {
	if _, err := namespaceOf(f, f.Def.Trigger); err != nil {
		return err
	}
	_, err := sourceOf(f.Def.Trigger)
	return err
}

func listen(t *kinds.Turn) (triggers.Listener, error) {
	f := t.Function
	b := f.Def.Trigger
	ns, err := namespaceOf(f, b)
	if err != nil {
		return nil, err
	}
	ns = t.ServiceBusIn(ns)
	source, err := sourceOf(b)
	if err != nil {
		return nil, err
	}
	conf := f.App().Config.ServiceBus
	opts := &trigger.Options{
		LeaveUnsettled:               !autoComplete(b, conf),
		MaxConcurrentCalls:           conf.MaxConcurrentCalls,
		MaxAutoLockRenewal:           conf.MaxAutoLockRenewalDuration,
		NoAutoLockRenewal:            conf.MaxAutoLockRenewalDuration == 0,
		Sessions:                     hasSessions(b),
		MaxConcurrentSessions:        conf.MaxConcurrentSessions,
		MaxConcurrentCallsPerSession: conf.MaxConcurrentCallsPerSession,
		SessionIdleTimeout:           conf.SessionIdleTimeout,
		Batch:                        b.Cardinality == "many",
		MaxMessageBatchSize:          conf.MaxMessageBatchSize,
		MinMessageBatchSize:          conf.MinMessageBatchSize,
		MaxBatchWait:                 conf.MaxBatchWaitTime,
		DataType:                     kinds.DataType(f),
		TextMembers:                  kinds.OfThePlatform(f),
		SessionActions:               f.App().Handler.Runtime == languages.Dotnet,
	}
	if f.Def.DefersTrigger() {
		opts.Value = model
	}
	if opts.MaxBatchWait == 0 {
		opts.MaxBatchWait = -1
	}
	if opts.SessionIdleTimeout == 0 {
		opts.SessionIdleTimeout = conf.TryTimeout
	}
	return trigger.New(f.Clock, ns, source.String(), opts), nil
}

// model is a message as model binding data: the lock token, then the message as AMQP has
// it (spec workers-dotnet-java 1.8).
func model(m *servicebus.Received) bindings.Value {
	return bindings.Value{Kind: bindings.Model, Model: &bindings.ModelData{
		Source: "AzureServiceBusReceivedMessage", ContentType: bindings.ModelBytes, Content: bus.AppendLocked(nil, m),
	}}
}

// autoComplete is the function's autoCompleteMessages, by either of its names, over
// the value of host.json.
func autoComplete(b *app.Binding, conf hostjson.ServiceBus) bool {
	for _, name := range [...]string{"autoCompleteMessages", "autoComplete"} {
		if v := b.Value(name); v != nil {
			return kinds.IsTrue(v, conf.AutoCompleteMessages)
		}
	}
	return conf.AutoCompleteMessages
}

func message(f *kinds.Function, input string) (triggers.Message, error) {
	m := trigger.Message([]byte(input), "", kinds.DataType(f), f.Def.Trigger.Cardinality == "many")
	if f.Def.DefersTrigger() {
		m.Metadata = nil
		m.Value = model(&servicebus.Received{Message: servicebus.Message{Body: []byte(input)}, EnqueuedTime: f.Clock.Now()})
	}
	return m, nil
}

// deliveries is how often the entity hands a failing message out: its
// maxDeliveryCount, as the namespace's configuration gives it, or the service's
// default. A dead-letter queue hands it out for ever.
func deliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	source, err := sourceOf(f.Trigger)
	if err == nil && source.SubQueue != servicebus.MainQueue {
		return 0, true
	}
	if source, ok := describedSource(a, f); ok {
		if n, ok := a.ServiceBusEntities.MaxDeliveryCount(source); ok {
			return n, false
		}
	}
	return servicebus.DefaultMaxDeliveryCount, false
}

func end(_ *app.App, f *app.Function) string {
	source, err := sourceOf(f.Trigger)
	if err != nil || source.SubQueue != servicebus.MainQueue {
		return "stays in its dead-letter queue"
	}
	source.SubQueue = servicebus.DeadLetterQueue
	return `dead-letter queue "` + source.String() + `"`
}

func validate(a *app.App, f *app.Function) []*schemas.Fault {
	if _, err := sourceOf(f.Trigger); err != nil {
		path, found := f.Trigger.Path+".queueName", f.Trigger.String("queueName")
		if found == "" && f.Trigger.String("topicName") != "" {
			path, found = f.Trigger.Path+".topicName", f.Trigger.String("topicName")
		}
		return []*schemas.Fault{{
			Path: path, Found: found, Allowed: "queueName, or topicName with subscriptionName",
			Reason: err.Error(), Kind: "argument",
		}}
	}
	return validateSessions(a, f)
}

// warnDeferral warns of a function that asks for the SDK's message and gets an ordinary
// value, which such a parameter does not take (spec workers-dotnet-java 1.8).
func warnDeferral(_ *app.App, f *app.Function) []*schemas.Fault {
	b, key := f.NeedsPlainValue()
	if b == nil || !f.Trigger.Deferred() {
		return nil
	}
	return []*schemas.Fault{{
		Path: b.PathOf(key), Found: b.String(key),
		Reason: "the trigger is bound to a type of the SDK (supportsDeferredBinding), and this expression has the platform give the function the ordinary value: a parameter such as ServiceBusReceivedMessage fails with it",
		Hint:   "let a binding without an expression stand before this one, or bind the trigger to text",
	}}
}

// lint is L-6 and L-7.
func lint(r *app.Review) {
	if r.Deliveries == 1 {
		r.Policy("L-6", "with a maxDeliveryCount of 1 the message is dead-lettered after one delivery; the policy is best effort, because a restart in between uses that delivery up")
	}
	renewal := r.App.Config.ServiceBus.MaxAutoLockRenewalDuration
	limit, of := lock(r.App, r.Function), "the lock, which is not renewed for a batch"
	if r.Function.Trigger.Cardinality != "many" { // batches are not renewed (spec messaging 2.4)
		if renewal < 0 {
			return
		}
		limit, of = renewal+limit, "lock renewal and lock together"
	}
	r.LongLoop("L-7", limit, "the longest retry loop takes {loop}, longer than "+of+" ({limit}): the message is delivered again while the loop still runs")
}
