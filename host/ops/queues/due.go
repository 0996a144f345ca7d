package queues

import (
	"context"
	"fmt"

	"github.com/redeliver/redeliver/host/ops"
)

// due are the hidden messages of the queues, the first of each, and how many more
// there are.
func due(ctx context.Context, e *ops.Env) (out []ops.DueItem, more int, err error) {
	storage := e.Host.AppStorage()
	names, err := storage.Queues(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		hidden, err := storage.HiddenMessages(ctx, name)
		if err != nil {
			continue // deleted meanwhile
		}
		more += max(len(hidden)-ops.MostDue, 0)
		for _, m := range hidden[:min(len(hidden), ops.MostDue)] {
			item := ops.DueItem{At: m.NextVisible, Kind: "redelivery", MessageID: m.ID, Service: "queue", Entity: name,
				Text: fmt.Sprintf("queue %s delivers message %s again, unless it is done before", name, m.ID)}
			if m.DequeueCount == 0 {
				item.Kind, item.Text = "delayed", fmt.Sprintf("message %s appears in queue %s", m.ID, name)
			}
			out = append(out, item)
		}
	}
	return out, more, nil
}
