package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/web/control"
)

// deleteEntity removes a queue, a topic or a subscription.
func (s *Server) deleteEntity(ctx context.Context, in control.DeleteEntity) (out control.EntityDeleted, err error) {
	path, err := busPath(in.Path)
	if err != nil {
		return out, err
	}
	if path.SubQueue != servicebus.MainQueue {
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("%q: a dead-letter queue goes with its entity", path), `"redeliver purge servicebus" empties it`)
	}
	e, err := s.busEntity(ctx, path)
	if err != nil {
		return out, err
	}
	out = control.EntityDeleted{Path: path.String(), Kind: e.Kind, Messages: allMessages(&e)}
	ns := s.host.Services().ServiceBus()
	switch e.Kind {
	case control.BusSubscription:
		return out, ns.DeleteSubscription(ctx, path.Entity, path.Subscription)
	case control.BusQueue:
		return out, ns.DeleteQueue(ctx, path.Entity)
	}
	subscriptions, err := ns.ListSubscriptions(ctx, path.Entity)
	if err != nil {
		return out, err
	}
	for _, info := range subscriptions {
		sub, err := s.busSubscription(ctx, info)
		if err != nil {
			return out, err
		}
		out.Subscriptions++
		out.Messages += allMessages(&sub)
	}
	return out, ns.DeleteTopic(ctx, path.Entity)
}

// allMessages counts the messages of an entity, dead letters too.
func allMessages(e *control.BusEntity) int64 {
	return messagesIn(e, servicebus.MainQueue) + e.DeadLetter + e.TransferDeadLetter
}

// deleteTopic removes a topic of Event Grid.
func (s *Server) deleteTopic(ctx context.Context, in control.DeleteTopic) (out control.GridDeleted, err error) {
	grid := s.host.Services().EventGrid()
	out = control.GridDeleted{Topic: in.Topic, Pending: len(grid.Deliveries(in.Topic, ""))}
	t, err := grid.Topic(in.Topic)
	if err != nil {
		return out, err
	}
	out.Topic = t.Name
	for _, info := range grid.Topics() {
		if info.Name == t.Name {
			out.Subscriptions = len(info.Subscriptions)
		}
	}
	return out, grid.DeleteTopic(ctx, t.Name)
}

// unsubscribe removes an event subscription.
func (s *Server) unsubscribe(ctx context.Context, in control.Unsubscribe) (control.GridDeleted, error) {
	grid := s.host.Services().EventGrid()
	out := control.GridDeleted{Topic: in.Topic, Subscription: in.Subscription, Pending: len(grid.Deliveries(in.Topic, in.Subscription))}
	return out, grid.Unsubscribe(ctx, in.Topic, in.Subscription)
}
