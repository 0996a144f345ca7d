package tables

import (
	"context"
	"errors"
	"time"

	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/epoch"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// table is a handle on a table.
type table struct {
	s       *Service
	name    string
	nameErr error
	epoch   *epoch.Epoch // nil: the handle never ends
}

func (t *table) Name() string { return t.name }

// operate runs f on the table's state, in the epoch of the handle and between the fault
// points.
func (t *table) operate(ctx context.Context, op string, adds bool, f func(state *tableState, c *change) error) error {
	return t.during(ctx, op, adds, func(c *change) error {
		state := t.s.tables[tableapi.Fold(t.name)]
		if state == nil {
			return tableapi.NewError(tableapi.CodeTableNotFound)
		}
		return f(state, c)
	})
}

func (t *table) during(ctx context.Context, op string, adds bool, f func(c *change) error) error {
	if t.nameErr != nil {
		return t.nameErr
	}
	return t.epoch.During(func() error {
		return t.s.operate(ctx, account.FaultPoint{Op: op, Table: t.name}, adds, f)
	})
}

func (t *table) Create(ctx context.Context) error {
	return t.during(ctx, "CreateTable", true, func(c *change) error {
		folded := tableapi.Fold(t.name)
		if t.s.tables[folded] != nil {
			return tableapi.NewError(tableapi.CodeTableAlreadyExists)
		}
		state := newTableState(t.name)
		t.s.addLocked(state)
		c.saveTable(state)
		return nil
	})
}

func (t *table) DeleteTable(ctx context.Context) error {
	return t.during(ctx, "DeleteTable", false, func(c *change) error {
		folded := tableapi.Fold(t.name)
		if t.s.tables[folded] == nil {
			return tableapi.NewError(tableapi.CodeResourceNotFound)
		}
		delete(t.s.tables, folded)
		t.s.names.Remove(folded)
		c.dropTable(folded)
		return nil
	})
}

func (t *table) Get(ctx context.Context, partition, key string) (*tableapi.Entity, error) {
	var out tableapi.Entity
	err := t.operate(ctx, "Get", false, func(state *tableState, _ *change) error {
		r := state.find(tableapi.Key{Partition: partition, Row: key})
		if r == nil {
			return tableapi.NewError(tableapi.CodeResourceNotFound)
		}
		out = r.entity()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

func (t *table) Write(ctx context.Context, w tableapi.Write) (stamp time.Time, err error) {
	stamp, err = t.submit(ctx, w.Mode.String(), []tableapi.Write{w})
	var one *tableapi.WriteError
	if errors.As(err, &one) {
		err = one.Err
	}
	return stamp, err
}

func (t *table) Submit(ctx context.Context, writes []tableapi.Write) (time.Time, error) {
	return t.submit(ctx, "Transaction", writes)
}

func (t *table) submit(ctx context.Context, op string, writes []tableapi.Write) (time.Time, error) {
	var stamp time.Time
	err := t.operate(ctx, op, adds(writes), func(state *tableState, c *change) error {
		at := t.s.nextLocked()
		effects, err := state.transaction(writes, at)
		if err != nil {
			return err
		}
		t.s.last = at
		for _, e := range effects {
			c.saveEffect(tableapi.Fold(state.name), e)
			state.apply(e)
		}
		stamp = moment(at)
		return nil
	})
	if err != nil {
		return time.Time{}, err
	}
	return stamp, nil
}

// adds reports whether writes need room on the disk.
func adds(writes []tableapi.Write) bool {
	for _, w := range writes {
		if w.Mode != tableapi.Delete {
			return true
		}
	}
	return false
}

func (s *Service) addLocked(state *tableState) {
	folded := tableapi.Fold(state.name)
	s.tables[folded] = state
	s.names.Insert(folded)
}
