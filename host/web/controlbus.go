package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
)

// busRoutes are the routes of the embedded Service Bus namespace. Entities are
// named by a query parameter, because their paths hold slashes.
func (s *Server) busRoutes(handle func(method, path string, h http.HandlerFunc)) {
	handle("GET", "/servicebus", s.listBus)
	handle("PUT", "/servicebus/entity", s.embeddedBus(s.createEntity))
	handle("DELETE", "/servicebus/entity", s.embeddedBus(s.deleteEntity))
	handle("POST", "/servicebus/messages", s.embeddedBus(s.sendBus))
	handle("GET", "/servicebus/messages", s.embeddedBus(s.peekBus))
	handle("DELETE", "/servicebus/messages", s.embeddedBus(s.purgeBus))
	handle("POST", "/servicebus/redrive", s.embeddedBus(s.redriveBus))
	handle("POST", "/servicebus/expire-lock", s.embeddedBus(s.expireBus))
}

func (s *Server) embeddedBus(h http.HandlerFunc) http.HandlerFunc {
	return s.embeddedIn("servicebus", h)
}

// The kinds of entities.
const (
	BusQueue        = "queue"
	BusTopic        = "topic"
	BusSubscription = "subscription"
)

// BusEntity is an entity of the embedded Service Bus namespace, and how many
// messages it holds. A topic can hold scheduled ones only.
type BusEntity struct {
	Path               string      `json:"path"` // "orders", "events/Subscriptions/all"
	Kind               string      `json:"kind"`
	Active             int64       `json:"active"` // locked ones count
	Locked             int64       `json:"locked"`
	Scheduled          int64       `json:"scheduled"`
	Deferred           int64       `json:"deferred"`
	DeadLetter         int64       `json:"deadLetter"`
	TransferDeadLetter int64       `json:"transferDeadLetter"`
	Settings           BusSettings `json:"settings"`
}

// count takes over what the service counts.
func (e *BusEntity) count(c servicebus.Counts) {
	e.Active, e.Scheduled, e.Deferred = c.Active, c.Scheduled, c.Deferred
	e.DeadLetter, e.TransferDeadLetter = c.DeadLetter, c.TransferDeadLetter
}

// in is how many messages are in the entity itself, or in one of its sub-queues.
func (e *BusEntity) in(q servicebus.SubQueue) int64 {
	switch q {
	case servicebus.DeadLetterQueue:
		return e.DeadLetter
	case servicebus.TransferDeadLetterQueue:
		return e.TransferDeadLetter
	}
	return e.Active + e.Scheduled + e.Deferred
}

