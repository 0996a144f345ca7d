package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// A large table: spec tables 11 says what each of these may take.
func BenchmarkTable(b *testing.B) {
	ctx := context.Background()
	rows := func(b *testing.B, partitions, each int) table.Table {
		t := storage.New(clock.System(), nil).Table("orders")
		if err := t.Create(ctx); err != nil {
			b.Fatal(err)
		}
		for p := range partitions {
			for i := range each {
				if _, err := t.Write(ctx, numbered(p, i)); err != nil {
					b.Fatal(err)
				}
			}
		}
		return t
	}
	b.Run("insert at 100000", func(b *testing.B) {
		t := rows(b, 1, 100_000)
		for i := 100_000; b.Loop(); i++ {
			if _, err := t.Write(ctx, numbered(0, i)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read at 100000", func(b *testing.B) {
		t := rows(b, 1, 100_000)
		for i := 0; b.Loop(); i++ {
			if _, err := t.Get(ctx, "p0000", fmt.Sprintf("%08d", i%100_000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("transaction of 100", func(b *testing.B) {
		t := rows(b, 1, 100_000)
		for i := 0; b.Loop(); i++ {
			writes := make([]table.Write, 100)
			for j := range writes {
				writes[j] = numbered(0, (i*100+j)%100_000)
				writes[j].Mode = table.Replace
			}
			if _, err := t.Submit(ctx, writes); err != nil {
				b.Fatal(err)
			}
		}
	})
	million := rows(b, 1000, 1000)
	for name, filter := range map[string]string{
		"page by partition of 1000000":          "PartitionKey eq 'p0500'",
		"page by a range of rows of 1000000":    "PartitionKey eq 'p0500' and RowKey ge '00000100' and RowKey lt '00000200'",
		"page by a range of partitions":         "PartitionKey ge 'p0500' and PartitionKey lt 'p0502'",
		"page by another property of 1000000":   "n eq 999 and s eq 'none'",
		"page by two partitions of 1000000":     "PartitionKey eq 'p0500' or PartitionKey eq 'p0900'",
		"page by two partitions and a property": "(PartitionKey eq 'p0500' or PartitionKey eq 'p0900') and n eq 7",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := million.Query(ctx, &table.Query{Filter: filter}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// numbered is the insert of a row of a partition.
func numbered(partition, i int) table.Write {
	return table.Write{Entity: table.Entity{
		PartitionKey: fmt.Sprintf("p%04d", partition), RowKey: fmt.Sprintf("%08d", i),
		Properties: []table.Property{{Name: "n", Value: int32(i)}, {Name: "s", Value: "some text of an order"}, {Name: "paid", Value: i%2 == 0}},
	}}
}
