package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// BusDeleted says what was deleted. A topic goes with its subscriptions.
type BusDeleted struct {
	Path          string `json:"path"`
	Kind          string `json:"kind"`
	Subscriptions int    `json:"subscriptions,omitempty"` // of a topic
	Messages      int64  `json:"messages"`                // that went with it, dead letters and those of subscriptions included
}

// deleteEntity removes a queue, a topic or a subscription.
func (s *Server) deleteEntity(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	if path.SubQueue != servicebus.MainQueue {
		writeError(w, http.StatusBadRequest, fmt.Sprintf("%q: a dead-letter queue goes with its entity", path), `"redeliver purge servicebus" empties it`)
		return
	}
	out := BusDeleted{Path: path.String()}
	err := s.inside("delete "+out.Path, func(ctx context.Context) error {
		e, err := s.busEntity(ctx, path)
		if err != nil {
			return err
		}
		out.Kind = e.Kind
		out.add(&e)
		ns := s.host.Services().ServiceBus()
		switch e.Kind {
		case BusSubscription:
			return ns.DeleteSubscription(ctx, path.Entity, path.Subscription)
		case BusQueue:
			return ns.DeleteQueue(ctx, path.Entity)
		}
		subscriptions, err := ns.ListSubscriptions(ctx, path.Entity)
		if err != nil {
			return err
		}
		for _, info := range subscriptions {
			sub, err := s.busSubscription(ctx, info)
			if err != nil {
				return err
			}
			out.Subscriptions++
			out.add(&sub)
		}
		return ns.DeleteTopic(ctx, path.Entity)
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// add counts the messages of an entity.
func (d *BusDeleted) add(e *BusEntity) {
	d.Messages += e.in(servicebus.MainQueue) + e.DeadLetter + e.TransferDeadLetter
}

// GridDeleted says what was deleted of Event Grid: a topic with its event
// subscriptions, or one of them.
type GridDeleted struct {
	Topic         string `json:"topic"`
	Subscription  string `json:"subscription,omitempty"`
	Subscriptions int    `json:"subscriptions,omitempty"` // of a topic
	Pending       int    `json:"pending"`                 // events that were not delivered yet
}

// deleteTopic removes a topic of Event Grid.
func (s *Server) deleteTopic(w http.ResponseWriter, r *http.Request) {
	out := GridDeleted{Topic: r.URL.Query().Get("topic")}
	s.deleteGrid(w, &out, func(ctx context.Context) error {
		t, err := s.host.Services().EventGrid().Topic(out.Topic)
		if err != nil {
			return err
		}
		out.Topic = t.Name
		for _, info := range s.host.Services().EventGrid().Topics() {
			if info.Name == t.Name {
				out.Subscriptions = len(info.Subscriptions)
			}
		}
		return s.host.Services().EventGrid().DeleteTopic(ctx, t.Name)
	})
}

// deleteSubscription removes an event subscription.
func (s *Server) deleteSubscription(w http.ResponseWriter, r *http.Request) {
	out := GridDeleted{Topic: r.URL.Query().Get("topic"), Subscription: r.URL.Query().Get("name")}
	s.deleteGrid(w, &out, func(ctx context.Context) error {
		return s.host.Services().EventGrid().Unsubscribe(ctx, out.Topic, out.Subscription)
	})
}

func (s *Server) deleteGrid(w http.ResponseWriter, out *GridDeleted, remove func(ctx context.Context) error) {
	err := s.inside("delete from event grid", func(ctx context.Context) error {
		out.Pending = len(s.host.Services().EventGrid().Deliveries(out.Topic, out.Subscription))
		return remove(ctx)
	})
	if err != nil {
		gridError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}
