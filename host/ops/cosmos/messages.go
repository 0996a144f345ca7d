package cosmos

import (
	"context"

	"github.com/redeliver/redeliver/host/ops"
)

func each(ctx context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	spec := specOf(NewContainer{Container: entity})
	c, err := e.Host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if err != nil {
		return err
	}
	items, err := c.Items(ctx, "")
	for _, item := range items {
		shown := &ops.ShownMessage{ID: item.ID, State: "visible", Enqueued: item.Modified, Properties: map[string]string{}}
		if item.Key != "" {
			shown.Properties["partitionKey"] = string(item.Key)
		}
		if !visit(shown, item.Body) {
			break
		}
	}
	return err
}
