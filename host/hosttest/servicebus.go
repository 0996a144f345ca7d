package hosttest

import (
	"context"
	"math"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
)

// busCalls are the calls of a Host about Service Bus.
type busCalls struct{ h *Host }

// ServiceBusConnection is the connection string of the embedded Service Bus
// namespace, as the kit gives it to the app in AzureWebJobsServiceBus.
const ServiceBusConnection = "Endpoint=sb://127.0.0.1;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"

// SendServiceBus sends messages to a queue or a topic, all or none.
// Deliveries that they start run before SendServiceBus returns; time does
// not move. Entities that functions name are there; others are made with
// host.Host.ServiceBus.
func (k busCalls) SendServiceBus(entity string, messages ...*servicebus.Message) {
	k.h.tb.Helper()
	if len(messages) == 0 {
		k.h.tb.Fatalf("hosttest: send to %q: no message is given", entity)
	}
	var err error
	k.h.do("send to "+entity, func() { err = k.h.Services().ServiceBus().Send(context.Background(), entity, messages...) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: send to %q: %v%s", entity, err, orMeant(entity, entityPaths(k.h)))
	}
}

// ExpireServiceBusLocks ends the locks of a queue's or subscription's messages now, those
// of sessions included, as if their time were over: each counts as a failed delivery, and
// the message is delivered again while its handler may still run. It fails the test when
// no message is locked.
func (k busCalls) ExpireServiceBusLocks(path string) {
	k.h.tb.Helper()
	var n int
	var err error
	k.h.do("expire locks of "+path, func() { n, err = k.h.Services().ServiceBus().ExpireLocks(context.Background(), path) })
	switch {
	case err != nil:
		k.h.tb.Fatalf("hosttest: expire locks of %q: %v%s", path, err, orMeant(path, entityPaths(k.h)))
	case n == 0:
		k.h.tb.Fatalf("hosttest: expire locks of %q: no message is locked", path)
	}
}

// ServiceBusMessages returns all messages of a queue, a subscription or one of
// their sub-queues ("orders/$DeadLetterQueue"), in any state.
func (k busCalls) ServiceBusMessages(path string) []*servicebus.Received {
	k.h.tb.Helper()
	if subscriptions, topic := subscriptionsOf(k.h, path); topic {
		k.h.tb.Fatalf("hosttest: peek %q: a topic holds no messages, its subscriptions do: %s", path, strings.Join(subscriptions, ", "))
	}
	var messages []*servicebus.Received
	var err error
	k.h.do("peek "+path, func() {
		messages, err = k.h.Services().ServiceBus().Peek(context.Background(), path, nil, 0, math.MaxInt)
	})
	if err != nil {
		k.h.tb.Fatalf("hosttest: peek %q: %v%s", path, err, orMeant(path, entityPaths(k.h)))
	}
	return messages
}

// subscriptionsOf are the paths of a topic's subscriptions; not topic: it is another entity.
func subscriptionsOf(h *Host, path string) (subscriptions []string, topic bool) {
	h.tb.Helper()
	h.do("look at "+path, func() {
		ns, ctx := h.Services().ServiceBus(), context.Background()
		if _, err := ns.GetTopic(ctx, path); err != nil {
			return
		}
		topic = true
		list, _ := ns.ListSubscriptions(ctx, path) // the topic is there
		for _, s := range list {
			subscriptions = append(subscriptions, path+"/Subscriptions/"+s.Name)
		}
	})
	return subscriptions, topic
}

// ServiceBusEntities returns the paths of what messages are received from: queues, and
// subscriptions as "topic/Subscriptions/name". Each has a dead-letter queue below it.
func (k busCalls) ServiceBusEntities() (paths []string) {
	k.h.tb.Helper()
	err := error(nil)
	k.h.do("list entities", func() { paths, err = entities(context.Background(), k.h.Services().ServiceBus()) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: list entities: %v", err)
	}
	return paths
}

func entities(ctx context.Context, ns *emulator.Namespace) (paths []string, err error) {
	queues, err := ns.ListQueues(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range queues {
		paths = append(paths, q.Name)
	}
	topics, err := ns.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		subscriptions, err := ns.ListSubscriptions(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		for _, s := range subscriptions {
			paths = append(paths, t.Name+"/Subscriptions/"+s.Name)
		}
	}
	return paths, nil
}
