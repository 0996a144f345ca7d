package servicebus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	emulator "github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops"
)

// peeked is how many messages of Service Bus are looked at together.
const peeked = 256

func each(ctx context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	path, err := parsePath(entity)
	if err != nil {
		return err
	}
	ns := e.Host.Services().ServiceBus()
	of, err := entityOf(ctx, e, path)
	if err != nil {
		return err
	}
	source, locks := of.Path+string(path.SubQueue), map[int64]emulator.Held{}
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
			shown := shownOf(m, locks)
			if path.SubQueue != "" {
				shown.Origin = of.Path
			}
			if !visit(shown, m.Body) {
				return nil
			}
		}
		from = found[len(found)-1].SequenceNumber + 1
		// A long queue must not keep all others from their turn.
		if err := e.Host.Clock().Sleep(ctx, 0); err != nil {
			return err
		}
	}
}

func shownOf(m *servicebus.Received, locks map[int64]emulator.Held) *ops.ShownMessage {
	told := show(m, locks)
	out := &ops.ShownMessage{
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

func release(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	return byHand(m, func(source string, number int64) error {
		return e.Host.Services().ServiceBus().Release(ctx, source, number)
	})
}

func bury(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	m, err := byHand(m, func(source string, number int64) error {
		return e.Host.Services().ServiceBus().Bury(ctx, source, number, "ByHand", "Moved to the dead-letter queue by hand.")
	})
	if err == nil {
		m.Target = m.Entity + string(servicebus.DeadLetterQueue)
	}
	return m, err
}

func byHand(m ops.MessageMoved, do func(source string, number int64) error) (ops.MessageMoved, error) {
	path, err := parsePath(m.Entity)
	if err != nil {
		return m, err
	}
	m.Entity = path.String()
	number, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return m, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want a sequence number", m.ID), "")
	}
	err = do(m.Entity, number)
	if e := (*messaging.Error)(nil); errors.As(err, &e) && e.Condition == messaging.ConditionNotAllowed {
		return m, ops.Refuse(http.StatusConflict, e.Text, "")
	}
	return m, ops.GoneFrom(m, err)
}

func redrive(_ context.Context, e *ops.Env, entity, id string) (out ops.Redriven, err error) {
	in := RedriveEntity{Path: entity}
	if id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want a sequence number", id), "")
		}
		in.Sequence = []int64{n}
	}
	err = e.Inside("redrive", func(ctx context.Context) (err error) {
		out, err = in.Do(ctx, e)
		return err
	})
	return out, err
}
