package eventhubs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redeliver/redeliver/host/ops"
)

func each(ctx context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	hubs := e.Host.Services().EventHubs()
	hub, err := hubs.Hub(ctx, entity)
	if err != nil {
		return err
	}
	for _, partition := range hub.Partitions {
		events, err := hubs.Kept(ctx, entity, partition)
		if err != nil {
			return err
		}
		for _, e := range events {
			shown := &ops.ShownMessage{
				ID: partition + "/" + strconv.FormatInt(e.SequenceNumber, 10), MessageID: e.MessageID, State: "visible", Enqueued: e.EnqueuedTime,
				Properties: map[string]string{"partition": partition},
			}
			for name, value := range e.Properties {
				shown.Properties[name] = fmt.Sprint(ops.PlainValue(value))
			}
			if e.PartitionKey != nil {
				shown.Properties["partitionKey"] = *e.PartitionKey
			}
			if !visit(shown, e.Body) {
				return nil
			}
		}
	}
	return nil
}
