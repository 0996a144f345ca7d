package eventhubs

import (
	"context"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/epoch"
)

// InEpoch is a namespace for a caller that began in an epoch: its readers end with
// the epoch.
type InEpoch struct {
	*Namespace
	epoch *epoch.Epoch
}

var _ eventhubs.Namespace = InEpoch{}

// In returns the namespace for a caller that began in that epoch.
func (ns *Namespace) In(e *epoch.Epoch) InEpoch { return InEpoch{ns, e} }

// Hub implements eventhubs.Namespace.
func (n InEpoch) Hub(ctx context.Context, name string) (out *eventhubs.Properties, err error) {
	err = n.epoch.During(func() error {
		out, err = n.Namespace.Hub(ctx, name)
		return err
	})
	return out, err
}

// ReadEvents implements eventhubs.Namespace.
func (n InEpoch) ReadEvents(ctx context.Context, hub, group, partition string, from eventhubs.Position, opts *eventhubs.ReaderOptions) (r eventhubs.Reader, err error) {
	err = n.epoch.During(func() error {
		r, err = n.Namespace.ReadEvents(ctx, hub, group, partition, from, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.(*reader).epoch = n.epoch // of this call's own
	return r, nil
}
