package servicebus

import (
	"context"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/epoch"
)

// InEpoch is a namespace for a caller that began in an epoch: its receivers end
// with the epoch.
type InEpoch struct {
	*Namespace
	epoch *epoch.Epoch
}

var _ servicebus.Namespace = InEpoch{}

// In returns the namespace for a caller that began in that epoch.
func (ns *Namespace) In(e *epoch.Epoch) InEpoch { return InEpoch{ns, e} }

// Receiver implements servicebus.Namespace.
func (n InEpoch) Receiver(ctx context.Context, source string, opts *servicebus.ReceiverOptions) (r servicebus.Receiver, err error) {
	err = n.epoch.During(func() error {
		r, err = n.Namespace.Receiver(ctx, source, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.(*receiver).epoch = n.epoch // of this call's own
	return r, nil
}

// AcceptSession implements servicebus.Namespace.
func (n InEpoch) AcceptSession(ctx context.Context, source string, opts *servicebus.SessionOptions) (s servicebus.Session, err error) {
	err = n.epoch.During(func() error {
		s, err = n.Namespace.AcceptSession(ctx, source, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.(*sessionReceiver).epoch = n.epoch
	return s, nil
}
