package eventgrid

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/host/ops"
)

// due are the next attempts of events.
func due(_ context.Context, e *ops.Env) (out []ops.DueItem, more int, err error) {
	for _, d := range e.Host.Services().EventGrid().Deliveries("", "") {
		if d.Next.IsZero() {
			continue
		}
		text := fmt.Sprintf("Event Grid sends event %s to %s, attempt %d", d.EventID, d.Subscription, len(d.Attempts)+1)
		if d.Reason != "" {
			text = fmt.Sprintf("Event Grid gives event %s for %s up: %s", d.EventID, d.Subscription, d.Reason)
		}
		out = append(out, ops.DueItem{At: d.Next, Kind: "event", MessageID: d.EventID, Service: "eventgrid", Entity: d.Topic + "/" + d.Subscription, Text: text})
	}
	return out, 0, nil
}
