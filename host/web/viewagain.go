package web

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/web/view"
)

// runAgain runs what a delivery was about again, by the kind of its trigger.
func (s *Server) runAgain(ctx context.Context, in view.RunAgain) (out view.RanAgain, err error) {
	rec, ok := s.host.Journal().FindKind(1, journal.Received, func(r *journal.Record) bool { return r.Delivery == in.Delivery })
	if !ok || in.Delivery == "" {
		return out, refuse(http.StatusNotFound, fmt.Sprintf("the journal has no delivery %q", in.Delivery), "it keeps what happened since the start of the host, up to a limit")
	}
	out = view.RanAgain{Delivery: rec.Delivery, Function: rec.Function}
	kind := served.Of(rec.Trigger)
	switch {
	case kind == nil:
	case kind.Keeper != "":
		k, err := s.keeper(kind.Keeper)
		if err != nil {
			return out, err
		}
		if k.again == nil {
			break
		}
		out.Service, out.Entity = kind.Keeper, rec.Source
		err = s.inside("RunAgain", func(ctx context.Context) (err error) {
			out.NewID, err = k.again(ctx, rec.Source, rec.MessageID)
			return err
		})
		return out, k.told(err)
	case kind.Scheduled:
		if h := s.appOf(rec.Function); h != nil {
			return out, h.InvokeAsync(ctx, rec.OwnFunction(), "")
		}
		return out, s.noSuch("function", rec.Function, s.functionNames())
	}
	return out, refuse(http.StatusConflict, fmt.Sprintf("delivery %s cannot run again: the host does not keep what it brought", rec.Delivery),
		fmt.Sprintf("\"redeliver invoke %s BODY\" calls the function with a body", rec.Function))
}

// spent refuses to run a message again that is nowhere any more.
func spent(entity, id string) error {
	return refuse(http.StatusConflict, fmt.Sprintf("message %q of %s cannot be sent again: its body went with it", id, entity), "a message that is done is deleted; send it anew")
}

// againOfQueue sends a message that is still in its queue, or in its poison queue.
func (s *Server) againOfQueue(ctx context.Context, entity, id string) (newID string, err error) {
	storage := s.host.AppStorage()
	m, err := storage.QueueMessage(ctx, entity, id)
	if errors.Is(err, bindings.ErrMessageNotFound) || errors.Is(err, bindings.ErrNotFound) {
		at, copied := s.poisonCopy(id)
		if copied == "" {
			return "", spent(entity, id)
		}
		m, err = storage.QueueMessage(ctx, at, copied)
	}
	if errors.Is(err, bindings.ErrMessageNotFound) || errors.Is(err, bindings.ErrNotFound) {
		return "", spent(entity, id)
	} else if err != nil {
		return "", err
	}
	put, err := queue.PutOrCreate(ctx, storage.Queue(entity), m.Text, nil)
	if err != nil {
		return "", err
	}
	return put.ID, nil
}

// poisonCopy is where the copy of a poison message is, and its identity.
func (s *Server) poisonCopy(id string) (at, copied string) {
	s.of(func(rec *journal.Record) {
		if rec.MessageID != id {
			return
		}
		for _, f := range rec.Fields {
			if f.Key == "new_message_id" {
				at, copied = rec.Target, f.Value
			}
		}
	}, journal.Settled, journal.Forwarded)
	return at, copied
}

// againOfBus sends a message that is still in its queue, or among its dead letters.
func (s *Server) againOfBus(ctx context.Context, entity, id string) (newID string, err error) {
	path, err := busPath(entity)
	if err != nil {
		return "", err
	}
	if path.Subscription != "" {
		return "", refuse(http.StatusConflict, fmt.Sprintf("%s is a subscription: a new message would reach all subscriptions of its topic", entity),
			`"redeliver redrive servicebus" moves its dead letters back to it`)
	}
	path.SubQueue = ""
	ns := s.host.Services().ServiceBus()
	for _, source := range []string{path.String(), path.String() + string(servicebusapi.DeadLetterQueue)} {
		for from := int64(0); ; {
			found, err := ns.Peek(ctx, source, nil, from, peeked)
			if err != nil {
				return "", err
			}
			for _, m := range found {
				if m.MessageID == id {
					return s.sendCopy(ctx, path.String(), m)
				}
			}
			if len(found) == 0 {
				break
			}
			from = found[len(found)-1].SequenceNumber + 1
		}
	}
	return "", spent(entity, id)
}

// sendCopy sends a message as a new one.
func (s *Server) sendCopy(ctx context.Context, entity string, m *servicebusapi.Received) (newID string, err error) {
	fresh := m.Message
	fresh.MessageID, fresh.ScheduledEnqueueTime, fresh.Wire = uuid.NewString(), time.Time{}, nil
	fresh.ApplicationProperties = maps.Clone(fresh.ApplicationProperties)
	delete(fresh.ApplicationProperties, servicebusapi.DeadLetterReason)
	delete(fresh.ApplicationProperties, servicebusapi.DeadLetterErrorDescription)
	return fresh.MessageID, s.host.Services().ServiceBus().Send(ctx, entity, &fresh)
}
