package eventgrid

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
)

func redrive(_ context.Context, e *ops.Env, entity, id string) (ops.Redriven, error) {
	topic, subscription, ok := strings.Cut(entity, "/")
	out := ops.Redriven{To: entity, ID: id}
	if !ok {
		return out, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("entity %q: want TOPIC/SUBSCRIPTION", entity), "")
	}
	err := e.Inside("redrive", func(ctx context.Context) error {
		letters, err := e.Host.Services().EventGrid().DeadLetters(ctx, topic, subscription)
		if err != nil {
			return err
		}
		for _, d := range letters {
			out.From, out.To = d.Container, d.Source()
			if id != "" && d.EventID != id {
				out.Left++
			} else if err := RedriveLetter(ctx, e, &out, d); err != nil {
				return err
			}
		}
		if id != "" && out.Moved == 0 {
			return ops.Refuse(http.StatusNotFound, fmt.Sprintf("event subscription %q has no dead letter of event %q", out.To, id), "it may be moved already")
		}
		return nil
	})
	return out, err
}

// RedriveLetter moves a dead letter and counts it.
func RedriveLetter(ctx context.Context, e *ops.Env, out *ops.Redriven, d *eventgrid.DeadLetter) error {
	if err := e.Host.Services().EventGrid().Redrive(ctx, d); err != nil {
		if out.Moved > 0 {
			err = fmt.Errorf("%w; moved before that: %d", err, out.Moved)
		}
		return err
	}
	out.Moved++
	return e.Host.Clock().Sleep(ctx, 0) // as in redrive.Mover
}

func each(_ context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	topic, subscription, _ := strings.Cut(entity, "/")
	grid := e.Host.Services().EventGrid()
	if _, err := grid.Topic(topic); err != nil {
		return err
	}
	for _, d := range grid.Deliveries(topic, subscription) {
		shown := &ops.ShownMessage{
			ID: d.Topic + "/" + d.Subscription + "/" + d.EventID, MessageID: d.EventID, State: "waiting", DeliveryCount: int64(len(d.Attempts)),
			Enqueued: d.Published, VisibleAt: d.Next, Expires: d.Expires, Reason: string(d.Reason),
			Properties: map[string]string{"eventType": d.EventType, "subject": d.Subject, "subscription": d.Subscription},
		}
		switch {
		case d.Next.IsZero():
			shown.State = "sending"
		case d.Reason != "" && d.Reason != eventgrid.TimeToLiveExceeded:
			shown.State = "dead"
		case shown.Reason == "":
			shown.Reason = string(d.Outcome)
		}
		if !visit(shown, d.Body) {
			return nil
		}
	}
	return nil
}

func release(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	return m, byHand(m, func(topic, subscription, event string) error {
		return e.Host.Services().EventGrid().Retry(ctx, topic, subscription, event)
	})
}

func bury(ctx context.Context, e *ops.Env, m ops.MessageMoved) (ops.MessageMoved, error) {
	return m, byHand(m, func(topic, subscription, event string) error {
		return e.Host.Services().EventGrid().GiveUp(ctx, topic, subscription, event)
	})
}

func byHand(m ops.MessageMoved, do func(topic, subscription, event string) error) error {
	parts := strings.SplitN(m.ID, "/", 3)
	if len(parts) < 3 {
		return ops.Refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want TOPIC/SUBSCRIPTION/EVENT", m.ID), "")
	}
	return do(parts[0], parts[1], parts[2])
}

// RedriveEvents gives the dead letters of an event subscription another chance.
type RedriveEvents struct {
	ops.Op[ops.Redriven] `step:"redrive"`

	Subscription string `step:"eventGrid,place"` // TOPIC/SUBSCRIPTION
	ID           string `step:"messageId"`       // of an event; empty: all of them
}

func (in RedriveEvents) Do(ctx context.Context, e *ops.Env) (out ops.Redriven, err error) {
	grid := e.Host.Services().EventGrid()
	topic, subscription, _ := strings.Cut(in.Subscription, "/")
	letters, err := grid.DeadLetters(ctx, topic, subscription)
	for _, d := range letters {
		if err != nil || in.ID != "" && d.EventID != in.ID {
			continue
		}
		if err = grid.Redrive(ctx, d); err != nil {
			return out, fmt.Errorf("event %q: %w", d.EventID, err)
		}
		out.Moved++
	}
	return out, err
}
