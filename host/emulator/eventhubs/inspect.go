package eventhubs

import (
	"context"
	"slices"

	"github.com/redeliver/redeliver/bindings/eventhubs"
)

// Kept lists the events that a partition keeps, oldest first. They are the namespace's
// own, and must not be changed.
func (ns *Namespace) Kept(ctx context.Context, hub, partition string) (out []*eventhubs.ReceivedEvent, err error) {
	err = ns.operate(ctx, FaultPoint{Op: "Partition", Hub: hub}, func(op *operation) error {
		p, err := ns.partition(hub, partition)
		if err != nil {
			return err
		}
		p.trim(op)
		out = slices.Clone(p.events)
		return nil
	})
	return out, err
}
