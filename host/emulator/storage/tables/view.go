package tables

import (
	"context"

	"github.com/redeliver/redeliver/host/emulator/storage/account"
)

// TableInfo is a table as an operator sees it.
type TableInfo struct {
	Name     string `json:"name"` // as it was made
	Entities int    `json:"entities"`
}

// TableInfos lists the tables, ordered without regard to case.
func (s *Service) TableInfos(ctx context.Context) ([]TableInfo, error) {
	out := []TableInfo{}
	err := s.operate(ctx, account.FaultPoint{Service: "table", Op: "QueryTables"}, false, func(*change) error {
		for folded := range s.names.From("") {
			t := s.tables[folded]
			out = append(out, TableInfo{t.name, t.rows.Len()})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
