package cosmos

import (
	"context"

	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/emulator/epoch"
)

// InEpoch is an account for a caller that began in an epoch: its containers end
// with the epoch.
type InEpoch struct {
	*Account
	epoch *epoch.Epoch
}

var _ cosmos.Account = InEpoch{}

// In returns the account for a caller that began in that epoch.
func (a *Account) In(e *epoch.Epoch) InEpoch { return InEpoch{a, e} }

// Container implements cosmos.Account.
func (i InEpoch) Container(ctx context.Context, database, name string) (cosmos.Container, error) {
	return i.keep(func() (cosmos.Container, error) { return i.Account.Container(ctx, database, name) })
}

// CreateContainer implements cosmos.Account.
func (i InEpoch) CreateContainer(ctx context.Context, spec cosmos.ContainerSpec) (cosmos.Container, error) {
	return i.keep(func() (cosmos.Container, error) { return i.Account.CreateContainer(ctx, spec) })
}

// keep returns a container that ends with the epoch.
func (i InEpoch) keep(open func() (cosmos.Container, error)) (c cosmos.Container, err error) {
	err = i.epoch.During(func() error {
		c, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	c.(*handle).epoch = i.epoch // of this call's own
	return c, nil
}