// busEntities lists queues, then topics, each with its subscriptions.
func (s *Server) busEntities(ctx context.Context) ([]BusEntity, error) {
	ns, out := s.host.Services().ServiceBus(), []BusEntity{}
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

func (s *Server) busQueue(ctx context.Context, q *servicebus.QueueInfo) (BusEntity, error) {
	e := BusEntity{Path: q.Name, Kind: BusQueue, Settings: queueSettings(&q.Queue)}
	e.count(q.Counts)
	return e, s.locks(ctx, &e)
}

func busTopic(t *servicebus.TopicInfo) BusEntity {
	e := BusEntity{Path: t.Name, Kind: BusTopic, Settings: topicSettings(&t.Topic)}
	e.count(t.Counts)
	return e
}

func (s *Server) busSubscription(ctx context.Context, sub *servicebus.SubscriptionInfo) (BusEntity, error) {
	path := servicebus.Path{Entity: sub.Topic, Subscription: sub.Name}
	e := BusEntity{Path: path.String(), Kind: BusSubscription, Settings: subscriptionSettings(&sub.Subscription)}
	e.count(sub.Counts)
	return e, s.locks(ctx, &e)
}

// locks counts the locked messages of an entity.
func (s *Server) locks(ctx context.Context, e *BusEntity) error {
	held, err := s.host.Services().ServiceBus().Held(ctx, e.Path)
	e.Locked = int64(len(held))
	return err
}

// busEntity is the entity of a path, whichever of its queues the path names.
func (s *Server) busEntity(ctx context.Context, path servicebus.Path) (BusEntity, error) {
	ns := s.host.Services().ServiceBus()
	if path.Subscription != "" {
		sub, err := ns.GetSubscription(ctx, path.Entity, path.Subscription)
		if err != nil {
			return BusEntity{}, err
		}
		return s.busSubscription(ctx, sub)
	}
	q, err := ns.GetQueue(ctx, path.Entity)
	if err == nil {
		return s.busQueue(ctx, q)
	}
	t, topicErr := ns.GetTopic(ctx, path.Entity)
	if errors.Is(topicErr, bindings.ErrNotFound) {
		return BusEntity{}, err
	} else if topicErr != nil {
		return BusEntity{}, topicErr
	}
	return busTopic(t), nil
}

func (s *Server) listBus(w http.ResponseWriter, r *http.Request) {
	var list struct {
		ServiceBus []BusEntity `json:"servicebus"`
	}
	err := s.inside("list service bus", func(ctx context.Context) (err error) {
		list.ServiceBus, err = s.busEntities(ctx)
		return err
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

// BusPurged says how many messages an entity held when it was emptied.
type BusPurged struct {
	Path    string `json:"path"`
	Removed int    `json:"removed"`
}

func (s *Server) purgeBus(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	out := BusPurged{Path: path.String()}
	err := s.inside("purge "+out.Path, func(ctx context.Context) (err error) {
		out.Removed, err = s.host.Services().ServiceBus().Purge(ctx, out.Path)
		return err
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// BusRedriven says what a redrive has moved.
type BusRedriven struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Moved int    `json:"moved"`
	Left  int64  `json:"left"` // still in From: locked, not asked for, or back there already
}

// redriveBus moves messages of a dead-letter queue back; a path without one means
// the entity's own.
func (s *Server) redriveBus(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	numbers, ok := sequenceNumbers(w, r)
	if !ok {
		return
	}
	if path.SubQueue == servicebus.MainQueue {
		path.SubQueue = servicebus.DeadLetterQueue
	}
	var out BusRedriven
	err := s.inside("redrive "+path.String(), func(ctx context.Context) error {
		e, err := s.busEntity(ctx, path)
		if err != nil {
			return err
		}
		out.To, out.From = e.Path, e.Path+string(path.SubQueue)
		if out.Moved, err = s.host.Services().ServiceBus().Redrive(ctx, out.From, numbers...); err != nil {
			return err
		}
		if e, err = s.busEntity(ctx, path); err != nil {
			return err
		}
		out.Left = e.in(path.SubQueue)
		return nil
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// BusExpired says how many messages had a lock that was ended.
type BusExpired struct {
	Path    string  `json:"path"`
	Session *string `json:"session,omitempty"`
	Expired int     `json:"expired"`
}

func (s *Server) expireBus(w http.ResponseWriter, r *http.Request) {
	path, ok := busPath(w, r)
	if !ok {
		return
	}
	numbers, ok := sequenceNumbers(w, r)
	if !ok {
		return
	}
	out := BusExpired{Path: path.String()}
	if list, given := r.URL.Query()["session"]; given {
		if len(numbers) > 0 {
			writeError(w, http.StatusBadRequest, "session and sequence exclude each other: messages of a session have no lock of their own", "")
			return
		}
		out.Session = &list[0]
	}
	err := s.inside("expire locks of "+out.Path, func(ctx context.Context) (err error) {
		if out.Session == nil {
			out.Expired, err = s.host.Services().ServiceBus().ExpireLocks(ctx, out.Path, numbers...)
			return err
		}
		held, err := s.host.Services().ServiceBus().Held(ctx, out.Path)
		if err != nil {
			return err
		}
		for _, h := range held {
			if h.SessionID != nil && *h.SessionID == *out.Session {
				out.Expired++
			}
		}
		return s.host.Services().ServiceBus().ExpireSession(ctx, out.Path, *out.Session)
	})
	if err != nil {
		busError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// busPath is the entity that a request is about.
func busPath(w http.ResponseWriter, r *http.Request) (servicebus.Path, bool) {
	text := r.URL.Query().Get("path")
	path, err := servicebus.ParsePath(text)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error(), "for instance orders, events/Subscriptions/all or orders/$DeadLetterQueue")
		return path, false
	}
	return path, true
}

// sequenceNumbers are those that a request names.
func sequenceNumbers(w http.ResponseWriter, r *http.Request) ([]int64, bool) {
	var out []int64
	for _, text := range r.URL.Query()["sequence"] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("sequence %q: want a sequence number", text), "peek shows them")
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// busError answers with the service's own condition.
func busError(w http.ResponseWriter, err error) {
	if noRoom(w, err) {
		return
	}
	e := messaging.ErrorOf(err)
	text, status, hint := e.Text, e.Status, ""
	if text == "" {
		text = err.Error()
	}
	switch {
	case errors.Is(err, bindings.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, bindings.ErrNotFound):
		hint = `"redeliver ls servicebus" lists the entities; "redeliver create servicebus NAME" makes a queue`
	case errors.Is(err, bindings.ErrMessageNotFound):
		hint = `"redeliver peek servicebus ENTITY" shows the sequence numbers`
	case errors.Is(err, messaging.ErrSessionLockLost):
		text, status = "the session is not locked", http.StatusConflict
	}
	writeError(w, status, text, hint)
}
