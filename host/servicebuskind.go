package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	sbtrigger "github.com/redeliver/redeliver/triggers/servicebus"
)

// serviceBus returns the namespace that a binding's connection names.
func (f *function) serviceBus(b *app.Binding) (servicebusapi.Namespace, error) {
	conn, ok := serviceBusConnection(f.gen.app, b)
	if !ok {
		return nil, app.MissingConnection(serviceBusSetting(b))
	}
	return f.gen.host.connections.ServiceBus(conn)
}

// serviceBusSource is the path that a trigger receives from. Its parts may name
// a sub-queue: "orders/$DeadLetterQueue", or a subscription "all/$DeadLetterQueue".
func serviceBusSource(b *app.Binding) (servicebusapi.Path, error) {
	queue, topic, subscription := b.String("queueName"), b.String("topicName"), b.String("subscriptionName")
	switch {
	case queue != "" && topic != "":
		return servicebusapi.Path{}, errors.New("queueName and topicName exclude each other")
	case queue != "":
		return servicebusapi.ParsePath(queue)
	case topic == "" || subscription == "":
		return servicebusapi.Path{}, errors.New("either queueName, or topicName with subscriptionName, is needed")
	}
	return servicebusapi.ParsePath(topic + "/Subscriptions/" + subscription)
}

func hasSessions(b *app.Binding) bool { return isTrue(b.Value("isSessionsEnabled"), false) }

func connectServiceBus(f *function) error {
	if _, err := f.serviceBus(f.def.Trigger); err != nil {
		return err
	}
	_, err := serviceBusSource(f.def.Trigger)
	return err
}

func listenServiceBus(t *turn) (triggers.Listener, error) {
	f, h := t.function, t.gen.host
	b := f.def.Trigger
	ns, err := f.serviceBus(b)
	if err != nil {
		return nil, err
	}
	ns = t.bus(ns)
	source, err := serviceBusSource(b)
	if err != nil {
		return nil, err
	}
	conf := f.gen.app.Config.ServiceBus
	opts := &sbtrigger.Options{
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
		DataType:                     b.DataType,
	}
	if opts.MaxBatchWait == 0 {
		opts.MaxBatchWait = -1
	}
	if opts.SessionIdleTimeout == 0 {
		opts.SessionIdleTimeout = conf.TryTimeout
	}
	return sbtrigger.New(h.clk, ns, source.String(), opts), nil
}

// autoComplete is the function's autoCompleteMessages, by either of its names,
// over that of host.json.
func autoComplete(b *app.Binding, conf app.ServiceBus) bool {
	for _, name := range [...]string{"autoCompleteMessages", "autoComplete"} {
		if v := b.Value(name); v != nil {
			return isTrue(v, conf.AutoCompleteMessages)
		}
	}
	return conf.AutoCompleteMessages
}

// receivesSessions reports whether a function of the app receives from an embedded
// entity by session: then it requires them, although the function for whose sake it
// is made may only send to it, or receive from its dead-letter queue.
func receivesSessions(a *app.App, path servicebusapi.Path) bool {
	return slices.ContainsFunc(a.Functions, func(f *app.Function) bool {
		if f.Trigger == nil || !f.Trigger.Is("serviceBusTrigger") || !hasSessions(f.Trigger) {
			return false
		}
		source, embedded := describedSource(a, f)
		return embedded && source.Key() == path.Main().Key()
	})
}

// createEntity makes a queue, or a subscription with its topic.
func createEntity(ctx context.Context, ns *servicebus.Namespace, path servicebusapi.Path, sessions bool) error {
	if path.Subscription == "" {
		if _, err := ns.GetTopic(ctx, path.Entity); err == nil {
			return nil // an output to a topic
		}
		_, err := ns.CreateQueue(ctx, servicebusapi.Queue{Name: path.Entity, RequiresSession: sessions})
		return orExists(err)
	}
	if err := createTopic(ctx, ns, path.Entity); err != nil {
		return err
	}
	_, err := ns.CreateSubscription(ctx, servicebusapi.Subscription{Topic: path.Entity, Name: path.Subscription, RequiresSession: sessions}, nil)
	return orExists(err)
}

