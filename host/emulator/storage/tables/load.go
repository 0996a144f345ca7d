package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/ordered"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// tablesState is the tables of an account, the settings of their service and the newest
// Timestamp that it has given.
type tablesState struct {
	tables     map[string]*tableState
	properties storage.ServiceProperties
	last       int64
}

// takeLocked puts other tables in the place of the account's. No Timestamp is given twice
// unless the caller wants the state as it was.
func (s *Service) takeLocked(fresh tablesState, from keep.Origin) {
	if from.Follow {
		fresh.last = max(fresh.last, s.last)
	}
	s.tables, s.properties, s.last = map[string]*tableState{}, fresh.properties, fresh.last
	s.names = ordered.New(strings.Compare)
	for _, t := range fresh.tables {
		s.addLocked(t)
	}
}

// readTables reads everything about tables. A store from before there were any has none.
func readTables(v store.Reader, dir string) (tablesState, error) {
	r := account.Records{Reader: v, Dir: dir}
	out := tablesState{tables: map[string]*tableState{}}
	err := r.Each(tableKind, func(key, value []byte) error {
		var record tableRecord
		if err := r.Decode(key, value, &record); err != nil {
			return err
		}
		folded := string(key[2:])
		if tableapi.Fold(record.Name) != folded {
			return r.Damage("the record of table %q is that of %q", folded, record.Name)
		}
		t := newTableState(record.Name)
		t.policies = record.Policies
		out.tables[folded] = t
		return nil
	})
	if err == nil {
		err = readRows(r, out.tables)
	}
	if err == nil {
		out.last, err = readLast(r)
	}
	_, timeErr := r.LastTime()
	return out, errors.Join(err, r.JSON(propertiesKey, &out.properties), timeErr)
}

func readRows(r account.Records, tables map[string]*tableState) error {
	return r.Each(rowKind, func(key, value []byte) error {
		table, rest, ok := bytes.Cut(key[2:], []byte{0})
		partition, name, cut := bytes.Cut(rest, []byte{0})
		t := tables[string(table)]
		stamp, n := int64(0), 0
		if len(value) > 0 && value[0] == rowFormat {
			stamp, n = binary.Varint(value[1:])
		}
		if !ok || !cut || t == nil || n <= 0 {
			return r.Unreadable(key)
		}
		fresh := &row{key: tableapi.Key{Partition: string(partition), Row: string(name)}, stamp: stamp, properties: string(value[1+n:])}
		if !fresh.whole() {
			return r.Unreadable(key)
		}
		t.rows.Insert(fresh)
		return nil
	})
}

func readLast(r account.Records) (int64, error) {
	b, err := r.Get(lastKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case len(b) != 8:
		return 0, r.Damage("the last Timestamp of the tables has %d bytes", len(b))
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}
