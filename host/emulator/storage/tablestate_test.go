package storage_test

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
	bindingsstorage "github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

// tablesSeen is everything that a caller can see of an account's tables.
type tablesSeen struct {
	Names      []string
	Entities   []table.Entity
	Policies   []bindingsstorage.AccessPolicy
	Properties bindingsstorage.ServiceProperties
}

func seeTables(t *testing.T, s *storage.Storage) (seen tablesSeen) {
	t.Helper()
	ctx := context.Background()
	names, err := s.Tables(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen.Names = names.Names
	for _, name := range names.Names {
		page, err := s.Table(name).Query(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen.Entities = append(seen.Entities, page.Entities...)
		policies, err := s.TablePolicies(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		seen.Policies = append(seen.Policies, policies...)
	}
	if seen.Properties, err = s.TableServiceProperties(ctx); err != nil {
		t.Fatal(err)
	}
	return seen
}

// Save, Reset and Load keep tables with their spelling, types, Timestamps and policies, and a
// Timestamp is given once: what is written behind a load comes after what was there before
// (spec tables 11; 13, row 91).
func TestTablesAreSavedAndLoaded(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(t *testing.T, clk clock.Clock) *storage.Storage{
		"Memory": func(_ *testing.T, clk clock.Clock) *storage.Storage { return storage.New(clk, nil) },
		"Durable": func(t *testing.T, clk clock.Clock) *storage.Storage {
			return openAccount(t, clk, openStore(t, t.TempDir(), nil), nil)
		},
	}
	for from, makeFrom := range kinds {
		for to, makeTo := range kinds {
			t.Run(from+"To"+to, func(t *testing.T) {
				t.Parallel()
				ctx := context.Background()
				clk := newVirtual()
				a, b := makeFrom(t, clk), makeTo(t, clk)
				insert := func(s *storage.Storage, name string, e table.Entity) time.Time {
					stamp, err := s.Table(name).Write(ctx, table.Write{Entity: e})
					if err != nil {
						t.Fatal(err)
					}
					return stamp
				}
				clk.Do("test", func() {
					_ = a.Table("MyOrders").Create(ctx)
					_ = a.Table("empty").Create(ctx)
					insert(a, "myorders", table.Entity{PartitionKey: "\uFF5E", RowKey: "", Properties: []table.Property{
						{Name: "s", Value: "é\x00\"'"}, {Name: "i", Value: int32(-1)}, {Name: "l", Value: int64(math.MinInt64)}, {Name: "b", Value: true}, {Name: "d", Value: math.Inf(-1)},
						{Name: "t", Value: time.Date(1601, 1, 1, 0, 0, 0, 100, time.UTC)}, {Name: "g", Value: bindings.GUID{1, 15: 2}}, {Name: "x", Value: []byte{0, 255}}, {Name: "none", Value: ""},
					}})
					insert(a, "MyOrders", table.Entity{PartitionKey: "\U0001D11E", RowKey: "1"})
					last := insert(a, "MyOrders", table.Entity{PartitionKey: "", RowKey: "p'1"})
					if err := a.SetTablePolicies(ctx, "MyOrders", []bindingsstorage.AccessPolicy{{ID: "a", Permission: "raud"}}); err != nil {
						t.Fatal(err)
					}
					before := seeTables(t, a)
					var archive bytes.Buffer
					if err := a.Save(&archive); err != nil {
						t.Fatal(err)
					}
					saved := archive.Bytes()

					_ = b.Table("gone").Create(ctx)
					insert(b, "gone", table.Entity{PartitionKey: "x", RowKey: "1"})
					if err := b.Load(bytes.NewReader(saved[:len(saved)/2])); err == nil {
						t.Error("half an archive was loaded")
					}
					if names := seeTables(t, b).Names; !cmp.Equal(names, []string{"gone"}) {
						t.Errorf("tables after a Load that failed = %q", names)
					}
					if err := b.Load(bytes.NewReader(saved)); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(before, seeTables(t, b)); diff != "" {
						t.Errorf("after Load (-before +after):\n%s", diff)
					}
					if stamp := insert(b, "MyOrders", table.Entity{PartitionKey: "z", RowKey: "1"}); !stamp.After(last) {
						t.Errorf("a write behind the load has the Timestamp %s, the last one before was %s", stamp, last)
					}
					if err := b.Reset(); err != nil {
						t.Fatal(err)
					}
					if seen := seeTables(t, b); len(seen.Names)+len(seen.Entities) > 0 {
						t.Errorf("after Reset there is %+v", seen)
					}
				})
			})
		}
	}
}

// After a reset the same writes have the same Timestamps again (spec tables 11).
func TestTimestampsRepeatAfterReset(t *testing.T) {
	t.Parallel()
	clk := newVirtual()
	s := storage.New(clk, nil)
	clk.Do("test", func() {
		var runs [2][]time.Time
		for run := range runs {
			_ = s.Table("orders").Create(context.Background())
			for _, key := range []string{"1", "2", "3"} {
				stamp, err := s.Table("orders").Write(context.Background(), table.Write{Entity: table.Entity{RowKey: key}})
				if err != nil {
					t.Fatal(err)
				}
				runs[run] = append(runs[run], stamp)
			}
			if err := s.Reset(); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
			t.Errorf("Timestamps (-first +second):\n%s", diff)
		}
	})
}
