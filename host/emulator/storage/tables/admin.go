package tables

import (
	"context"
	"fmt"
	"slices"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// TablePolicies implements table.Admin.
func (s *Service) TablePolicies(ctx context.Context, name string) (policies []storage.AccessPolicy, err error) {
	err = s.table(name).operate(ctx, "Policies", false, func(state *tableState, _ *change) error {
		policies = slices.Clone(state.policies)
		return nil
	})
	return policies, err
}

// SetTablePolicies implements table.Admin.
func (s *Service) SetTablePolicies(ctx context.Context, name string, policies []storage.AccessPolicy) error {
	if n := len(policies); n > storage.MaxAccessPolicies {
		return fmt.Errorf("%w: %d access policies: want at most %d", bindings.ErrOutOfRange, n, storage.MaxAccessPolicies)
	}
	return s.table(name).operate(ctx, "SetPolicies", false, func(state *tableState, c *change) error {
		state.policies = slices.Clone(policies)
		c.saveTable(state)
		return nil
	})
}

// TableServiceProperties implements table.Admin.
func (s *Service) TableServiceProperties(ctx context.Context) (p storage.ServiceProperties, err error) {
	err = s.operate(ctx, account.FaultPoint{Service: "table", Op: "Properties"}, false, func(*change) error {
		p = account.CloneProperties(s.properties)
		return nil
	})
	return p, err
}

// SetTableServiceProperties implements table.Admin.
func (s *Service) SetTableServiceProperties(ctx context.Context, p storage.ServiceProperties) error {
	return s.operate(ctx, account.FaultPoint{Service: "table", Op: "SetProperties"}, false, func(c *change) error {
		account.SetProperties(&s.properties, p)
		c.saveProperties(s.properties)
		return nil
	})
}
