package bindingtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
)

// TableBackend is one fresh, empty account under test.
type TableBackend struct {
	Account table.Account

	// Opaque says that the next place of a page is a token of the service, which only the
	// service reads, and that properties come back in an order of its own.
	Opaque bool

	// Differs says in which tests, by name, the backend goes its own way, and how.
	Differs map[string]string

	// Do runs f where the account may be called, and returns when f and what it
	// caused have ended. Nil: anywhere will do.
	Do func(f func())
}

// RunTable holds a backend to the contract of table.Account and table.Table. open is
// called once for each subtest.
func RunTable(t *testing.T, open func(t *testing.T) *TableBackend) {
	for _, test := range slices.Concat(tableTests, tableQueryTests) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			backend := open(t)
			if how, ok := backend.Differs[test.name]; ok {
				t.Skip("the backend differs: " + how)
			}
			test.run(&tableBench{T: t, TableBackend: backend})
		})
	}
}

type tableTest struct {
	name string
	run  func(b *tableBench)
}

// tableBench makes tests read as scripts: a call that fails ends the test, unless it says
// with which code.
type tableBench struct {
	*testing.T
	*TableBackend
}

func (b *tableBench) do(f func(ctx context.Context, t table.Table) error) error {
	b.Helper()
	var err error
	g := func() { err = f(context.Background(), b.Account.Table("orders")) }
	if b.Do == nil {
		g()
	} else {
		b.Do(g)
	}
	return err
}

func (b *tableBench) must(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// refused checks that a call has failed with a code.
func (b *tableBench) refused(what string, err error, code storage.Code) {
	b.Helper()
	if storage.CodeOf(err) != code {
		b.Errorf("%s: %v, want %s", what, err, code)
	}
}

func (b *tableBench) create() {
	b.Helper()
	b.must("create", b.do(func(ctx context.Context, t table.Table) error { return t.Create(ctx) }))
}

// put does one write and returns its outcome.
func (b *tableBench) put(w table.Write) (stamp time.Time, err error) {
	b.Helper()
	err = b.do(func(ctx context.Context, t table.Table) (err error) {
		stamp, err = t.Write(ctx, w)
		return err
	})
	return stamp, err
}

func (b *tableBench) submit(writes ...table.Write) (stamp time.Time, err error) {
	b.Helper()
	err = b.do(func(ctx context.Context, t table.Table) (err error) {
		stamp, err = t.Submit(ctx, writes)
		return err
	})
	return stamp, err
}

// insert adds entities.
func (b *tableBench) insert(entities ...table.Entity) {
	b.Helper()
	for _, e := range entities {
		_, err := b.put(table.Write{Entity: e})
		b.must("insert", err)
	}
}

func (b *tableBench) get(partition, row string) (e *table.Entity, err error) {
	b.Helper()
	err = b.do(func(ctx context.Context, t table.Table) (err error) {
		e, err = t.Get(ctx, partition, row)
		return err
	})
	return e, err
}

// want checks what is in the table, Timestamps apart.
func (b *tableBench) want(want ...table.Entity) {
	b.Helper()
	page, err := b.query(nil)
	b.must("query", err)
	text := func(list []table.Entity) (out string) {
		form := &table.Form{Level: table.Types}
		for i := range list {
			if b.Opaque {
				list[i].Properties = slices.SortedFunc(slices.Values(list[i].Properties), func(a, b table.Property) int { return strings.Compare(a.Name, b.Name) })
			}
			out += string(form.Append(nil, &list[i], "")) + "\n"
		}
		return out
	}
	if got, want := text(page.Entities), text(want); got != want {
		b.Errorf("the entities are\n%swant\n%s", got, want)
	}
}

func (b *tableBench) query(q *table.Query) (page *table.Page, err error) {
	b.Helper()
	err = b.do(func(ctx context.Context, t table.Table) (err error) {
		page, err = t.Query(ctx, q)
		return err
	})
	return page, err
}

// row is an entity with properties: names and values in turns.
func row(partition, key string, properties ...any) table.Entity {
	e := table.Entity{PartitionKey: partition, RowKey: key}
	for i := 0; i < len(properties); i += 2 {
		e.Properties = append(e.Properties, table.Property{Name: properties[i].(string), Value: properties[i+1]})
	}
	return e
}

// failedWrite returns which write of a transaction has failed.
func failedWrite(err error) int {
	var e *table.WriteError
	if errors.As(err, &e) {
		return e.Index
	}
	return -1
}
