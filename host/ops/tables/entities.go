package tables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/storage/tables"
	"github.com/redeliver/redeliver/host/ops"
)

// ListTables lists the tables.
type ListTables struct {
	ops.Op[Tables] `route:"GET /tables"`
}

// Do lists them.
func (ListTables) Do(ctx context.Context, e *ops.Env) (out Tables, err error) {
	out.Tables, err = account(e).TableInfos(ctx)
	return out, err
}

// Tables are the tables of the embedded storage account.
type Tables struct {
	Tables []TableInfo `json:"tables"`
}

// TableInfo is a table and how many entities it has.
type TableInfo = tables.TableInfo

// CreateTable makes a table; 409 when it is there.
type CreateTable struct {
	ops.Op[TableInfo] `route:"PUT /tables/{table}" verb:"create" short:"Make a table" status:"201"`

	Table string `path:"table"`
}

// Do makes it.
func (in CreateTable) Do(ctx context.Context, e *ops.Env) (TableInfo, error) {
	return TableInfo{Name: in.Table}, account(e).Table(in.Table).Create(ctx)
}

// DeleteTable removes a table with its entities.
type DeleteTable struct {
	ops.Op[ops.None] `route:"DELETE /tables/{table}" verb:"delete" short:"Remove a table with its entities" status:"204"`

	Table string `path:"table"`
}

// Do removes it.
func (in DeleteTable) Do(ctx context.Context, e *ops.Env) (ops.None, error) {
	return ops.None{}, account(e).Table(in.Table).DeleteTable(ctx)
}

// WriteEntities writes the entity in the body, or those in an array: of one partition as one
// transaction, of several each by itself until one fails. The table is made when it is
// missing. Keys that the JSON lacks are those of the parameters.
type WriteEntities struct {
	ops.Op[EntitiesWritten] `route:"POST /tables/{table}/entities" verb:"send" short:"Write entities to a table" status:"201" limit:"67108864"`

	Table        string `path:"table"`
	PartitionKey string `query:"partitionKey" usage:"partition key of entities whose JSON has none"`
	RowKey       string `query:"rowKey" usage:"row key of an entity whose JSON has none"`
	Mode         string `query:"mode" enum:"insert,merge,replace" usage:"insert, merge or replace; the last two write over what is there (default insert)"`
	IfMatch      string `query:"ifMatch" usage:"write only over this state of the entity: its ETag, or * for any"`
	Create       bool   `query:"create" usage:"make the table though its name is near to another one"`
	Body         []byte `body:"raw"`
}

// Do writes them.
func (in WriteEntities) Do(ctx context.Context, e *ops.Env) (out EntitiesWritten, err error) {
	out = EntitiesWritten{Table: in.Table}
	writes, err := in.writes()
	if err != nil {
		return out, err
	}
	to := account(e).Table(in.Table)
	if storage.CodeOf(probe(ctx, to)) == table.CodeTableNotFound {
		if !in.Create {
			if err := e.RefuseSlip(ctx, Service, in.Table); err != nil {
				return out, err
			}
		}
		if err := to.Create(ctx); err != nil {
			return out, err
		}
		out.Created = true
	}
	if together(writes) {
		if _, err := to.Submit(ctx, writes); err != nil {
			return out, fmt.Errorf("nothing was written: %w", err)
		}
		out.Written = len(writes)
		return out, nil
	}
	for _, w := range writes {
		if _, err := to.Write(ctx, w); err != nil {
			if len(writes) > 1 {
				err = fmt.Errorf("%d of %d entities were written: %w", out.Written, len(writes), err)
			}
			return out, err
		}
		out.Written++
	}
	return out, nil
}

// EntitiesWritten says what was written.
type EntitiesWritten struct {
	Table   string `json:"table"`
	Created bool   `json:"created,omitempty"` // the table, which was missing
	Written int    `json:"written"`
}

// probe asks for the table alone.
func probe(ctx context.Context, t table.Table) error {
	_, err := t.Query(ctx, &table.Query{Filter: "false"})
	return err
}

// together reports whether writes are one transaction.
func together(writes []table.Write) bool {
	for _, w := range writes {
		if w.Entity.PartitionKey != writes[0].Entity.PartitionKey {
			return false
		}
	}
	return len(writes) > 1 && len(writes) <= table.MaxTransaction
}

