// Package tables has the operations on the tables of the embedded storage account.
package tables

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/tables"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
)

// Service is Table storage.
var Service = &ops.Service{ // read only
	Name: "table", Path: "tables", Noun: "table", Scene: ops.Scene{Entity: "table", Held: "tables", Documents: true},
	Refuse: refusal,
	List:   func(ctx context.Context, e *ops.Env) (any, error) { return account(e).TableInfos(ctx) },
	Listings: []ops.Listing{{
		Name: "tables", Columns: []string{"TABLE", "ENTITIES"}, Numbers: 1, Quiet: true,
		Rows: ops.Rows(func(i *tables.TableInfo) [][]string { return [][]string{{i.Name, strconv.Itoa(i.Entities)}} }),
	}},
	Entities: names, Bound: bound, Each: each,
	// Read from the methods of package storage/tables (spec tables 10.5).
	Faults: faults.Service{
		Name:    "table",
		Reads:   []string{"Get", "Policies", "Properties", "Query", "QueryTables"},
		Writes:  []string{"CreateTable", "Delete", "DeleteTable", "Insert", "Merge", "SetPolicies", "SetProperties", "Transaction", "Update"},
		Losable: []string{"Delete", "Merge", "Update"},
		Coded:   table.Failure,
	},
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{
		ops.Of(ListTables{}), ops.Of(CreateTable{}), ops.Of(DeleteTable{}),
		ops.Of(WriteEntities{}), ops.Of(ReadEntities{}), ops.Of(PurgeEntities{}),
	}
}

var bound = map[string]func(*app.Binding) []string{ // read only
	"table": func(b *app.Binding) []string { return []string{b.String("tableName")} },
}

// account is the account that operations are about: the embedded one.
func account(e *ops.Env) *emulator.Storage { return e.Host.Services().Storage() }

func names(ctx context.Context, e *ops.Env) (names []string, err error) {
	list, err := account(e).TableInfos(ctx)
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names, err
}

// each visits the entities of a table, a page at a time.
func each(ctx context.Context, e *ops.Env, name string, visit func(*ops.ShownMessage, []byte) bool) error {
	return entities(ctx, e, name, table.Query{}, func(row *table.Entity) bool {
		shown := &ops.ShownMessage{ID: row.RowKey, State: "visible", Enqueued: row.Timestamp, Properties: map[string]string{"partitionKey": row.PartitionKey}}
		return visit(shown, plain.Append(nil, row, ""))
	})
}

// plain is the JSON of an entity with the types that JSON does not have, and no more.
var plain = &table.Form{Level: table.Types} // read only

// entities visits what a query finds.
func entities(ctx context.Context, e *ops.Env, name string, q table.Query, visit func(*table.Entity) bool) error {
	for {
		page, err := account(e).Table(name).Query(ctx, &q)
		if err != nil {
			return err
		}
		for i := range page.Entities {
			if !visit(&page.Entities[i]) {
				return nil
			}
		}
		if q.From = page.Next; q.From == nil {
			return nil
		}
		// A large table must not keep all others from their turn.
		if err := e.Host.Clock().Sleep(ctx, 0); err != nil {
			return err
		}
	}
}

// refusal is the condition of tables: the service's code, with what to do about it.
func refusal(err error) *ops.Error {
	var known *storage.Error
	if !errors.As(err, &known) {
		return queues.Refusal(err)
	}
	hint := ""
	switch known.Code {
	case table.CodeTableNotFound, table.CodeResourceNotFound:
		hint = `"redeliver ls tables" lists the tables`
	case table.CodeEntityAlreadyExists:
		hint = "--mode replace or --mode merge writes over what is there"
	}
	status := known.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return ops.Refuse(status, err.Error(), hint)
}
