package servicebus

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops"
)

// due are the ends of locks and the scheduled messages, the first of each
// entity.
func due(ctx context.Context, env *ops.Env) (out []ops.DueItem, more int, err error) {
	entities, err := entities(ctx, env)
	if err != nil {
		return nil, 0, err
	}
	ns := env.Host.Services().ServiceBus()
	for i := range entities {
		e := &entities[i]
		if e.Locked > 0 && e.Kind != setting.Topic {
			held, err := ns.Held(ctx, e.Path)
			if err != nil {
				continue // deleted meanwhile
			}
			more += max(len(held)-ops.MostDue, 0)
			for _, h := range held[:min(len(held), ops.MostDue)] {
				out = append(out, ops.DueItem{At: h.Until, Kind: "lock", MessageID: h.MessageID, Service: "servicebus", Entity: e.Path,
					Text: fmt.Sprintf("the lock of message %s of %s ends, unless it is done or renewed before", h.MessageID, e.Path)})
			}
		}
		if e.Scheduled == 0 {
			continue
		}
		n := 0
		if err := each(ctx, env, e.Path, func(m *ops.ShownMessage, _ []byte) bool {
			if m.State == "scheduled" {
				n++
				out = append(out, ops.DueItem{At: m.VisibleAt, Kind: "scheduled", MessageID: m.MessageID, Service: "servicebus", Entity: e.Path,
					Text: fmt.Sprintf("message %s of %s becomes active", m.MessageID, e.Path)})
			}
			return n < ops.MostDue
		}); err != nil {
			continue // deleted meanwhile
		}
		more += max(int(e.Scheduled)-n, 0)
	}
	return out, more, nil
}
