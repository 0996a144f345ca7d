package servicebus

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/ops"
)

// again sends a message that is still in its queue, or among its dead letters.
func again(ctx context.Context, e *ops.Env, entity, id string) (newID string, err error) {
	path, err := parsePath(entity)
	if err != nil {
		return "", err
	}
	if path.Subscription != "" {
		return "", ops.Refuse(http.StatusConflict, fmt.Sprintf("%s is a subscription: a new message would reach all subscriptions of its topic", entity),
			`"redeliver redrive servicebus" moves its dead letters back to it`)
	}
	path.SubQueue = ""
	ns := e.Host.Services().ServiceBus()
	for _, source := range []string{path.String(), path.String() + string(servicebus.DeadLetterQueue)} {
		for from := int64(0); ; {
			found, err := ns.Peek(ctx, source, nil, from, peeked)
			if err != nil {
				return "", err
			}
			for _, m := range found {
				if m.MessageID == id {
					return sendCopy(ctx, e, path.String(), m)
				}
			}
			if len(found) == 0 {
				break
			}
			from = found[len(found)-1].SequenceNumber + 1
		}
	}
	return "", ops.Spent(entity, id)
}

// sendCopy sends a message as a new one.
func sendCopy(ctx context.Context, e *ops.Env, entity string, m *servicebus.Received) (newID string, err error) {
	fresh := m.Message
	fresh.MessageID, fresh.ScheduledEnqueueTime, fresh.Wire = uuid.NewString(), time.Time{}, nil
	fresh.ApplicationProperties = maps.Clone(fresh.ApplicationProperties)
	delete(fresh.ApplicationProperties, servicebus.DeadLetterReason)
	delete(fresh.ApplicationProperties, servicebus.DeadLetterErrorDescription)
	return fresh.MessageID, e.Host.Services().ServiceBus().Send(ctx, entity, &fresh)
}
