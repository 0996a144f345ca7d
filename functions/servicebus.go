package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/redeliver/redeliver/functions/call"
)

// ServiceBusMessage is a message of a Service Bus queue or subscription.
type ServiceBusMessage struct {
	// Body is the message as it was sent; it need not be text.
	Body []byte
	// ID is the sender's identifier of the message.
	ID string
	// DeliveryCount says how often the service has handed the message out, this
	// time included. Its wire form, and JavaScript and Python, count from 0.
	DeliveryCount int64
	// SequenceNumber is unique in the entity and ascending.
	SequenceNumber int64
	// LockToken identifies the lock of this delivery.
	LockToken string
	// EnqueuedTime and ExpiresAt are the service's times; ExpiresAt is in the year
	// 9999 for a message that does not expire.
	EnqueuedTime, ExpiresAt time.Time

	ContentType, CorrelationID, Subject, To, ReplyTo string
	SessionID, ReplyToSessionID, PartitionKey        string

	// DeadLetterSource is where a message was dead-lettered that has been
	// forwarded since.
	DeadLetterSource string

	// ApplicationProperties are the sender's own, as JSON values; in a dead-letter
	// queue also DeadLetterReason and DeadLetterErrorDescription.
	ApplicationProperties map[string]any
}

// Text returns the body as text.
func (m ServiceBusMessage) Text() string { return string(m.Body) }

// Decode reads the body as JSON into the value that target points to.
func (m ServiceBusMessage) Decode(target any) error {
	if err := json.Unmarshal(m.Body, target); err != nil {
		return fmt.Errorf("service bus message: %w", err)
	}
	return nil
}

// ServiceBusHandler is a handler of single Service Bus messages.
type ServiceBusHandler func(ctx context.Context, m ServiceBusMessage) error

// ServiceBusQueue registers a function that a Service Bus queue triggers, or with
// "name/$DeadLetterQueue" its dead-letter queue. A nil error completes the message;
// after the last failed attempt of a delivery it is abandoned, and the service
// delivers it again or, at the queue's maxDeliveryCount, moves it to the
// dead-letter queue. [Settle] and [DeadLetter] ask for another end.
func (a *App) ServiceBusQueue(name, queue string, h ServiceBusHandler, opts ...ServiceBusOption) {
	a.serviceBus(name, map[string]any{"queueName": queue}, h, opts)
}

// ServiceBusSubscription registers a function that a subscription of a topic
// triggers. Otherwise it is like [App.ServiceBusQueue].
func (a *App) ServiceBusSubscription(name, topic, subscription string, h ServiceBusHandler, opts ...ServiceBusOption) {
	a.serviceBus(name, map[string]any{"topicName": topic, "subscriptionName": subscription}, h, opts)
}

func (a *App) serviceBus(name string, trigger map[string]any, h ServiceBusHandler, opts []ServiceBusOption) {
	f := a.register(name, h == nil)
	f.trigger = trigger
	for key, v := range map[string]any{"type": "serviceBusTrigger", "direction": "in", "name": "message", "dataType": "binary"} {
		f.trigger[key] = v
	}
	f.handle = func(ctx context.Context, c *invocation) error { return h(ctx, newServiceBusMessage(c.request)) }
	for _, o := range opts {
		o.applyServiceBus(f)
	}
}

func newServiceBusMessage(r *call.Request) ServiceBusMessage {
	m := Metadata(r.Metadata)
	msg := ServiceBusMessage{
		Body: triggerInput(r).Bytes(), ID: r.MessageID, DeliveryCount: r.DeliveryCount, LockToken: m.Get("LockToken"),
		EnqueuedTime: parseTime(m.Get("EnqueuedTimeUtc")), ExpiresAt: parseTime(m.Get("ExpiresAtUtc")),
		ContentType: m.Get("ContentType"), CorrelationID: m.Get("CorrelationId"), Subject: m.Get("Subject"), To: m.Get("To"), ReplyTo: m.Get("ReplyTo"),
		SessionID: m.Get("SessionId"), ReplyToSessionID: m.Get("ReplyToSessionId"), PartitionKey: m.Get("PartitionKey"),
		DeadLetterSource: m.Get("DeadLetterSource"),
	}
	// Properties of a JSON body may hide metadata of the same name: zero values then.
	msg.SequenceNumber, _ = strconv.ParseInt(m.Get("SequenceNumber"), 10, 64)
	_ = json.Unmarshal([]byte(m.Get("ApplicationProperties")), &msg.ApplicationProperties)
	return msg
}

// ServiceBusOption is an option of [App.ServiceBusQueue] and
// [App.ServiceBusSubscription].
type ServiceBusOption interface{ applyServiceBus(*function) }

func (o anyOption) applyServiceBus(f *function)        { o(f) }
func (o ConnectionOption) applyServiceBus(f *function) { f.trigger["connection"] = o.setting }

type serviceBusOption func(*function)

func (o serviceBusOption) applyServiceBus(f *function) { o(f) }

// Sessions says that the entity requires sessions: messages of one session come
// in order, one at a time.
func Sessions() ServiceBusOption {
	return serviceBusOption(func(f *function) { f.trigger["isSessionsEnabled"] = true })
}

// AutoComplete overrides autoCompleteMessages of host.json. Without it a message is
// completed only when the handler asks for that with [Settle]; otherwise it comes
// again when its lock ends.
func AutoComplete(on bool) ServiceBusOption {
	return serviceBusOption(func(f *function) { f.trigger["autoCompleteMessages"] = on })
}

// ServiceBusQueueOutput declares an output to a Service Bus queue. Otherwise it
// is like [QueueOutput].
func ServiceBusQueueOutput(name, queue string, opts ...OutputOption) Option {
	return serviceBusOutput(name, "queueName", queue, opts)
}

// ServiceBusTopicOutput declares an output to a Service Bus topic. Otherwise it
// is like [QueueOutput].
func ServiceBusTopicOutput(name, topic string, opts ...OutputOption) Option {
	return serviceBusOutput(name, "topicName", topic, opts)
}

func serviceBusOutput(name, key, entity string, opts []OutputOption) Option {
	b := map[string]any{"type": "serviceBus", "direction": "out", "name": name, key: entity}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}
