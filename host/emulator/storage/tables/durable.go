package tables

import (
	"encoding/binary"

	"github.com/redeliver/redeliver/bindings/storage"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/storage/account"
	"github.com/redeliver/redeliver/host/emulator/store/keep"
)

// Keys begin with their kind.
const (
	tableKind = 'T' // name in lower case; value: JSON of tableRecord
	rowKind   = 'E' // name in lower case 0 partition 0 row; value: format, stamp, properties
)

var (
	propertiesKey = []byte("table properties")
	lastKey       = []byte("table last")
)

// rowFormat is the first byte of a row's value.
const rowFormat = 1

// tableRecord is what is kept about a table beside its rows.
type tableRecord struct {
	Name     string
	Policies []storage.AccessPolicy `json:",omitempty"`
}

func tableKey(folded string) []byte { return append([]byte{tableKind, 0}, folded...) }

// rowsOf begins the keys of a table's rows.
func rowsOf(folded string) []byte { return append(append([]byte{rowKind, 0}, folded...), 0) }

// rowKey is the key of a row. No key of an entity has the character 0.
func rowKey(folded string, key tableapi.Key) []byte {
	return append(append(append(rowsOf(folded), key.Partition...), 0), key.Row...)
}

// change collects what one operation writes. Without a store it collects nothing.
type change struct{ keep.Change }

func (c *change) saveTable(t *tableState) {
	account.SetJSON(&c.Change, tableKey(tableapi.Fold(t.name)), tableRecord{t.name, t.policies})
}

func (c *change) dropTable(folded string) {
	c.Delete(tableKey(folded))
	c.DeletePrefix(rowsOf(folded))
}

func (c *change) saveEffect(folded string, e effect) {
	if !c.Writable() {
		return
	}
	if e.after == nil {
		c.Delete(rowKey(folded, e.before.key))
		return
	}
	c.saveRow(folded, e.after)
}

func (c *change) saveRow(folded string, r *row) {
	if c.Writable() {
		value := binary.AppendVarint(append(make([]byte, 0, 11+len(r.properties)), rowFormat), r.stamp)
		c.Set(rowKey(folded, r.key), append(value, r.properties...))
	}
}

func (c *change) saveProperties(p storage.ServiceProperties) {
	account.SetJSON(&c.Change, propertiesKey, p)
}

// kind describes the stored state of the tables: see [keep.Kind].
func (s *Service) kind() keep.Kind[tablesState] {
	return keep.Kind[tablesState]{
		Keys: keep.Keys{Name: "the storage account"},
		Read: readTables, Take: s.takeLocked, Write: s.writeLocked,
		Count: func(c *keep.Change) {
			if s.last != 0 { // of an account that has had tables: an older one stays as it is
				c.Set(lastKey, binary.BigEndian.AppendUint64(nil, uint64(s.last)))
			}
			account.SetTime(c, s.clk.Now().UTC().Round(0))
		},
		Drop: func(c *keep.Change) {
			for _, kind := range []byte{tableKind, rowKind} {
				c.DeletePrefix([]byte{kind, 0})
			}
			c.Delete(propertiesKey)
			c.Delete(lastKey)
		},
	}
}

// writeLocked writes everything about tables.
func (s *Service) writeLocked(w keep.Change) {
	c := change{w}
	for folded := range s.names.From("") {
		t := s.tables[folded]
		c.saveTable(t)
		for r := range t.rows.Behind(0) {
			c.saveRow(folded, r)
		}
	}
	if s.properties != (storage.ServiceProperties{}) {
		c.saveProperties(s.properties)
	}
}
