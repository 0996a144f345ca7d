package table

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/netjson"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
)

// input reads entities, or says to a library in the worker which it is to read.
type input struct {
	named
	b   *app.Binding
	f   *kinds.Function
	one bool      // the row key counts
	now sync.Once // it was told that it does not
	mix sync.Once // that numbers of different types were compared
}

func newInput(f *kinds.Function, b *app.Binding) (*input, error) {
	n, err := newNamed(f, b)
	if err != nil {
		return nil, err
	}
	return &input{named: *n, b: b, f: f, one: RowKeyCounts(f.App())}, nil
}

// Source of what a library in the worker reads (TX: Constants.cs).
const modelSource = "AzureStorageTables"

// model is what a library in the worker is told (TX: TablesParameterBindingDataContent).
type model struct {
	TableName    string
	Take         int
	Filter       *string
	Connection   *string
	PartitionKey *string
	RowKey       *string
}

// Read implements kinds.Input.
func (i *input) Read(ctx context.Context, a kinds.Attempt) (bindings.Value, error) {
	name, err := i.table(a)
	if err != nil {
		return bindings.Value{}, err
	}
	m := model{TableName: name, Take: i.take}
	if m.PartitionKey, err = i.key(a, 0); err != nil {
		return bindings.Value{}, err
	}
	if m.RowKey, err = i.key(a, 1); err != nil {
		return bindings.Value{}, err
	}
	if i.filter != nil {
		text, err := i.filter.ResolveFilter(a.Data())
		if err != nil {
			return bindings.Value{}, err
		}
		m.Filter = &text
	}
	if i.b.Deferred() {
		m.Connection = new(cmp.Or(i.b.Connection, "AzureWebJobsStorage"))
		return bindings.ModelValue(modelSource, m), nil
	}
	from := i.account.Table(name)
	if i.one && m.PartitionKey != nil && m.RowKey != nil {
		return single(ctx, from, *m.PartitionKey, *m.RowKey)
	}
	if m.RowKey != nil {
		i.now.Do(func() { i.tell(a, ignored) })
	}
	return i.list(ctx, a, from, m)
}

// ignored is the fixed phrase of a row key that does not count.
const ignored = "the rowKey of a table input does not count: it gives the whole partition, as on the platform (lint " + rowKeyLint + ")"

func (i *input) tell(a kinds.Attempt, text string) {
	rec := a.Record()
	rec.Kind, rec.Level = journal.HandlerLog, "warning"
	rec.Message = "input binding " + strconv.Quote(i.b.Name) + ": " + text
	i.f.Journal.Append(rec)
}

// single reads one entity: null when it, or its table, is not there (T-2).
func single(ctx context.Context, from table.Table, partition, row string) (bindings.Value, error) {
	e, err := from.Get(ctx, partition, row)
	if errors.Is(err, bindings.ErrNotFound) {
		return bindings.Value{}, nil
	}
	if err != nil {
		return bindings.Value{}, err
	}
	return bindings.JSONValue(appendEntity(nil, e)), nil
}

// list reads the entities of a partition, or of the table, for which the filter holds.
//
// Source: TX, TablesExtensionConfigProvider.cs CreateJArray.
func (i *input) list(ctx context.Context, a kinds.Attempt, from table.Table, m model) (bindings.Value, error) {
	q := &table.Query{Top: i.take}
	if m.Filter != nil {
		q.Filter = *m.Filter
	}
	if m.PartitionKey != nil && *m.PartitionKey != "" {
		partition := "PartitionKey eq '" + strings.ReplaceAll(*m.PartitionKey, "'", "''") + "'"
		if q.Filter != "" {
			partition += " and " + q.Filter // without parentheses (T-26)
		}
		q.Filter = partition
	}
	out, n := []byte{'['}, 0
	for {
		page, err := from.Query(ctx, q)
		if err != nil {
			return bindings.Value{}, err
		}
		if page.Mixed != "" {
			i.mix.Do(func() { i.tell(a, page.Mixed) })
		}
		for j := range page.Entities {
			if n++; n > 1 {
				out = append(out, ',')
			}
			out = appendEntity(out, &page.Entities[j])
			if n == i.take {
				page.Next = nil
				break
			}
		}
		if q.From = page.Next; q.From == nil {
			return bindings.JSONValue(append(out, ']')), nil
		}
	}
}

// appendEntity writes an entity as the platform gives it to a handler: its keys and
// properties, neither Timestamp nor ETag (TX: ConvertEntityToJObject).
func appendEntity(b []byte, e *table.Entity) []byte {
	member := func(name string, v table.Value) {
		b = append(append(b, netjson.Compact(name)...), ':')
		b = append(b, jsonOf(v)...)
	}
	b = append(b, '{')
	member("PartitionKey", e.PartitionKey)
	b = append(b, ',')
	member("RowKey", e.RowKey)
	for _, p := range e.Properties {
		if p.Value == nil || strings.EqualFold(p.Name, "timestamp") {
			continue
		}
		b = append(b, ',')
		member(p.Name, p.Value)
	}
	return append(b, '}')
}

// jsonOf is a value as the platform's library of JSON writes it.
func jsonOf(v table.Value) string {
	switch v := v.(type) {
	case int32:
		return strconv.FormatInt(int64(v), 10)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if text := netjson.Compact(v); text[0] != '"' && text != "NaN" && !strings.HasSuffix(text, "Infinity") {
			return text
		}
		return `"` + netjson.Double(v) + `"`
	case time.Time:
		return `"` + v.UTC().Format("2006-01-02T15:04:05.9999999-07:00") + `"`
	case bindings.GUID:
		return `"` + v.String() + `"`
	case []byte:
		return `"` + base64.StdEncoding.EncodeToString(v) + `"`
	}
	return netjson.Compact(v) // a text or a Boolean
}
