package azure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// ServiceBus is a namespace of Azure Service Bus, reached over AMQP. Its methods
// may be called concurrently.
//
// Unlike an embedded namespace, it releases no message on request (the client does
// so by itself with messages that arrive after a Receive has returned, and they are
// not counted), a receiver reports its source as it was asked for, and when a
// session's lock has ended the client locks the session again if it can, without a
// word: only settling tells.
type ServiceBus struct {
	client  *azservicebus.Client
	line    line
	held    holdings
	retries int
	senders *recent[*azservicebus.Sender] // by key of the path
}

var _ servicebus.Namespace = (*ServiceBus)(nil)

// NewServiceBus returns the namespace of a connection string. With
// UseDevelopmentEmulator=true it is an emulator's, without TLS. Nothing is sent
// before the first call. Of the options Retries and Call count.
func NewServiceBus(connectionString string, opts *Options) (*ServiceBus, error) {
	c, err := azservicebus.NewClientFromConnectionString(connectionString, opts.serviceBus())
	if err != nil {
		return nil, fmt.Errorf("service bus connection string: %w", err)
	}
	return newServiceBus(c, opts), nil
}

// NewServiceBusWithIdentity returns the namespace of an identity-based connection.
// Nothing is sent before the first call.
func NewServiceBusWithIdentity(id *Identity, opts *Options) (*ServiceBus, error) {
	cred, err := id.credentialAt(id.Namespace, "fullyQualifiedNamespace", opts)
	if err != nil {
		return nil, err
	}
	c, err := azservicebus.NewClient(id.Namespace, cred, opts.serviceBus())
	if err != nil {
		return nil, err
	}
	return newServiceBus(c, opts), nil
}

func newServiceBus(c *azservicebus.Client, opts *Options) *ServiceBus {
	return &ServiceBus{client: c, line: line{opts: opts}, retries: opts.readerRetries(), senders: newRecent(recentLimit, func(s *azservicebus.Sender) { _ = closeSoon(context.Background(), s.Close) })}
}

// messagingRetryDelay is the first pause between repetitions of the clients of
// Service Bus and Event Hubs: shorter than their own 4 s, because a listener waits
// for the answer.
const messagingRetryDelay = 800 * time.Millisecond

func (o *Options) serviceBus() *azservicebus.ClientOptions {
	out := &azservicebus.ClientOptions{}
	out.RetryOptions.RetryDelay = messagingRetryDelay
	if o == nil {
		return out
	}
	out.RetryOptions.MaxRetries = int32(o.Retries)
	return out
}

// Close ends the connection, within a few seconds if the service does not answer.
// Receivers and senders of the namespace fail from now on; locks go on.
func (s *ServiceBus) Close(ctx context.Context) error {
	return closeSoon(ctx, s.client.Close)
}

// closeSoon ends something of the client's. A service that does not answer holds it up
// no longer than closeTime: the client does not heed its context in all it does.
func closeSoon(ctx context.Context, end func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, err := abandoned(ctx, func() (struct{}, error) { return struct{}{}, end(ctx) })
	return err
}

// call makes a call of the client's. missing is for translateBus.
func (s *ServiceBus) call(ctx context.Context, missing messaging.Condition, f func(ctx context.Context) error) error {
	return s.line.call(ctx, func(ctx context.Context) error { return translateBus(ctx, f(ctx), missing) })
}

// send makes a call with the sender of an entity, one for all who send there.
func (s *ServiceBus) send(ctx context.Context, entity string, missing messaging.Condition, f func(ctx context.Context, sender *azservicebus.Sender) error) error {
	path, err := servicebus.ParsePath(entity)
	if err != nil {
		return err
	}
	return s.call(ctx, missing, func(ctx context.Context) error {
		sender, leave, err := s.senders.use(path.Key(), func() (*azservicebus.Sender, error) { return s.client.NewSender(path.String(), nil) })
		if err != nil {
			return err
		}
		defer leave()
		return f(ctx, sender)
	})
}

// Send implements servicebus.Namespace. Several messages go as one batch, and
// together have to fit into one message.
func (s *ServiceBus) Send(ctx context.Context, entity string, messages ...*servicebus.Message) error {
	list, err := outgoing(messages)
	if err != nil || len(list) == 0 {
		return err
	}
	return s.send(ctx, entity, messaging.ConditionNotFound, func(ctx context.Context, sender *azservicebus.Sender) error {
		if len(list) == 1 {
			return sender.SendMessage(ctx, list[0], nil)
		}
		batch, err := sender.NewMessageBatch(ctx, nil)
		for _, m := range list {
			if err == nil {
				err = batch.AddMessage(m, nil)
			}
		}
		if err == nil {
			err = sender.SendMessageBatch(ctx, batch, nil)
		}
		return err
	})
}

// Schedule implements servicebus.Namespace.
func (s *ServiceBus) Schedule(ctx context.Context, entity string, at time.Time, messages ...*servicebus.Message) (numbers []int64, err error) {
	list, err := outgoing(messages)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	err = s.send(ctx, entity, messaging.ConditionNotFound, func(ctx context.Context, sender *azservicebus.Sender) (err error) {
		numbers, err = sender.ScheduleMessages(ctx, list, at, nil)
		return err
	})
	return numbers, err
}

