package hosttest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/table"
)

// tableCalls are the calls of a Host about the tables of the first embedded account.
type tableCalls struct{ h *Host }

// WriteEntities inserts entities, each as JSON in the form of the service: types by members
// such as "n@odata.type". The table is made when it does not exist. A refusal ends the test.
func (k tableCalls) WriteEntities(name string, entities ...string) {
	k.h.tb.Helper()
	k.write(name, table.Insert, entities)
}

// UpsertEntities is WriteEntities that replaces what is there.
func (k tableCalls) UpsertEntities(name string, entities ...string) {
	k.h.tb.Helper()
	k.write(name, table.Replace, entities)
}

func (k tableCalls) write(name string, mode table.Mode, entities []string) {
	k.h.tb.Helper()
	if len(entities) == 0 {
		k.h.tb.Fatalf("hosttest: write to table %q: no entity is given", name)
	}
	k.CreateTable(name)
	for _, text := range entities {
		in, err := table.Parse([]byte(text))
		if err == nil && (in.NoPartitionKey || in.NoRowKey) {
			err = errors.New("an entity needs PartitionKey and RowKey")
		}
		if err == nil {
			k.h.do("write to table "+name, func() {
				_, err = k.table(name).Write(context.Background(), table.Write{Mode: mode, Entity: in.Entity})
			})
		}
		if err != nil {
			k.h.tb.Fatalf("hosttest: write %s to table %q: %v", text, name, err)
		}
	}
}

func (k tableCalls) table(name string) table.Table { return k.h.Services().Storage().Table(name) }

// Entities returns the entities of a table in the order of their keys; nil without the table.
func (k tableCalls) Entities(name string) (list []*table.Entity) {
	k.h.tb.Helper()
	var err error
	k.h.do("read table "+name, func() {
		q := &table.Query{}
		for {
			var page *table.Page
			if page, err = k.table(name).Query(context.Background(), q); err != nil {
				return
			}
			for i := range page.Entities {
				list = append(list, &page.Entities[i])
			}
			if q.From = page.Next; q.From == nil {
				return
			}
		}
	})
	if err != nil && !errors.Is(err, bindings.ErrNotFound) {
		k.h.tb.Fatalf("hosttest: read table %q: %v", name, err)
	}
	return list
}

// WantEntities fails the test unless a table has exactly these entities, in any order and
// without regard to Timestamp and ETag. Types count.
func (k tableCalls) WantEntities(name string, want ...string) {
	k.h.tb.Helper()
	var got, wanted []string
	for _, e := range k.Entities(name) {
		got = append(got, entityText(*e))
	}
	for _, text := range want {
		in, err := table.Parse([]byte(text))
		if err != nil {
			k.h.tb.Fatalf("hosttest: want %s in table %q: %v", text, name, err)
		}
		wanted = append(wanted, entityText(in.Entity))
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		k.h.tb.Errorf("hosttest: table %q has\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(wanted, "\n\t"))
	}
}

// WantEntity fails the test unless an entity is there with the properties of want; others may
// be there too. An empty want: the entity is absent.
func (k tableCalls) WantEntity(name, partitionKey, rowKey, want string) {
	k.h.tb.Helper()
	var got *table.Entity
	for _, e := range k.Entities(name) {
		if e.PartitionKey == partitionKey && e.RowKey == rowKey {
			got = e
		}
	}
	switch {
	case want == "" && got != nil:
		k.h.tb.Errorf("hosttest: table %q has %s, want no such entity", name, entityText(*got))
		return
	case want == "":
		return
	case got == nil:
		k.h.tb.Errorf("hosttest: table %q has no entity %q, %q", name, partitionKey, rowKey)
		return
	}
	in, err := table.Parse([]byte(want))
	if err != nil {
		k.h.tb.Fatalf("hosttest: want %s in table %q: %v", want, name, err)
	}
	in.PartitionKey, in.RowKey = partitionKey, rowKey
	named := table.Entity{PartitionKey: partitionKey, RowKey: rowKey}
	for _, p := range in.Properties {
		named.Properties = append(named.Properties, table.Property{Name: p.Name, Value: got.Value(p.Name)})
	}
	if got, want := entityText(named), entityText(in.Entity); got != want {
		k.h.tb.Errorf("hosttest: table %q has %s, want %s", name, got, want)
	}
}

// CreateTable makes a table, unless it is there.
func (k tableCalls) CreateTable(name string) {
	k.h.tb.Helper()
	var err error
	k.h.do("create table "+name, func() { err = k.table(name).Create(context.Background()) })
	if err != nil && !errors.Is(err, table.NewError(table.CodeTableAlreadyExists)) && !errors.Is(err, bindings.ErrAlreadyExists) {
		k.h.tb.Fatalf("hosttest: create table %q: %v", name, err)
	}
}

// DeleteTable removes a table with its entities.
func (k tableCalls) DeleteTable(name string) {
	k.h.tb.Helper()
	var err error
	k.h.do("delete table "+name, func() { err = k.table(name).DeleteTable(context.Background()) })
	if err != nil {
		k.h.tb.Fatalf("hosttest: delete table %q: %v", name, err)
	}
}

// Tables lists the names of the tables, ordered without regard to case.
func (k tableCalls) Tables() (names []string) {
	k.h.tb.Helper()
	var err error
	k.h.do("list tables", func() {
		var page *table.TablePage
		if page, err = k.h.Services().Storage().Tables(context.Background(), nil); err == nil {
			names = page.Names
		}
	})
	if err != nil {
		k.h.tb.Fatalf("hosttest: list tables: %v", err)
	}
	return names
}

// entityText is an entity as JSON with types, its properties sorted.
func entityText(e table.Entity) string {
	e.Properties = slices.SortedFunc(slices.Values(e.Properties), func(a, b table.Property) int { return strings.Compare(a.Name, b.Name) })
	return string((&table.Form{Level: table.Types}).Append(nil, &e, ""))
}
