package tables

import (
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/ordered"
)

// tableState is one table: every rule of writes as a method that changes nothing but what
// it returns. It is guarded by the account's mutex.
type tableState struct {
	name     string // as it was made
	policies []storage.AccessPolicy
	rows     ordered.Set[*row]
}

func newTableState(name string) *tableState {
	return &tableState{name: name, rows: ordered.New(func(a, b *row) int { return a.key.Compare(b.key) })}
}

// find returns the row with a key, or nil.
func (t *tableState) find(key tableapi.Key) *row {
	for r := range t.rows.From(&row{key: key}) {
		if r.key == key {
			return r
		}
		return nil
	}
	return nil
}

// effect is what a write does to a table: the row that it leaves, or none.
type effect struct {
	before *row // nil: there was none
	after  *row // nil: it is removed
}

// write works out what one write does. The row that it leaves has the given stamp.
func (t *tableState) write(w tableapi.Write, stamp int64) (effect, error) {
	key := tableapi.Key{Partition: w.Entity.PartitionKey, Row: w.Entity.RowKey}
	if err := w.Entity.ValidateKeys(); err != nil {
		return effect{}, err
	}
	if w.Match != "" && w.Match != tableapi.AnyETag && !tableapi.ValidETag(w.Match) || w.Match == "" && w.Mode == tableapi.Delete {
		return effect{}, tableapi.NewError(storage.CodeInvalidInput)
	}
	if w.Mode != tableapi.Delete {
		if err := w.Entity.Validate(); err != nil {
			return effect{}, err
		}
	}
	before := t.find(key)
	if err := condition(w, before); err != nil {
		return effect{}, err
	}
	if w.Mode == tableapi.Delete {
		return effect{before: before}, nil
	}
	properties := w.Entity.Properties
	if w.Mode == tableapi.Merge && before != nil {
		merged := before.entity()
		merged.Properties = merge(merged.Properties, properties)
		if err := merged.Validate(); err != nil {
			return effect{}, err
		}
		properties = merged.Properties
	}
	return effect{before, &row{key: key, stamp: stamp, properties: encode(properties)}}, nil
}

// condition checks what a write asks of the row that is there (spec tables 3.3).
func condition(w tableapi.Write, before *row) error {
	switch {
	case w.Mode == tableapi.Insert:
		if before != nil {
			return tableapi.NewError(tableapi.CodeEntityAlreadyExists)
		}
	case w.Match == "":
	case before == nil:
		return tableapi.NewError(tableapi.CodeResourceNotFound)
	case w.Match != tableapi.AnyETag && !tableapi.SameETag(w.Match, tableapi.ETag(moment(before.stamp))):
		return tableapi.NewError(tableapi.CodeUpdateConditionNotSatisfied)
	}
	return nil
}

// merge puts properties into others: a value takes the place of one of the same name, the
// rest comes behind.
func merge(into, from []tableapi.Property) []tableapi.Property {
	for _, p := range from {
		i := slices.IndexFunc(into, func(o tableapi.Property) bool { return o.Name == p.Name })
		if i < 0 {
			into = append(into, p)
			continue
		}
		into[i].Value = p.Value
	}
	return into
}

// transaction works out what several writes do together: all of them, or none.
func (t *tableState) transaction(writes []tableapi.Write, stamp int64) ([]effect, error) {
	if len(writes) > tableapi.MaxTransaction {
		return nil, &tableapi.WriteError{Index: tableapi.MaxTransaction - 1, Err: tableapi.Invalid("The batch request operation exceeds the maximum %d changes per change set.", tableapi.MaxTransaction)}
	}
	seen := make(map[string]bool, len(writes))
	for i, w := range writes {
		var code storage.Code
		switch {
		case w.Entity.PartitionKey != writes[0].Entity.PartitionKey:
			code = tableapi.CodeDifferentPartitions
		case seen[w.Entity.RowKey]:
			code = tableapi.CodeInvalidDuplicateRow
		}
		if code != "" {
			return nil, &tableapi.WriteError{Index: i, Err: tableapi.NewError(code)}
		}
		seen[w.Entity.RowKey] = true
	}
	effects := make([]effect, 0, len(writes))
	for i, w := range writes {
		e, err := t.write(w, stamp)
		if err != nil {
			return nil, &tableapi.WriteError{Index: i, Err: err}
		}
		effects = append(effects, e)
	}
	return effects, nil
}

// apply does what a write does.
func (t *tableState) apply(e effect) {
	switch {
	case e.after == nil:
		t.rows.Remove(e.before)
	case e.before == nil:
		t.rows.Insert(e.after)
	default:
		*e.before = *e.after
	}
}
