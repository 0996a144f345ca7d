package storage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/emulator/store/storetest"
)

// rowsOfWriter are the rows of a writer's partition, which one transaction writes or removes
// together.
const rowsOfWriter = 8

// writeTablesUntilKilled has workers, each with a partition of its own, that replace or remove
// all rows of it in one transaction, and say what they are about to do and what they have done.
func writeTablesUntilKilled(ctx context.Context, db *store.Store) (func(*storetest.Writer) error, error) {
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		return nil, err
	}
	orders := s.Table("orders")
	if err := orders.Create(ctx); err != nil && !errors.Is(err, bindings.ErrAlreadyExists) {
		return nil, err
	}
	return func(w *storetest.Writer) error {
		partition := fmt.Sprintf("w%d", w.Number)
		for i := 0; ; i++ {
			tag := fmt.Sprintf("%d.%d.%d", w.Process, w.Number, i)
			mode := table.Replace
			if i%3 == 2 {
				mode, tag = table.Delete, "-"
			}
			var writes []table.Write
			for j := range rowsOfWriter {
				write := table.Write{Mode: mode, Entity: table.Entity{PartitionKey: partition, RowKey: fmt.Sprint(j), Properties: []table.Property{{Name: "tag", Value: tag}}}}
				if mode == table.Delete {
					write.Match = table.AnyETag
				}
				writes = append(writes, write)
			}
			w.Say("writing", partition, tag)
			_, err := orders.Submit(ctx, writes)
			if mode == table.Delete && errors.Is(err, bindings.ErrNotFound) {
				err = nil // the process before has removed them
			}
			if err != nil {
				return err
			}
			w.Say("written", partition, tag)
		}
	}, nil
}

// partitionFate is what a partition may be: what was acknowledged last, or what was under way.
type partitionFate struct{ acknowledged, underWay string }

// TestKillTables is TestKill for tables: after each kill every partition is what the last
// acknowledged transaction has left, or what the one under way has, as a whole (spec tables
// 13, row 90).
func TestKillTables(t *testing.T) {
	t.Parallel()
	var fates map[string]*partitionFate
	storetest.Kills{
		Work: "tables", Rounds: 20, Lines: 100, RoundsOfOne: killsOfOne,
		Forget: func() { fates = map[string]*partitionFate{} },
		Hear: func(words []string) {
			f := fates[words[1]]
			if f == nil {
				f = &partitionFate{acknowledged: "-"}
				fates[words[1]] = f
			}
			f.underWay = words[2]
			if words[0] == "written" {
				f.acknowledged = words[2]
			}
		},
		Check: func(db *store.Store) { checkTables(t, db, fates) },
	}.Run(t)
}

func checkTables(t *testing.T, db *store.Store, fates map[string]*partitionFate) {
	t.Helper()
	s, err := storage.Open(clock.System(), db, nil)
	if err != nil {
		t.Fatalf("open after the kill: %v", err)
	}
	for partition, f := range fates {
		page, err := s.Table("orders").Query(context.Background(), &table.Query{Filter: "PartitionKey eq '" + partition + "'"})
		if err != nil {
			t.Fatalf("read %s: %v", partition, err)
		}
		var tags []string
		for _, e := range page.Entities {
			tags = append(tags, e.Value("tag").(string))
			if e.Timestamp != page.Entities[0].Timestamp {
				t.Errorf("the rows of %s have the Timestamps of two transactions", partition)
			}
		}
		got := "-"
		if len(tags) > 0 {
			got = tags[0]
		}
		if n := len(tags); n != 0 && n != rowsOfWriter || len(slices.Compact(tags)) > 1 {
			t.Errorf("partition %s is a part of a transaction: %q", partition, tags)
		}
		if got != f.acknowledged && got != f.underWay {
			t.Errorf("partition %s is %q, want %q, which was acknowledged, or %q, which was under way", partition, got, f.acknowledged, f.underWay)
		}
		f.acknowledged, f.underWay = got, got
	}
}
