package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/messaging"
	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/web/view"
)

// peeked is how many messages of Service Bus are looked at together.
const peeked = 256

func (s *Server) eachOfBus(ctx context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	path, err := busPath(entity)
	if err != nil {
		return err
	}
	ns := s.host.Services().ServiceBus()
	of, err := s.busEntity(ctx, path)
	if err != nil {
		return err
	}
	source, locks := of.Path+string(path.SubQueue), map[int64]servicebus.Held{}
	if of.Kind != setting.Topic {
		held, err := ns.Held(ctx, source)
		if err != nil {
			return err
		}
		for _, h := range held {
			locks[h.SequenceNumber] = h
		}
	}
	for from := int64(0); ; {
		found, err := ns.Peek(ctx, source, nil, from, peeked)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, m := range found {
			shown := shownOfBus(m, locks)
			if path.SubQueue != "" {
				shown.Origin = of.Path
			}
			if !visit(shown, m.Body) {
				return nil
			}
		}
		from = found[len(found)-1].SequenceNumber + 1
		// A long queue must not keep all others from their turn.
		if err := s.host.Clock().Sleep(ctx, 0); err != nil {
			return err
		}
	}
}

func shownOfBus(m *servicebusapi.Received, locks map[int64]servicebus.Held) *view.ShownMessage {
	told := showBus(m, locks)
	out := &view.ShownMessage{
		ID: strconv.FormatInt(m.SequenceNumber, 10), MessageID: m.MessageID, Sequence: m.SequenceNumber, State: told.State, DeliveryCount: m.DeliveryCount,
		Enqueued: m.EnqueuedTime, Expires: m.ExpiresAt, VisibleAt: told.LockedUntil, Reason: told.DeadLetterReason, Properties: map[string]string{},
	}
	if !told.ScheduledFor.IsZero() {
		out.VisibleAt = told.ScheduledFor
	}
	if told.DeadLetterDescription != "" {
		out.Reason += ": " + told.DeadLetterDescription
	}
	for name, value := range told.Properties {
		out.Properties[name] = fmt.Sprint(value)
	}
	for name, value := range map[string]string{"subject": m.Subject, "contentType": m.ContentType, "correlationId": m.CorrelationID, "to": m.To, "replyTo": m.ReplyTo} {
		if _, own := out.Properties[name]; value != "" && !own {
			out.Properties[name] = value
		}
	}
	if m.SessionID != nil {
		out.Properties["sessionId"] = *m.SessionID
	}
	return out
}

func (s *Server) releaseOfBus(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	return s.handOfBus(m, func(source string, number int64) error {
		return s.host.Services().ServiceBus().Release(ctx, source, number)
	})
}

func (s *Server) poisonOfBus(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	m, err := s.handOfBus(m, func(source string, number int64) error {
		return s.host.Services().ServiceBus().Bury(ctx, source, number, "ByHand", "Moved to the dead-letter queue by hand.")
	})
	if err == nil {
		m.Target = m.Entity + string(servicebusapi.DeadLetterQueue)
	}
	return m, err
}

func (s *Server) handOfBus(m view.MessageMoved, do func(source string, number int64) error) (view.MessageMoved, error) {
	path, err := busPath(m.Entity)
	if err != nil {
		return m, err
	}
	m.Entity = path.String()
	number, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return m, refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want a sequence number", m.ID), "")
	}
	err = do(m.Entity, number)
	if e := (*messaging.Error)(nil); errors.As(err, &e) && e.Condition == messaging.ConditionNotAllowed {
		return m, refuse(http.StatusConflict, e.Text, "")
	}
	return m, goneFrom(m, err)
}
