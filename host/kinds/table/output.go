package table

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
)

// output writes entities.
type output struct {
	named
	b *app.Binding
	f *kinds.Function
}

func newOutput(f *kinds.Function, b *app.Binding) (*output, error) {
	n, err := newNamed(f, b)
	if err != nil {
		return nil, err
	}
	return &output{named: *n, b: b, f: f}, nil
}

// Write implements kinds.Output: a transaction for each partition, each by itself, so that
// those before a failure stay. Nothing is sent when an entity is none. A partition of 100 is
// sent at once, and so is what has gathered before a row that comes again.
//
// Source: TX, TableEntityWriter.cs.
func (o *output) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	name, err := o.table(a)
	if err != nil {
		return err
	}
	var keys [2]*string
	for i := range keys {
		if keys[i], err = o.key(a, i); err != nil {
			return err
		}
	}
	list, err := objects(v)
	if err != nil {
		return err
	}
	writes := make([]table.Write, len(list))
	for i, object := range list {
		if writes[i], err = o.write(object, keys); err != nil {
			return err
		}
	}
	to := &target{o: o, a: a, table: o.account.Table(name)}
	for group := range groups(writes) {
		if err := to.submit(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// groups yields the transactions that writes become, in the order in which they are sent.
func groups(writes []table.Write) func(yield func([]table.Write) bool) {
	return func(yield func([]table.Write) bool) {
		var order []string // partitions, "" where one was sent
		waiting := map[string][]table.Write{}
		for _, w := range writes {
			p := w.Entity.PartitionKey
			group, known := waiting[p]
			for _, other := range group {
				if other.Entity.RowKey == w.Entity.RowKey {
					if !yield(group) {
						return
					}
					group = nil
					break
				}
			}
			if group = append(group, w); len(group) == table.MaxTransaction {
				if !yield(group) {
					return
				}
				group = nil
			}
			if waiting[p] = group; !known {
				order = append(order, p)
			}
		}
		for _, p := range order {
			if len(waiting[p]) > 0 && !yield(waiting[p]) {
				return
			}
		}
	}
}

// target is the table of an output in one attempt.
type target struct {
	o     *output
	a     kinds.Attempt
	table table.Table
}

// submit sends a transaction, and once more when the table had to be made, and tells of it.
func (t *target) submit(ctx context.Context, group []table.Write) error {
	made := false
	stamp, err := t.table.Submit(ctx, group)
	if code := storage.CodeOf(err); code == table.CodeTableNotFound || code == table.CodeResourceNotFound {
		if err := t.table.Create(ctx); err != nil && storage.CodeOf(err) != table.CodeTableAlreadyExists {
			return t.failed(ctx, group, made, err)
		}
		made = true
		stamp, err = t.table.Submit(ctx, group)
	}
	if err != nil {
		return t.failed(ctx, group, made, err)
	}
	rec := t.written(group, made)
	rec.Status = "succeeded"
	rec.Fields = append(rec.Fields, journal.Field{Key: "timestamp", Value: table.FormatTime(stamp)})
	t.o.f.Journal.Append(rec)
	return nil
}

// written is the record of a transaction.
func (t *target) written(group []table.Write, made bool) journal.Record {
	rec := t.a.Record()
	rec.Kind, rec.Name, rec.Target = journal.TableWritten, t.o.b.Name, t.table.Name()
	rec.Fields = []journal.Field{
		{Key: "partition_key", Value: group[0].Entity.PartitionKey}, {Key: "entities", Value: strconv.Itoa(len(group))},
	}
	if made {
		rec.Fields = append(rec.Fields, journal.Field{Key: "created_table", Value: "true"})
	}
	return rec
}

// failed tells of a transaction that failed, and which row it was: of one that was there
// also since when.
func (t *target) failed(ctx context.Context, group []table.Write, made bool, err error) error {
	code := storage.CodeOf(err)
	rec := t.written(group, made)
	rec.Status, rec.Error = "failed", string(code)
	if code == "" {
		rec.Error = err.Error()
	}
	one, ok := errors.AsType[*table.WriteError](err)
	if !ok || one.Index < 0 || one.Index >= len(group) {
		t.o.f.Journal.Append(rec)
		return err
	}
	row := group[one.Index].Entity
	rec.Fields = append(rec.Fields, journal.Field{Key: "row_key", Value: row.RowKey})
	if code == table.CodeEntityAlreadyExists {
		if there, err := t.table.Get(ctx, row.PartitionKey, row.RowKey); err == nil {
			rec.Fields = append(rec.Fields, journal.Field{Key: "written_at", Value: table.FormatTime(there.Timestamp)})
		}
	}
	t.o.f.Journal.Append(rec)
	return fmt.Errorf("%d:%w", one.Index, one.Err)
}
