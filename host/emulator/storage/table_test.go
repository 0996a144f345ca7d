package storage_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/bindingtest"
	bindingsstorage "github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/store"
)

func TestTableConformance(t *testing.T) {
	t.Parallel()
	t.Run("Memory", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunTable(t, func(*testing.T) *bindingtest.TableBackend {
			clk := newVirtual()
			return &bindingtest.TableBackend{Account: storage.New(clk, nil), Do: func(f func()) { clk.Do("test", f) }}
		})
	})
	// Each call goes to an account that was opened anew from the store.
	t.Run("Reopened", func(t *testing.T) {
		t.Parallel()
		bindingtest.RunTable(t, func(t *testing.T) *bindingtest.TableBackend {
			clk := newVirtual()
			db, err := store.OpenMemory(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			b := &bindingtest.TableBackend{}
			b.Do = func(f func()) {
				s, err := storage.Open(clk, db, nil)
				if err != nil {
					t.Fatal(err)
				}
				b.Account = s
				clk.Do("test", f)
			}
			return b
		})
	})
}

// What is on no table, container or queue says whose it is: a fault of the Table service met
// none of these, and one of the queues met them all.
func TestPointsOfServices(t *testing.T) {
	t.Parallel()
	clk := newVirtual()
	of := map[string]string{}
	s := storage.New(clk, &storage.Options{Fault: func(p storage.FaultPoint) error {
		of[p.Op] = p.Service
		return nil
	}})
	clk.Do("test", func() {
		ctx := context.Background()
		_, _ = s.Tables(ctx, nil)
		_, _ = s.TableServiceProperties(ctx)
		_ = s.SetTableServiceProperties(ctx, bindingsstorage.ServiceProperties{})
		_, _ = s.Containers(ctx, nil)
		_, _ = s.BlobServiceProperties(ctx)
		_ = s.SetBlobServiceProperties(ctx, &bindingsstorage.ServiceProperties{})
		_, _ = s.Queues(ctx)
	})
	want := map[string]string{
		"QueryTables": "table", "Properties": "table", "SetProperties": "table",
		"Containers": "blob", "BlobServiceProperties": "blob", "SetBlobServiceProperties": "blob", "Queues": "",
	}
	if diff := cmp.Diff(want, of); diff != "" {
		t.Errorf("services of points (-want +got):\n%s", diff)
	}
}
