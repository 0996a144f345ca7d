package servicebus

import (
	"context"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

func (e *entity) queueInfo() *servicebus.QueueInfo {
	return &servicebus.QueueInfo{Queue: *e.queue, Runtime: e.runtime()}
}

func (e *entity) topicInfo() *servicebus.TopicInfo {
	return &servicebus.TopicInfo{Topic: *e.topic, Runtime: e.runtime(), SubscriptionCount: len(e.subscriptions)}
}

func (e *entity) subscriptionInfo() *servicebus.SubscriptionInfo {
	return &servicebus.SubscriptionInfo{Subscription: *e.subscription, Runtime: e.runtime()}
}

// onEntity runs f, whose result is reported, on a path that an administrator
// named.
func onEntity[T any](ctx context.Context, ns *Namespace, what, entity, subscription string, f func(op *operation, p servicebus.Path) (T, error)) (out T, err error) {
	var none T
	p, err := named(entity, subscription)
	if err != nil {
		return none, err
	}
	err = ns.operate(ctx, FaultPoint{Op: what, Entity: p.String()}, func(op *operation) error {
		out, err = f(op, p)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}

// fixed refuses an update of what can only be set at creation, in the service's words
// (azure-sdk-for-go, azservicebus/admin live tests UpdateQueue, UpdateSubscription).
func fixed(kind, property string, before, after bool) error {
	if before != after {
		return refuse(messaging.ConditionArgumentError, "The value for the %s property of an existing %s cannot be changed", property, kind)
	}
	return nil
}

// keepPartitioning is fixed for enablePartitioning, which an update may leave out (live
// test UpdateTopic).
func keepPartitioning(kind string, before *bool, after **bool) error {
	if *after == nil {
		*after = before
		return nil
	}
	if was := before != nil && *before; was != **after {
		return refuse(messaging.ConditionArgumentError, "Partitioning cannot be changed for %s", kind)
	}
	return nil
}

// CreateQueue implements servicebus.Admin.
func (ns *Namespace) CreateQueue(ctx context.Context, d servicebus.Queue) (*servicebus.QueueInfo, error) {
	return onEntity(ctx, ns, "CreateQueue", d.Name, "", func(op *operation, p servicebus.Path) (*servicebus.QueueInfo, error) {
		e := newEntity(ns, p)
		e.queue = &d
		if err := e.create(op); err != nil {
			return nil, err
		}
		return e.queueInfo(), nil
	})
}

// GetQueue implements servicebus.Admin.
func (ns *Namespace) GetQueue(ctx context.Context, name string) (*servicebus.QueueInfo, error) {
	return onEntity(ctx, ns, "GetQueue", name, "", func(op *operation, p servicebus.Path) (*servicebus.QueueInfo, error) {
		e, err := op.lookUp(queueKind, p)
		if err != nil {
			return nil, err
		}
		return e.queueInfo(), nil
	})
}

// UpdateQueue implements servicebus.Admin.
func (ns *Namespace) UpdateQueue(ctx context.Context, d servicebus.Queue) (*servicebus.QueueInfo, error) {
	return onEntity(ctx, ns, "UpdateQueue", d.Name, "", func(op *operation, p servicebus.Path) (*servicebus.QueueInfo, error) {
		e, err := op.lookUp(queueKind, p)
		if err != nil {
			return nil, err
		}
		if err := fixed("Queue", "RequiresSession", e.queue.RequiresSession, d.RequiresSession); err != nil {
			return nil, err
		}
		if err := fixed("Queue", "RequiresDuplicateDetection", e.queue.RequiresDuplicateDetection, d.RequiresDuplicateDetection); err != nil {
			return nil, err
		}
		if err := keepPartitioning("Queue", e.queue.EnablePartitioning, &d.EnablePartitioning); err != nil {
			return nil, err
		}
		before := e.queue
		e.queue = &d
		if err := e.fill(); err != nil {
			e.queue = before
			return nil, err
		}
		e.changed(op)
		return e.queueInfo(), nil
	})
}

// DeleteQueue implements servicebus.Admin.
func (ns *Namespace) DeleteQueue(ctx context.Context, name string) error {
	return remove(ctx, ns, "DeleteQueue", queueKind, name, "")
}

// ListQueues implements servicebus.Admin.
func (ns *Namespace) ListQueues(ctx context.Context) (list []*servicebus.QueueInfo, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "ListQueues"}, func(op *operation) error {
		for _, e := range op.all(queueKind) {
			list = append(list, e.queueInfo())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// CreateTopic implements servicebus.Admin.
func (ns *Namespace) CreateTopic(ctx context.Context, d servicebus.Topic) (*servicebus.TopicInfo, error) {
	return onEntity(ctx, ns, "CreateTopic", d.Name, "", func(op *operation, p servicebus.Path) (*servicebus.TopicInfo, error) {
		e := newEntity(ns, p)
		e.topic = &d
		if err := e.create(op); err != nil {
			return nil, err
		}
		return e.topicInfo(), nil
	})
}

// GetTopic implements servicebus.Admin.
func (ns *Namespace) GetTopic(ctx context.Context, name string) (*servicebus.TopicInfo, error) {
	return onEntity(ctx, ns, "GetTopic", name, "", func(op *operation, p servicebus.Path) (*servicebus.TopicInfo, error) {
		e, err := op.lookUp(topicKind, p)
		if err != nil {
			return nil, err
		}
		return e.topicInfo(), nil
	})
}

// UpdateTopic implements servicebus.Admin.
func (ns *Namespace) UpdateTopic(ctx context.Context, d servicebus.Topic) (*servicebus.TopicInfo, error) {
	return onEntity(ctx, ns, "UpdateTopic", d.Name, "", func(op *operation, p servicebus.Path) (*servicebus.TopicInfo, error) {
		e, err := op.lookUp(topicKind, p)
		if err != nil {
			return nil, err
		}
		if err := fixed("Topic", "RequiresDuplicateDetection", e.topic.RequiresDuplicateDetection, d.RequiresDuplicateDetection); err != nil {
			return nil, err
		}
		if err := keepPartitioning("Topic", e.topic.EnablePartitioning, &d.EnablePartitioning); err != nil {
			return nil, err
		}
		before := e.topic
		e.topic = &d
		if err := e.fill(); err != nil {
			e.topic = before
			return nil, err
		}
		e.changed(op)
		return e.topicInfo(), nil
	})
}

// DeleteTopic implements servicebus.Admin.
func (ns *Namespace) DeleteTopic(ctx context.Context, name string) error {
	return remove(ctx, ns, "DeleteTopic", topicKind, name, "")
}

// ListTopics implements servicebus.Admin.
func (ns *Namespace) ListTopics(ctx context.Context) (list []*servicebus.TopicInfo, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "ListTopics"}, func(op *operation) error {
		for _, e := range op.all(topicKind) {
			list = append(list, e.topicInfo())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
