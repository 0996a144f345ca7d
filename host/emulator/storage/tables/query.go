package tables

import (
	"context"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// Query implements table.Entities. A page ends early only at the end of the table.
func (t *table) Query(ctx context.Context, q *tableapi.Query) (*tableapi.Page, error) {
	if q == nil {
		q = &tableapi.Query{}
	}
	filter, limit, err := asked(q)
	if err != nil {
		return nil, err
	}
	page := &tableapi.Page{}
	err = t.operate(ctx, "Query", false, func(state *tableState, _ *change) error {
		state.query(q, filter, limit, page, t.s.partitions)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// asked reads what a query asks for.
func asked(q *tableapi.Query) (filter node, limit int, err error) {
	limit = q.Top
	if limit == 0 {
		limit = tableapi.MaxPage
	}
	if limit < 0 || limit > tableapi.MaxPage {
		return nil, 0, tableapi.NewError(storage.CodeInvalidInput)
	}
	filter, err = parse(q.Filter)
	return filter, limit, err
}

// PagesByPartition has pages of entities end at the end of each partition, also empty ones,
// as they may in the service (switch tablePages). It holds until it is called again.
func (s *Service) PagesByPartition(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partitions = on
}

// query fills a page: it looks at the parts of the table in which there can be answers.
func (t *tableState) query(q *tableapi.Query, filter node, limit int, page *tableapi.Page, partitions bool) {
	var from tableapi.Key
	if q.From != nil {
		from = *q.From
	}
	if s := q.Within.StartPartition; s != nil {
		start := tableapi.Key{Partition: *s}
		if q.Within.StartRow != nil {
			start.Row = *q.Within.StartRow
		}
		if start.Compare(from) > 0 {
			from = start
		}
	}
	var m mixed
	var first *tableapi.Key // that was looked at
	for _, p := range plan(filter) {
		if first := p.first(); first.Compare(from) > 0 {
			from = first
		}
		for r := range t.rows.From(&row{key: from}) {
			if p.behind(r.key) {
				break
			}
			from = tableapi.Key{Partition: r.key.Partition, Row: r.key.Row + "\x00"} // the next part goes on behind it
			if !q.Within.Holds(r.key) {
				if past(q.Within, r.key) {
					page.Mixed = m.text
					return
				}
				continue
			}
			if first == nil {
				first = &r.key
			}
			if len(page.Entities) == limit || partitions && first.Partition != r.key.Partition {
				next := r.key
				page.Next, page.Mixed = &next, m.text
				return
			}
			if filter == nil || truth(filter, r, &m) {
				page.Entities = append(page.Entities, r.entity())
			}
		}
	}
	page.Mixed = m.text
}

// past reports whether a key comes behind a range.
func past(within tableapi.Range, k tableapi.Key) bool {
	return within.EndPartition != nil && !tableapi.Range{EndPartition: within.EndPartition, EndRow: within.EndRow}.Holds(k)
}

// Tables implements table.Account.
func (s *Service) Tables(ctx context.Context, q *tableapi.Query) (*tableapi.TablePage, error) {
	if q == nil {
		q = &tableapi.Query{}
	}
	filter, limit, err := asked(q)
	if err != nil {
		return nil, err
	}
	from := ""
	if q.From != nil {
		from = q.From.Partition
	}
	page := &tableapi.TablePage{}
	err = s.operate(ctx, account.FaultPoint{Service: "table", Op: "QueryTables"}, false, func(*change) error {
		for folded := range s.names.From(from) {
			if len(page.Names) == limit {
				page.Next = folded
				break
			}
			if name := s.tables[folded].name; filter == nil || truth(filter, tableName(name), nil) {
				page.Names = append(page.Names, name)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// tableName is a table as a filter sees it.
type tableName string

func (n tableName) property(name string) tableapi.Value {
	if name == "TableName" {
		return string(n)
	}
	return nil
}
