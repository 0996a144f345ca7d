package servicebus

import (
	"context"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops"
)

// count takes over what the service counts.
func count(e *BusEntity, c servicebus.Counts) {
	e.Active, e.Scheduled, e.Deferred = c.Active, c.Scheduled, c.Deferred
	e.DeadLetter, e.TransferDeadLetter = c.DeadLetter, c.TransferDeadLetter
}

// messagesIn is how many messages are in the entity itself, or in one of its sub-queues.
func messagesIn(e *BusEntity, q servicebus.SubQueue) int64 {
	switch q {
	case servicebus.DeadLetterQueue:
		return e.DeadLetter
	case servicebus.TransferDeadLetterQueue:
		return e.TransferDeadLetter
	}
	return e.Active + e.Scheduled + e.Deferred
}

// entities lists queues, then topics, each with its subscriptions.
func entities(ctx context.Context, env *ops.Env) ([]BusEntity, error) {
	ns, out := env.Host.Services().ServiceBus(), []BusEntity{}
	queues, err := ns.ListQueues(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range queues {
		e, err := queueEntity(ctx, env, q)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	topics, err := ns.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		out = append(out, topicEntity(t))
		subscriptions, err := ns.ListSubscriptions(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		for _, sub := range subscriptions {
			e, err := subscriptionEntity(ctx, env, sub)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func queueEntity(ctx context.Context, env *ops.Env, q *servicebus.QueueInfo) (BusEntity, error) {
	e := BusEntity{Path: q.Name, Kind: setting.Queue, Settings: shownSettings(&q.Queue)}
	count(&e, q.Counts)
	return e, locks(ctx, env, &e)
}

func topicEntity(t *servicebus.TopicInfo) BusEntity {
	e := BusEntity{Path: t.Name, Kind: setting.Topic, Settings: shownSettings(&t.Topic)}
	count(&e, t.Counts)
	return e
}

func subscriptionEntity(ctx context.Context, env *ops.Env, sub *servicebus.SubscriptionInfo) (BusEntity, error) {
	path := servicebus.Path{Entity: sub.Topic, Subscription: sub.Name}
	e := BusEntity{Path: path.String(), Kind: setting.Subscription, Settings: shownSettings(&sub.Subscription)}
	count(&e, sub.Counts)
	return e, locks(ctx, env, &e)
}

// locks counts the locked messages of an entity.
func locks(ctx context.Context, env *ops.Env, e *BusEntity) error {
	held, err := env.Host.Services().ServiceBus().Held(ctx, e.Path)
	e.Locked = int64(len(held))
	return err
}

// entityOf is the entity of a path, whichever of its queues the path names.
func entityOf(ctx context.Context, env *ops.Env, path servicebus.Path) (BusEntity, error) {
	ns := env.Host.Services().ServiceBus()
	if path.Subscription != "" {
		sub, err := ns.GetSubscription(ctx, path.Entity, path.Subscription)
		if err != nil {
			return BusEntity{}, err
		}
		return subscriptionEntity(ctx, env, sub)
	}
	q, err := ns.GetQueue(ctx, path.Entity)
	if err == nil {
		return queueEntity(ctx, env, q)
	}
	t, topicErr := ns.GetTopic(ctx, path.Entity)
	if errors.Is(topicErr, bindings.ErrNotFound) {
		return BusEntity{}, err
	} else if topicErr != nil {
		return BusEntity{}, topicErr
	}
	return topicEntity(t), nil
}

// parsePath is the entity that an operation is about.
func parsePath(text string) (servicebus.Path, error) {
	path, err := servicebus.ParsePath(text)
	if err != nil {
		return path, ops.Refuse(http.StatusBadRequest, err.Error(), "for instance orders, events/Subscriptions/all or orders/$DeadLetterQueue")
	}
	return path, nil
}