func createTopic(ctx context.Context, ns *servicebus.Namespace, name string) error {
	_, err := ns.CreateTopic(ctx, servicebusapi.Topic{Name: name})
	return orExists(err)
}

// orExists takes it for a success that the entity is there already.
func orExists(err error) error {
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return nil
	}
	return err
}

func serviceBusMessage(_ *Host, f *function, input string) (triggers.Message, error) {
	return sbtrigger.Message([]byte(input), "", f.def.Trigger.DataType), nil
}

// serviceBusDeliveries is how often the entity hands a failing message out: its
// maxDeliveryCount, as the namespace's configuration gives it, or the service's
// default. A dead-letter queue hands it out for ever.
func serviceBusDeliveries(a *app.App, f *app.Function) (n int, unbounded bool) {
	source, err := serviceBusSource(f.Trigger)
	if err == nil && source.SubQueue != servicebusapi.MainQueue {
		return 0, true
	}
	if source, ok := describedSource(a, f); ok {
		if n, ok := a.ServiceBusEntities.MaxDeliveryCount(source); ok {
			return n, false
		}
	}
	return servicebusapi.DefaultMaxDeliveryCount, false
}

func serviceBusEnd(_ *app.App, f *app.Function) string {
	source, err := serviceBusSource(f.Trigger)
	if err != nil || source.SubQueue != servicebusapi.MainQueue {
		return "stays in its dead-letter queue"
	}
	source.SubQueue = servicebusapi.DeadLetterQueue
	return `dead-letter queue "` + source.String() + `"`
}

func validateServiceBus(a *app.App, f *app.Function) []*schemas.Fault {
	if _, err := serviceBusSource(f.Trigger); err != nil {
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

// serviceBusOutput sends messages to a queue or a topic.
type serviceBusOutput struct {
	b  *app.Binding
	ns servicebusapi.Namespace

	topic  bool
	entity *bindings.Template
}

func newServiceBusOutput(f *function, b *app.Binding) (output, error) {
	ns, err := f.serviceBus(b)
	if err != nil {
		return nil, err
	}
	o := &serviceBusOutput{b: b, ns: ns}
	name := b.String("queueName")
	if topic := b.String("topicName"); topic != "" {
		if name != "" {
			return nil, fmt.Errorf("output binding %q: queueName and topicName exclude each other", b.Name)
		}
		name, o.topic = topic, true
	}
	if name == "" {
		return nil, fmt.Errorf("output binding %q: queueName or topicName is needed", b.Name)
	}
	if o.entity, err = bindings.ParseTemplate(name); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *serviceBusOutput) binding() *app.Binding { return o.b }

// create makes an entity whose name is known at run time, as nameEntities does.
func (o *serviceBusOutput) create(f *function, name string) error {
	h := f.gen.host
	path, err := servicebusapi.ParsePath(name)
	switch {
	case f.gen.app.Switches.AutoCreateEntities == "none", o.ns != servicebusapi.Namespace(h.embedded.ServiceBus()):
		return nil
	case o.topic:
		return createTopic(h.root, h.embedded.ServiceBus(), name)
	case err != nil:
		return err
	}
	return createEntity(h.root, h.embedded.ServiceBus(), path, receivesSessions(f.gen.app, path))
}

// write sends one message for each element of the value, all or none.
func (o *serviceBusOutput) write(ctx context.Context, d *delivery, v bindings.Value) error {
	name, err := o.entity.Resolve(d.bindingData())
	if err != nil {
		return err
	}
	messages, err := servicebusapi.MessagesFrom(v)
	if err != nil || len(messages) == 0 {
		return err
	}
	if strings.Contains(o.entity.String(), "{") {
		if err := o.create(d.f, name); err != nil {
			return err
		}
	}
	return o.ns.Send(ctx, name, messages...)
}
