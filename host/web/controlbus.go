package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/web/control"
)

// count takes over what the service counts.
func count(e *control.BusEntity, c servicebus.Counts) {
	e.Active, e.Scheduled, e.Deferred = c.Active, c.Scheduled, c.Deferred
	e.DeadLetter, e.TransferDeadLetter = c.DeadLetter, c.TransferDeadLetter
}

// messagesIn is how many messages are in the entity itself, or in one of its sub-queues.
func messagesIn(e *control.BusEntity, q servicebus.SubQueue) int64 {
	switch q {
	case servicebus.DeadLetterQueue:
		return e.DeadLetter
	case servicebus.TransferDeadLetterQueue:
		return e.TransferDeadLetter
	}
	return e.Active + e.Scheduled + e.Deferred
}

// busEntities lists queues, then topics, each with its subscriptions.
func (s *Server) busEntities(ctx context.Context) ([]control.BusEntity, error) {
	ns, out := s.host.Services().ServiceBus(), []control.BusEntity{}
	queues, err := ns.ListQueues(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range queues {
		e, err := s.busQueue(ctx, q)
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
		out = append(out, busTopic(t))
		subscriptions, err := ns.ListSubscriptions(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		for _, sub := range subscriptions {
			e, err := s.busSubscription(ctx, sub)
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func (s *Server) busQueue(ctx context.Context, q *servicebus.QueueInfo) (control.BusEntity, error) {
	e := control.BusEntity{Path: q.Name, Kind: setting.Queue, Settings: shownSettings(&q.Queue)}
	count(&e, q.Counts)
	return e, s.locks(ctx, &e)
}

func busTopic(t *servicebus.TopicInfo) control.BusEntity {
	e := control.BusEntity{Path: t.Name, Kind: setting.Topic, Settings: shownSettings(&t.Topic)}
	count(&e, t.Counts)
	return e
}

func (s *Server) busSubscription(ctx context.Context, sub *servicebus.SubscriptionInfo) (control.BusEntity, error) {
	path := servicebus.Path{Entity: sub.Topic, Subscription: sub.Name}
	e := control.BusEntity{Path: path.String(), Kind: setting.Subscription, Settings: shownSettings(&sub.Subscription)}
	count(&e, sub.Counts)
	return e, s.locks(ctx, &e)
}

// locks counts the locked messages of an entity.
func (s *Server) locks(ctx context.Context, e *control.BusEntity) error {
	held, err := s.host.Services().ServiceBus().Held(ctx, e.Path)
	e.Locked = int64(len(held))
	return err
}

// busEntity is the entity of a path, whichever of its queues the path names.
func (s *Server) busEntity(ctx context.Context, path servicebus.Path) (control.BusEntity, error) {
	ns := s.host.Services().ServiceBus()
	if path.Subscription != "" {
		sub, err := ns.GetSubscription(ctx, path.Entity, path.Subscription)
		if err != nil {
			return control.BusEntity{}, err
		}
		return s.busSubscription(ctx, sub)
	}
	q, err := ns.GetQueue(ctx, path.Entity)
	if err == nil {
		return s.busQueue(ctx, q)
	}
	t, topicErr := ns.GetTopic(ctx, path.Entity)
	if errors.Is(topicErr, bindings.ErrNotFound) {
		return control.BusEntity{}, err
	} else if topicErr != nil {
		return control.BusEntity{}, topicErr
	}
	return busTopic(t), nil
}

func (s *Server) listEntities(ctx context.Context, _ control.ListEntities) (out control.BusEntities, err error) {
	out.ServiceBus, err = s.busEntities(ctx)
	return out, err
}

func (s *Server) purgeEntity(ctx context.Context, in control.PurgeEntity) (out control.Purged, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	out.Path = path.String()
	out.Removed, err = s.host.Services().ServiceBus().Purge(ctx, out.Path)
	return out, err
}

// redriveEntity moves messages of a dead-letter queue back; a path without one means
// the entity's own.
func (s *Server) redriveEntity(ctx context.Context, in control.RedriveEntity) (out control.Redriven, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue == servicebus.MainQueue {
		path.SubQueue = servicebus.DeadLetterQueue
	}
	e, err := s.busEntity(ctx, path)
	if err != nil {
		return out, err
	}
	out.To, out.From = e.Path, e.Path+string(path.SubQueue)
	if out.Moved, err = s.host.Services().ServiceBus().Redrive(ctx, out.From, in.Sequence...); err != nil {
		return out, err
	}
	e, err = s.busEntity(ctx, path)
	out.Left = int(messagesIn(&e, path.SubQueue))
	return out, err
}

func (s *Server) expireLocks(ctx context.Context, in control.ExpireLocks) (out control.LocksExpired, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	if in.Session != nil && len(in.Sequence) > 0 {
		return out, refuse(http.StatusBadRequest, "session and sequence exclude each other: messages of a session have no lock of their own", "")
	}
	ns := s.host.Services().ServiceBus()
	out = control.LocksExpired{Path: path.String(), Session: in.Session}
	if in.Session == nil {
		out.Expired, err = ns.ExpireLocks(ctx, out.Path, in.Sequence...)
		return out, err
	}
	held, err := ns.Held(ctx, out.Path)
	if err != nil {
		return out, err
	}
	for _, h := range held {
		if h.SessionID != nil && *h.SessionID == *in.Session {
			out.Expired++
		}
	}
	return out, ns.ExpireSession(ctx, out.Path, *in.Session)
}

// busPath is the entity that an operation is about.
func busPath(text string) (servicebus.Path, error) {
	path, err := servicebus.ParsePath(text)
	if err != nil {
		return path, refuse(http.StatusBadRequest, err.Error(), "for instance orders, events/Subscriptions/all or orders/$DeadLetterQueue")
	}
	return path, nil
}
