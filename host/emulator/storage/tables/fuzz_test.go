package tables

import (
	"slices"
	"testing"

	tableapi "github.com/redeliver/redeliver/bindings/table"
)

// FuzzFilter: whatever the filter, the pages of a query have the rows for which it holds, as
// if each row of the table were asked, in order and once.
func FuzzFilter(f *testing.F) {
	for _, filter := range []string{
		"", "true", "PartitionKey eq 'a'", "PartitionKey eq 'a' and RowKey ge '1' and RowKey lt '3'", "'b' le PartitionKey",
		"(PartitionKey eq 'a' and RowKey eq '1') or (PartitionKey eq 'c' and RowKey eq '2')", "PartitionKey eq 'a' or PartitionKey gt 'a'",
		"RowKey eq '1' or PartitionKey lt 'b'", "not (PartitionKey eq 'a')", "n gt 1 and n lt 4.5", "PartitionKey ge 'c' or PartitionKey le 'a' or RowKey eq '2'",
		"PartitionKey gt 'b' and PartitionKey lt 'b'", "(PartitionKey eq 'b') eq true", "PartitionKey ne 'b' and (RowKey gt '2' or n eq 1L)", "f or not f",
		"datetime'2020-01-01T00:00:00Z' lt Timestamp", "x eq X'0102' or g eq guid'00000000-0000-0000-0000-000000000000'", "PartitionKey eq 'a' or 'a' eq 'a'",
		"PartitionKey eq 'a' and true", "PartitionKey eq 'a' or false", "PartitionKey eq '' or PartitionKey eq '𝄞' or PartitionKey gt '～'",
	} {
		f.Add(filter)
	}
	state := newTableState("orders")
	var all []*row
	for _, partition := range []string{"", "a", "aa", "b", "c", "\U0001D11E", "\uFF5E"} {
		for i, key := range []string{"", "1", "2", "3"} {
			r := &row{key: tableapi.Key{Partition: partition, Row: key}, properties: encode([]tableapi.Property{{Name: "n", Value: int32(i)}, {Name: "f", Value: i%2 == 0}})}
			all = append(all, r)
			state.rows.Insert(r)
		}
	}
	slices.SortFunc(all, func(a, b *row) int { return a.key.Compare(b.key) })
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := parse(text)
		if err != nil {
			return
		}
		var want, got []tableapi.Key
		for _, r := range all {
			if filter == nil || truth(filter, r, nil) {
				want = append(want, r.key)
			}
		}
		for q := (&tableapi.Query{}); ; {
			var page tableapi.Page
			state.query(q, filter, 3, &page, false)
			for _, e := range page.Entities {
				got = append(got, tableapi.Key{Partition: e.PartitionKey, Row: e.RowKey})
			}
			if q.From = page.Next; q.From == nil {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q found %q, want %q", text, got, want)
		}
	})
}