func (in WriteEntities) writes() ([]table.Write, error) {
	texts := []json.RawMessage{in.Body}
	if bytes.HasPrefix(bytes.TrimSpace(in.Body), []byte("[")) {
		if err := json.Unmarshal(in.Body, &texts); err != nil {
			return nil, ops.Refuse(http.StatusBadRequest, "the body is not a JSON array: "+err.Error(), "")
		}
	}
	var writes []table.Write
	for i, text := range texts {
		read, err := table.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("entity %d: %w", i+1, err)
		}
		w := table.Write{Mode: map[string]table.Mode{"merge": table.Merge, "replace": table.Replace}[in.Mode], Entity: read.Entity, Match: in.IfMatch}
		if read.NoPartitionKey {
			w.Entity.PartitionKey = in.PartitionKey
		}
		if read.NoRowKey {
			w.Entity.RowKey = in.RowKey
		}
		if read.NoPartitionKey && in.PartitionKey == "" || read.NoRowKey && in.RowKey == "" {
			return nil, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("entity %d has no PartitionKey or no RowKey", i+1), "an entity has both as texts; --partition-key and --row-key give those that its JSON lacks")
		}
		if w.Match != "" && w.Mode == table.Insert {
			return nil, ops.Refuse(http.StatusBadRequest, "an insert has no condition", "--if-match goes with --mode merge or --mode replace")
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// ReadEntities shows entities of a table, by their keys.
type ReadEntities struct {
	ops.Op[Entities] `route:"GET /tables/{table}/entities" verb:"peek" short:"Show entities of a table"`

	Table string `path:"table"`
	Chosen
	Select string `query:"select" usage:"show only these properties, separated by commas"`
	Max    int    `query:"max" min:"1" want:"a number of 1 or more" usage:"show at most this many entities (default 32)"`
	ETag   bool   `query:"etag" usage:"show the ETag and the Timestamp too"`
}

// Chosen says which entities of a table.
type Chosen struct {
	PartitionKey *string `query:"partitionKey" usage:"only the entities with this partition key"`
	RowKey       *string `query:"rowKey" usage:"only the entities with this row key"`
	Filter       string  `query:"filter" usage:"only the entities for which this OData filter holds, e.g. \"n gt 5\""`
}

// filter is the filter for what is chosen.
func (c Chosen) filter() string {
	var terms []string
	for _, key := range []struct {
		name  string
		value *string
	}{{"PartitionKey", c.PartitionKey}, {"RowKey", c.RowKey}} {
		if key.value != nil {
			terms = append(terms, key.name+" eq '"+strings.ReplaceAll(*key.value, "'", "''")+"'")
		}
	}
	if len(terms) == 0 {
		return c.Filter // an error names a position in it
	}
	if strings.TrimSpace(c.Filter) != "" {
		terms = append(terms, "("+c.Filter+")")
	}
	return strings.Join(terms, " and ")
}

// Do reads them.
func (in ReadEntities) Do(ctx context.Context, e *ops.Env) (Entities, error) {
	out := Entities{Table: in.Table, Entities: []json.RawMessage{}}
	most := in.Max
	if most == 0 {
		most = 32
	}
	form := &table.Form{Level: table.Types}
	if in.ETag {
		form.Level = table.Minimal
	}
	for name := range strings.SplitSeq(in.Select, ",") {
		if name = strings.TrimSpace(name); name != "" {
			form.Select = append(form.Select, name)
		}
	}
	err := entities(ctx, e, in.Table, table.Query{Filter: in.filter()}, func(row *table.Entity) bool {
		if out.Count++; out.Count <= most {
			out.Entities = append(out.Entities, form.Append(nil, row, ""))
		}
		return true
	})
	return out, err
}

// Entities are entities of a table.
type Entities struct {
	Table    string            `json:"table"`
	Count    int               `json:"count"` // that were asked for
	Entities []json.RawMessage `json:"entities"`
}

// PurgeEntities removes the chosen entities of a table, or all.
type PurgeEntities struct {
	ops.Op[ops.Purged] `route:"DELETE /tables/{table}/entities" verb:"purge" short:"Remove entities of a table" step:"purge"`

	Table string `path:"table" step:"table,place"`
	Chosen
}

// Do removes them.
func (in PurgeEntities) Do(ctx context.Context, e *ops.Env) (ops.Purged, error) {
	out := ops.Purged{Path: in.Table}
	var found []table.Entity
	err := entities(ctx, e, in.Table, table.Query{Filter: in.filter()}, func(row *table.Entity) bool {
		found = append(found, table.Entity{PartitionKey: row.PartitionKey, RowKey: row.RowKey})
		return true
	})
	for _, row := range found {
		if err == nil {
			if _, err = account(e).Table(in.Table).Write(ctx, table.Write{Mode: table.Delete, Entity: row, Match: table.AnyETag}); err == nil {
				out.Removed++
			}
		}
	}
	return out, err
}