// CancelScheduled implements servicebus.Namespace.
func (s *ServiceBus) CancelScheduled(ctx context.Context, entity string, sequenceNumbers ...int64) error {
	return s.send(ctx, entity, messaging.ConditionMessageNotFound, func(ctx context.Context, sender *azservicebus.Sender) error {
		return sender.CancelScheduledMessages(ctx, sequenceNumbers, nil)
	})
}

// Receiver implements servicebus.Namespace. It opens the link, so that it fails
// here and not in the first Receive.
func (s *ServiceBus) Receiver(ctx context.Context, source string, opts *servicebus.ReceiverOptions) (servicebus.Receiver, error) {
	path, err := servicebus.ParsePath(source)
	if err != nil {
		return nil, err
	}
	o := &azservicebus.ReceiverOptions{SubQueue: subQueue(path)}
	mode := servicebus.PeekLock
	if opts != nil {
		mode = opts.Mode
	}
	o.ReceiveMode = receiveMode(mode)
	var r *azservicebus.Receiver
	if path.Subscription == "" {
		r, err = s.client.NewReceiverForQueue(path.Entity, o)
	} else {
		r, err = s.client.NewReceiverForSubscription(path.Entity, path.Subscription, o)
	}
	if err != nil {
		return nil, err
	}
	err = s.call(ctx, messaging.ConditionNotFound, func(ctx context.Context) error {
		_, err := r.PeekMessages(ctx, 1, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)})
		if err != nil {
			_ = r.Close(context.WithoutCancel(ctx)) // the first error says more
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return newReceiver(r, s, path, mode), nil
}

func receiveMode(m servicebus.ReceiveMode) azservicebus.ReceiveMode {
	if m == servicebus.ReceiveAndDelete {
		return azservicebus.ReceiveModeReceiveAndDelete
	}
	return azservicebus.ReceiveModePeekLock
}

func subQueue(p servicebus.Path) azservicebus.SubQueue {
	switch p.SubQueue {
	case servicebus.DeadLetterQueue:
		return azservicebus.SubQueueDeadLetter
	case servicebus.TransferDeadLetterQueue:
		return azservicebus.SubQueueTransfer
	}
	return 0
}

// AcceptSession implements servicebus.Namespace.
func (s *ServiceBus) AcceptSession(ctx context.Context, source string, opts *servicebus.SessionOptions) (servicebus.Session, error) {
	path, err := servicebus.ParsePath(source)
	if err != nil {
		return nil, err
	}
	if path.SubQueue != servicebus.MainQueue {
		return nil, messaging.NewError(messaging.ConditionNotAllowed, fmt.Sprintf("%q: a sub-queue has no sessions", source))
	}
	o := servicebus.SessionOptions{Wait: messaging.Forever}
	if opts != nil {
		o = *opts
	}
	if err := s.line.ask(ctx, func(ctx context.Context) error {
		r, err := s.Receiver(ctx, source, nil)
		if err == nil {
			_ = r.Close(ctx)
		}
		return err
	}); err != nil {
		return nil, err
	}
	var r *azservicebus.SessionReceiver
	if err := s.line.call(ctx, func(ctx context.Context) (err error) {
		r, err = s.accept(ctx, path, &o)
		return err
	}); err != nil {
		return nil, err
	}
	return &session{receiver: newReceiver(r, s, path, o.Mode), link: r}, nil
}

func (s *ServiceBus) accept(ctx context.Context, path servicebus.Path, o *servicebus.SessionOptions) (r *azservicebus.SessionReceiver, err error) {
	mode := &azservicebus.SessionReceiverOptions{ReceiveMode: receiveMode(o.Mode)}
	if o.SessionID != nil {
		if path.Subscription == "" {
			r, err = s.client.AcceptSessionForQueue(ctx, path.Entity, *o.SessionID, mode)
		} else {
			r, err = s.client.AcceptSessionForSubscription(ctx, path.Entity, path.Subscription, *o.SessionID, mode)
		}
		return r, translateBus(ctx, err, messaging.ConditionNotFound)
	}
	within, cancel := waiting(ctx, o.Wait)
	defer cancel()
	for {
		if path.Subscription == "" {
			r, err = s.client.AcceptNextSessionForQueue(within, path.Entity, mode)
		} else {
			r, err = s.client.AcceptNextSessionForSubscription(within, path.Entity, path.Subscription, mode)
		}
		if err == nil {
			return r, nil
		}
		switch err = translateBus(ctx, err, messaging.ConditionNotFound); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case within.Err() != nil, errors.Is(err, context.DeadlineExceeded):
			return nil, messaging.NewError(messaging.ConditionTimeout, fmt.Sprintf("%q: no session is free", path))
		case !errors.Is(err, messaging.ErrTimeout):
			return nil, err
		} // else the service's own limit has passed, not ours
	}
}

// shortest is how long a call that is not to wait gives the network.
const shortest = 250 * time.Millisecond

// waiting returns a context that ends after a wait as package bindings has them.
func waiting(ctx context.Context, wait time.Duration) (context.Context, context.CancelFunc) {
	if wait < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, max(wait, shortest))
}
